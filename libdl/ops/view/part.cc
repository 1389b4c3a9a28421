// SPDX-License-Identifier: Apache-2.0

// Views of a part of the elements.
#include <algorithm>

#include "entries/copy.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/view/view.h"
#include "ops/view/view_rule.h"

namespace libdl {

Tensor select_impl(const Tensor& input, int32_t dim, int64_t index) {
  require_dim("select", input);
  const int at = checked_axis("select", "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  if (index < -n || index >= n)
    fail_argument(LIBDL_ERROR_INDEX, "select", "index", "is " + std::to_string(index),
                  n ? std::to_string(-n) + " to " + std::to_string(n - 1)
                    : "an index into a dimension that is not empty");
  if (index < 0) index += n;
  ViewCall call{ViewCall::kSelect};
  Tensor y = selected("select", input, at, index, call);
  become_view("select", input, y, call);
  return y;
}

Tensor part(const char* op, const Tensor& input, int at, int64_t start, int64_t length,
            int64_t step, ViewCall& call) {
  check_viewed(op, input);
  Tensor y = unsealed_alias(input, input.ndim(), input.dtype());
  libdl_tensor& to = *y.get();
  std::copy_n(input.get()->dims, 2 * input.ndim(), to.dims);
  to.sizes()[at] = length;
  if (length) to.offset += start * input.stride(at);  // an empty part points nowhere
  if (length > 1) to.strides()[at] *= step;
  seal(to);
  call.dim = at;
  call.start = start;
  call.length = length;
  call.step = step;
  return y;
}

static Tensor sliced(const char* op, const Tensor& input, int at, int64_t start, int64_t length,
                     int64_t step) {
  ViewCall call{ViewCall::kSlice};
  Tensor y = part(op, input, at, start, length, step, call);
  become_view(op, input, y, call);
  return y;
}

Tensor narrow_impl(const Tensor& input, int32_t dim, int64_t start, int64_t length) {
  require_dim("narrow", input);
  const int at = checked_axis("narrow", "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  if (start < -n || start > n)
    fail_argument(LIBDL_ERROR_INDEX, "narrow", "start", "is " + std::to_string(start),
                  std::to_string(-n) + " to " + std::to_string(n));
  if (start < 0) start += n;
  if (length < 0 || length > n - start)
    fail_argument(LIBDL_ERROR_INDEX, "narrow", "length", "is " + std::to_string(length),
                  "0 to " + std::to_string(n - start));
  return sliced("narrow", input, at, start, length, 1);
}

Tensor slice_impl(const Tensor& input, int32_t dim, std::optional<int64_t> start,
                  std::optional<int64_t> end, int64_t step) {
  require_dim("slice", input);
  const int at = checked_axis("slice", "dim", dim, input.ndim());
  if (step <= 0)
    fail_argument(LIBDL_ERROR_VALUE, "slice", "step", "is " + std::to_string(step),
                  "1 or more (flip() turns a dimension around)");
  const int64_t n = input.size(at);
  const auto clip = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  const int64_t first = start ? clip(*start) : 0;
  const int64_t last = std::max(end ? clip(*end) : n, first);
  return sliced("slice", input, at, first, last == first ? 0 : (last - first - 1) / step + 1, step);
}

Tensor diagonal_impl(const Tensor& input, int64_t offset, int32_t dim1, int32_t dim2) {
  const int a = checked_axis("diagonal", "dim1", dim1, input.ndim());
  const int b = checked_axis("diagonal", "dim2", dim2, input.ndim());
  if (a == b || input.ndim() < 2)
    fail_argument(LIBDL_ERROR_VALUE, "diagonal", "dim2", "is the same dimension as dim1",
                  "two different dimensions");
  const int64_t rows = input.size(a), cols = input.size(b);
  // -rows < offset < cols, or the diagonal is empty; tested without overflow.
  const bool lies = offset >= 0 ? offset < cols : offset > -rows;
  const int64_t length = !lies         ? 0
                         : offset >= 0 ? std::min(rows, cols - offset)
                                       : std::min(rows + offset, cols);
  Geometry to;
  to.offset = input.offset();
  if (length > 0) to.offset += offset >= 0 ? offset * input.stride(b) : -offset * input.stride(a);
  for (int d = 0; d < input.ndim(); ++d) {
    if (d == a || d == b) continue;
    to.shape.push_back(input.size(d));
    to.strides.push_back(input.stride(d));
  }
  to.shape.push_back(length);
  to.strides.push_back(input.stride(a) + input.stride(b));
  ViewCall call{ViewCall::kDiagonal};
  call.dim = a;
  call.dim2 = b;
  call.start = offset;
  return make_view("diagonal", input, to, call);
}

Geometry unfolded(const Geometry& from, int at, int64_t size, int64_t step) {
  Geometry to = from;
  int64_t stride = 1;
  if (!from.shape.empty()) {
    stride = from.strides[at];
    to.shape[at] = (from.shape[at] - size) / step + 1;
    if (to.shape[at] > 1) to.strides[at] = stride * step;
  }
  to.shape.push_back(size);
  to.strides.push_back(stride);
  return to;
}

Tensor unfold_impl(const Tensor& input, int32_t dimension, int64_t size, int64_t step) {
  const int at = checked_axis("unfold", "dimension", dimension, input.ndim());
  const int64_t n = input.ndim() ? input.size(at) : 1;
  if (size < 0 || size > n)
    fail_argument(LIBDL_ERROR_VALUE, "unfold", "size", "is " + std::to_string(size),
                  "0 to " + std::to_string(n));
  if (step <= 0)
    fail_argument(LIBDL_ERROR_VALUE, "unfold", "step", "is " + std::to_string(step), "1 or more");
  if (input.is_number()) return unfold(clone(input), dimension, size, step);
  const Geometry to = unfolded(geometry_of(input), at, size, step);
  checked_numel(to.shape, input.dtype(), "unfold");
  ViewCall call{ViewCall::kUnfold};
  call.dim = at;
  call.length = size;
  call.step = step;
  return make_view("unfold", input, to, call);
}

Tensor as_strided_impl(const Tensor& input, Dims shape, Dims stride,
                       std::optional<int64_t> storage_offset) {
  if (shape.size() != stride.size())
    fail_argument(LIBDL_ERROR_SHAPE, "as_strided", "stride",
                  "has " + std::to_string(stride.size()) + " entries",
                  std::to_string(shape.size()) + ", one a dimension");
  if (input.is_number())
    fail_argument(LIBDL_ERROR_VALUE, "as_strided", "input", "is a host number", "a tensor");
  for (const int64_t s : stride)
    if (s < 0)
      fail_argument(LIBDL_ERROR_VALUE, "as_strided", "stride", "is " + to_string(stride),
                    "strides of 0 or more");
  const int64_t offset = storage_offset.value_or(input.offset());
  const int64_t elements = checked_numel(shape, input.dtype(), "as_strided", "shape");
  const int64_t capacity = static_cast<int64_t>(input.storage().bytes) / size_of(input.dtype());
  if (storage_offset && (offset < 0 || (elements > 0 && offset >= capacity)))
    fail_argument(LIBDL_ERROR_VALUE, "as_strided", "storage_offset", "is " + std::to_string(offset),
                  "a place in the storage of " + std::to_string(capacity) + " elements");
  // Made once to be checked against the storage.
  over_storage(Ref<Storage>::share(&input.storage()), shape, stride, offset, input.dtype(),
               "as_strided", "stride");
  return make_view("as_strided", input, {Shape(shape), Shape(stride), offset},
                   ViewCall{ViewCall::kStrided});
}

}  // namespace libdl
