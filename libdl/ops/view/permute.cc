// SPDX-License-Identifier: Apache-2.0

// Views with the dimensions in another order.
#include <algorithm>

#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/view/view_rule.h"

namespace libdl {

static Tensor permuted(const char* op, const Tensor& input, Dims order) {
  check_viewed(op, input);
  Tensor y = unsealed_alias(input, input.ndim(), input.dtype());
  for (size_t d = 0; d < order.size(); ++d) {
    y.get()->sizes()[d] = input.size(static_cast<int>(order[d]));
    y.get()->strides()[d] = input.stride(static_cast<int>(order[d]));
  }
  seal(*y.get());
  become_view(op, input, y, ViewCall{ViewCall::kPermute, Shape(order)});
  return y;
}

Tensor permute_impl(const Tensor& input, Dims dims) {
  if (static_cast<int>(dims.size()) != input.ndim())
    fail_argument(LIBDL_ERROR_SHAPE, "permute", "dims",
                  "names " + std::to_string(dims.size()) + " dimensions",
                  std::to_string(input.ndim()));
  Shape order;
  SmallVector<bool, 8> seen(dims.size());
  for (const int64_t dim : dims) {
    const int d = checked_axis("permute", "dims", dim, input.ndim());
    if (seen[d])
      fail_argument(LIBDL_ERROR_VALUE, "permute", "dims",
                    "is " + to_string(dims) + " and repeats a dimension", "each one once");
    seen[d] = true;
    order.push_back(d);
  }
  return permuted("permute", input, order);
}

static Tensor swapped(const char* op, const Tensor& input, int a, int b) {
  Shape order;
  for (int d = 0; d < input.ndim(); ++d) order.push_back(d);
  if (input.ndim()) std::swap(order[a], order[b]);
  return permuted(op, input, order);
}

Tensor transpose_impl(const Tensor& input, int32_t dim0, int32_t dim1) {
  const int a = checked_axis("transpose", "dim0", dim0, input.ndim());
  const int b = checked_axis("transpose", "dim1", dim1, input.ndim());
  return swapped("transpose", input, a, b);
}

Tensor t_impl(const Tensor& input) {
  if (input.ndim() > 2)
    fail_argument(LIBDL_ERROR_SHAPE, "t", "input",
                  "has " + std::to_string(input.ndim()) + " dimensions", "at most 2");
  return input.ndim() < 2 ? swapped("t", input, 0, 0) : swapped("t", input, 0, 1);
}

Tensor movedim_impl(const Tensor& input, Dims source, Dims destination) {
  const size_t n = static_cast<size_t>(input.ndim());
  if (source.size() != destination.size())
    fail_argument(LIBDL_ERROR_VALUE, "movedim", "destination",
                  "names " + std::to_string(destination.size()) + " dimensions",
                  std::to_string(source.size()) + ", as source does");
  Shape order(n, -1);
  SmallVector<bool, 8> used(n);
  for (size_t i = 0; i < source.size(); ++i) {
    const int from = checked_axis("movedim", "source", source[i], input.ndim());
    const int to = checked_axis("movedim", "destination", destination[i], input.ndim());
    if (n == 0) continue;
    if (used[from] || order[to] != -1)
      fail_argument(LIBDL_ERROR_VALUE, "movedim", used[from] ? "source" : "destination",
                    "repeats a dimension", "each one once");
    used[from] = true;
    order[to] = from;
  }
  size_t next = 0;
  for (size_t d = 0; d < n; ++d) {
    if (order[d] != -1) continue;
    while (used[next]) ++next;
    order[d] = static_cast<int64_t>(next++);
  }
  return permuted("movedim", input, order);
}

}  // namespace libdl
