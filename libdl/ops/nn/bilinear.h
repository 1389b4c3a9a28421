// SPDX-License-Identifier: Apache-2.0

// A composition of products. Meaning and errors: include/libdl/nn.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor* bias);

}  // namespace libdl
