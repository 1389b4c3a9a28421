// SPDX-License-Identifier: Apache-2.0

// Dropout. Meaning and errors: include/libdl/nn.h and dropout.h.
#pragma once

#include "ops/core/call.h"
#include "tensor/generator.h"

namespace libdl {

Tensor dropout(const Tensor& input, double p, bool training, Generator* generator, Into into = {});
Tensor feature_dropout(const Tensor& input, double p, bool training, Generator* generator,
                       Into into = {});
Tensor alpha_dropout(const Tensor& input, double p, bool training, Generator* generator,
                     Into into = {});
Tensor feature_alpha_dropout(const Tensor& input, double p, bool training, Generator* generator,
                             Into into = {});

}  // namespace libdl
