// SPDX-License-Identifier: Apache-2.0

// The only caller of the matmul kernel.
#pragma once

#include <memory>

#include "kernels/view.h"
#include "tensor/packed.h"
#include "tensor/tensor.h"

namespace libdl {

// A matrix, or a batch of them, as an operand; `transposed` swaps its last two dimensions.
struct Factor {
  const Tensor* x;
  bool transposed = false;
  int64_t rows() const { return x->size(x->ndim() - (transposed ? 1 : 2)); }
  int64_t cols() const { return x->size(x->ndim() - (transposed ? 2 : 1)); }
};

// alpha a @ b (+ bias on each row, + beta times base, of the result's shape), row-major, of shape
// [rows, cols] or [batch, rows, cols]; dtypes and sizes agree. Not recorded.
Tensor product(Factor a, Factor b, const Tensor* bias = nullptr, const Tensor* base = nullptr,
               double alpha = 1, double beta = 1);

// Whether b may have 16 bits where a is float32, in a product of [rows, inner] with [inner,
// columns]: it is widened as it is read.
bool product_widens(Device device, int64_t rows, int64_t columns, int64_t inner);

// Products with one matrix on the right, whose elements outlive this. It is packed at once if there
// are several. Panels of 16 bits, which are as large as float32's, are not kept with the matrix.
class RepeatedProduct {
 public:
  // rows: of the largest left factor; times: how many products
  RepeatedProduct(Factor b, int64_t rows, int64_t times);
  RepeatedProduct(const RepeatedProduct&) = delete;
  RepeatedProduct& operator=(const RepeatedProduct&) = delete;

  // out = a @ b (+ out) (+ bias on each row); a and out are [rows, cols] views of b's dtype; if
  // that has 16 bits, of float32, which product_widens allows.
  void operator()(const kernels::View& out, const kernels::View& a, bool add,
                  const Tensor* bias = nullptr) const;

 private:
  Device device_;
  int64_t sizes_[3], strides_[3];
  kernels::View b_;
  PackedReader panels_;
  std::shared_ptr<void> own_panels_;
  const void* own_format_ = nullptr;
};

}  // namespace libdl
