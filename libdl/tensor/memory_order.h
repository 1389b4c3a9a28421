// SPDX-License-Identifier: Apache-2.0

// In which order the dimensions of a result lie in memory. Elementwise results and copies keep that
// of their operands, by PyTorch's rule: dimensions are sorted by the operands' strides, the first
// operand that tells two of them apart decides, and where none does row-major order stays. They
// have no gaps, whatever gaps the operands have.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// Every byte of a run belongs to one element: row-major up to the order of dimensions.
bool is_dense(Dims shape, Dims strides);
inline bool is_dense(const Tensor& x) {
  return x.is_contiguous() || is_dense(x.shape(), x.strides());
}

// The strides of a tensor without gaps that lies in x's order.
Shape strides_as(const Tensor& x);

// Uninitialised, of x's shape and in its order.
Tensor empty_as(const Tensor& x, Dtype dtype, Device device);

// y is new and row-major and gets these strides, a permutation of its own.
void restride(const Tensor& y, Dims strides);

// y is new, row-major and of the shape that the operands broadcast to: it gets their order.
// Operands of another dtype than `common` count as they lie once they have been cast to it, but for
// a condition, which is the first of them.
void lie_as(const Tensor& y, std::span<const Tensor* const> operands, Dtype common,
            bool has_condition = false);

}  // namespace libdl
