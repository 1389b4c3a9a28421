// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/nn.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor layer_norm(const Tensor& input, Dims normalized_shape, const Tensor* weight,
                  const Tensor* bias, double eps);

}  // namespace libdl
