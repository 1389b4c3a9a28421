// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tensor/tensor.h"

namespace libdl {

// The only element of a tensor of integers or bool, as 64 bits in two's complement.
int64_t integer_bits(const Tensor& input);

}  // namespace libdl
