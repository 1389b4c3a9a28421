// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/nn.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor softmax(const Tensor& input, int32_t dim, Dtype dtype = Dtype::kNone, Into into = {});
Tensor log_softmax(const Tensor& input, int32_t dim, Dtype dtype = Dtype::kNone, Into into = {});

}  // namespace libdl
