// SPDX-License-Identifier: Apache-2.0

// Sums down to the shape of an operand that was broadcast, as its gradient. They are recorded, and
// defined with the other sums, in ops/reduction/reduction.cc.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// Sums x down to `shape`, which broadcasts to x's.
Tensor sum_to(const Tensor& x, Dims shape);
// The same with a batch in front of x, of that many dimensions, which stays.
Tensor sum_to(const Tensor& x, Dims shape, int lead);

}  // namespace libdl
