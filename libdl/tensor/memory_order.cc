// SPDX-License-Identifier: Apache-2.0

#include "tensor/memory_order.h"

#include <algorithm>

namespace libdl {

// One operand after the other: its steps along the result's dimensions, 0 where it is broadcast.
using Steps = Shape;

// Positive: dimension a lies outside of b; negative: inside; 0: nobody tells.
static int compare(const Steps& steps, Dims shape, size_t a, size_t b) {
  for (size_t first = 0; first < steps.size(); first += shape.size()) {
    const int64_t along_a = steps[first + a], along_b = steps[first + b];
    if (along_a == 0 || along_b == 0) continue;
    if (along_a != along_b) return along_a < along_b ? -1 : 1;
    if (shape[a] > shape[b]) return 1;
  }
  return 0;
}

// The dimensions, innermost first. The sort is PyTorch's, for "nobody tells" is no order: what
// becomes of such dimensions depends on the steps that a sort takes.
static Shape innermost_first(const Steps& steps, Dims shape) {
  const size_t n = shape.size();
  Shape order(n);
  for (size_t d = 0; d < n; ++d) order[d] = static_cast<int64_t>(n - 1 - d);
  for (size_t i = 1; i < n; ++i) {
    size_t at = i;
    for (size_t k = i; k-- > 0;) {
      const int comparison =
          compare(steps, shape, static_cast<size_t>(order[k]), static_cast<size_t>(order[at]));
      if (comparison < 0) break;
      if (comparison == 0) continue;
      std::swap(order[k], order[at]);
      at = k;
    }
  }
  return order;
}

static Shape strides_in(const Shape& order, Dims shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (const int64_t d : order) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= std::max<int64_t>(shape[static_cast<size_t>(d)], 1);
  }
  return strides;
}

bool is_dense(Dims shape, Dims strides) {
  Shape order;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return true;
    if (shape[d] > 1) order.push_back(static_cast<int64_t>(d));
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return strides[static_cast<size_t>(a)] < strides[static_cast<size_t>(b)];
  });
  int64_t requested = 1;
  for (const int64_t d : order) {
    if (strides[static_cast<size_t>(d)] != requested) return false;
    requested *= shape[static_cast<size_t>(d)];
  }
  return true;
}

Shape strides_as(const Tensor& x) {
  if (is_dense(x)) return Shape(x.strides());
  return strides_in(innermost_first(Steps(x.strides()), x.shape()), x.shape());
}

void restride(const Tensor& y, Dims strides) {
  libdl_tensor& t = *y.get();
  std::copy(strides.begin(), strides.end(), t.strides());
  t.flags &= static_cast<uint8_t>(~kContiguous);
  seal(t);
}

Tensor empty_as(const Tensor& x, Dtype dtype, Device device) {
  Tensor y = empty(x.shape(), dtype, device);
  if (!x.is_contiguous()) restride(y, strides_as(x));
  return y;
}

// All operands are of one geometry, which has no gaps.
static bool agree(const Tensor& y, std::span<const Tensor* const> operands) {
  const Tensor& first = *operands[0];
  for (const Tensor* x : operands)
    if (!same(x->shape(), y.shape()) || !same(x->strides(), first.strides())) return false;
  return is_dense(first);
}

void choose_memory_order(const Tensor& y, std::span<const Tensor* const> operands, Dtype common,
                         bool has_condition) {
  if (y.ndim() < 2 || y.numel() == 0) return;
  if (agree(y, operands)) return restride(y, operands[0]->strides());
  Steps steps;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Tensor& x = *operands[k];
    if (x.ndim() == 0) continue;
    const bool as_it_is = x.dtype() == common || (has_condition && k == 0);
    const Shape own = as_it_is ? Shape(x.strides()) : strides_as(x);
    const int lead = y.ndim() - x.ndim();
    for (int d = 0; d < y.ndim(); ++d) {
      const bool broadcast = d < lead || x.size(d - lead) != y.size(d);
      steps.push_back(broadcast ? 0 : own[static_cast<size_t>(d - lead)]);
    }
  }
  restride(y, strides_in(innermost_first(steps, y.shape()), y.shape()));
}

}  // namespace libdl
