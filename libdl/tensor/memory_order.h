// SPDX-License-Identifier: Apache-2.0

// The order of a result's dimensions in memory. Elementwise results and copies keep the order of
// their operands, by PyTorch's rule: dimensions are sorted by the operands' strides; the first
// operand whose strides distinguish two dimensions decides, and if none does they stay row-major.
// Results have no gaps, even if the operands do.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// Whether every byte of a contiguous run belongs to one element: row-major up to the order of the
// dimensions.
bool is_dense(Dims shape, Dims strides);
inline bool is_dense(const Tensor& x) {
  return x.is_contiguous() || is_dense(x.shape(), x.strides());
}

// The strides of a tensor without gaps in x's order.
Shape strides_as(const Tensor& x);

// Uninitialised, of x's shape and in its order.
Tensor empty_as(const Tensor& x, Dtype dtype, Device device);

// Gives y, which is new and row-major, these strides, a permutation of its own.
void restride(const Tensor& y, Dims strides);

// Gives y, which is new, row-major and of the shape that the operands broadcast to, the operands'
// order. An operand of another dtype than `common` counts with the strides it has after the cast,
// except a condition, which is the first operand.
void choose_memory_order(const Tensor& y, std::span<const Tensor* const> operands, Dtype common,
                         bool has_condition = false);

}  // namespace libdl
