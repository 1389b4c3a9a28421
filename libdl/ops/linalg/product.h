// SPDX-License-Identifier: Apache-2.0

// The only caller of the matmul kernel.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// A matrix, or a batch of them, as an operand; `transposed` swaps its last two dimensions.
struct Factor {
  const Tensor* x;
  bool transposed = false;
  int64_t rows() const { return x->size(x->ndim() - (transposed ? 1 : 2)); }
  int64_t cols() const { return x->size(x->ndim() - (transposed ? 2 : 1)); }
};

// a @ b (+ bias on each row, + base of the result's shape), row-major, of shape [rows, cols] or
// [batch, rows, cols]; dtypes and sizes agree. Not recorded.
Tensor product(Factor a, Factor b, const Tensor* bias = nullptr, const Tensor* base = nullptr);

}  // namespace libdl
