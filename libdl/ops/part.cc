// SPDX-License-Identifier: Apache-2.0

// Views of a part of the elements, or of all in several parts.
#include "ops/view.h"

#include <algorithm>

#include "device/host_source.h"
#include "ops/copy.h"
#include "ops/view_rule.h"

namespace libdl {

static void require_dim(const char* op, const Tensor& input) {
  if (input.ndim() == 0)
    fail_argument(LIBDL_ERROR_INDEX, op, 1, "input", "is 0-d", "a tensor with dimensions");
}

Tensor select(const Tensor& input, int32_t dim, int64_t index) {
  require_dim("select", input);
  const int at = view_axis("select", 2, "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  if (index < -n || index >= n)
    fail_argument(LIBDL_ERROR_INDEX, "select", 3, "index", "is " + std::to_string(index),
                  n ? std::to_string(-n) + " to " + std::to_string(n - 1)
                    : "an index into a dimension that is not empty");
  if (index < 0) index += n;
  return select_view("select", input, at, index);
}

static Tensor part(const char* op, const Tensor& input, int at, int64_t start, int64_t length,
                   int64_t step, ViewOrigin origin = ViewOrigin::kRecorded) {
  check_viewed(op, input);
  Tensor y = unsealed_alias(input, input.ndim(), input.dtype());
  libdl_tensor& to = *y.get();
  std::copy_n(input.get()->dims, 2 * input.ndim(), to.dims);
  to.sizes()[at] = length;
  if (length) to.offset += start * input.stride(at);  // an empty part points nowhere
  if (length > 1) to.strides()[at] *= step;
  seal(to);
  ViewCall call{ViewCall::kSlice};
  call.dim = at;
  call.start = start;
  call.length = length;
  call.step = step;
  become_view(op, input, y, call, ViewKind::kPlain, origin);
  return y;
}

Tensor narrow(const Tensor& input, int32_t dim, int64_t start, int64_t length) {
  require_dim("narrow", input);
  const int at = view_axis("narrow", 2, "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  if (start < -n || start > n)
    fail_argument(LIBDL_ERROR_INDEX, "narrow", 3, "start", "is " + std::to_string(start),
                  std::to_string(-n) + " to " + std::to_string(n));
  if (start < 0) start += n;
  if (length < 0 || length > n - start)
    fail_argument(LIBDL_ERROR_INDEX, "narrow", 4, "length", "is " + std::to_string(length),
                  "0 to " + std::to_string(n - start));
  return part("narrow", input, at, start, length, 1);
}

Tensor slice(const Tensor& input, int32_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step) {
  require_dim("slice", input);
  const int at = view_axis("slice", 2, "dim", dim, input.ndim());
  if (step <= 0)
    fail_argument(LIBDL_ERROR_VALUE, "slice", 5, "step", "is " + std::to_string(step),
                  "1 or more (flip() turns a dimension around)");
  const int64_t n = input.size(at);
  const auto clip = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  const int64_t first = start ? clip(*start) : 0;
  const int64_t last = std::max(end ? clip(*end) : n, first);
  return part("slice", input, at, first, last == first ? 0 : (last - first - 1) / step + 1, step);
}

Tensor diagonal(const Tensor& input, int64_t offset, int32_t dim1, int32_t dim2) {
  const int a = view_axis("diagonal", 3, "dim1", dim1, input.ndim());
  const int b = view_axis("diagonal", 4, "dim2", dim2, input.ndim());
  if (a == b || input.ndim() < 2)
    fail_argument(LIBDL_ERROR_VALUE, "diagonal", 4, "dim2", "is the same dimension as dim1",
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

Tensor unfold(const Tensor& input, int32_t dimension, int64_t size, int64_t step) {
  const int at = view_axis("unfold", 2, "dimension", dimension, input.ndim());
  const int64_t n = input.ndim() ? input.size(at) : 1;
  if (size < 0 || size > n)
    fail_argument(LIBDL_ERROR_VALUE, "unfold", 3, "size", "is " + std::to_string(size),
                  "0 to " + std::to_string(n));
  if (step <= 0)
    fail_argument(LIBDL_ERROR_VALUE, "unfold", 4, "step", "is " + std::to_string(step),
                  "1 or more");
  if (input.is_number()) return unfold(clone(input), dimension, size, step);
  const Geometry to = unfolded(geometry_of(input), at, size, step);
  checked_numel(to.shape, input.dtype(), "unfold");
  ViewCall call{ViewCall::kUnfold};
  call.dim = at;
  call.length = size;
  call.step = step;
  return make_view("unfold", input, to, call);
}

Tensor as_strided(const Tensor& input, Dims shape, Dims stride,
                  std::optional<int64_t> storage_offset) {
  if (shape.size() != stride.size())
    fail_argument(LIBDL_ERROR_SHAPE, "as_strided", 3, "stride",
                  "has " + std::to_string(stride.size()) + " entries",
                  std::to_string(shape.size()) + ", one a dimension");
  if (input.is_number())
    fail_argument(LIBDL_ERROR_VALUE, "as_strided", 1, "input", "is a host number", "a tensor");
  for (const int64_t s : stride)
    if (s < 0)
      fail_argument(LIBDL_ERROR_VALUE, "as_strided", 3, "stride", "is " + to_string(stride),
                    "strides of 0 or more");
  const int64_t offset = storage_offset.value_or(input.offset());
  const int64_t elements = checked_numel(shape, input.dtype(), "as_strided", 2, "shape");
  const int64_t capacity = static_cast<int64_t>(input.storage().bytes) / size_of(input.dtype());
  if (storage_offset && (offset < 0 || (elements > 0 && offset >= capacity)))
    fail_argument(LIBDL_ERROR_VALUE, "as_strided", 4, "storage_offset",
                  "is " + std::to_string(offset),
                  "a place in the storage of " + std::to_string(capacity) + " elements");
  // Made once to be checked against the storage.
  over_storage(Ref<Storage>::share(&input.storage()), shape, stride, offset, input.dtype(),
               "as_strided", 3, "stride");
  return make_view("as_strided", input, {Shape(shape), Shape(stride), offset},
                   ViewCall{ViewCall::kStrided});
}

// -- several parts --------------------------------------------------------------------------------

// A dimension that is empty or expanded has more parts than any memory: each is a handle, and one
// of a list of outputs where it is recorded. Refused before the first one is made.
static void require_room(const char* op, int argument, const char* name, int64_t parts) {
  constexpr size_t kPart = 512;  // bytes, at least
  const size_t most = host_budget().limit() / kPart;
  if (static_cast<size_t>(parts) > most)
    fail_argument(LIBDL_ERROR_LIMIT, op, argument, name,
                  "asks for " + std::to_string(parts) + " tensors",
                  "at most " + std::to_string(most) + ", which memory holds");
}

std::vector<Tensor> split_with_sizes(const Tensor& input, Dims split_sizes, int32_t dim) {
  require_dim("split_with_sizes", input);
  const int at = view_axis("split_with_sizes", 3, "dim", dim, input.ndim());
  int64_t rest = input.size(at);
  bool fits = true;
  for (const int64_t n : split_sizes) {
    fits &= n >= 0 && n <= rest;
    if (fits) rest -= n;
  }
  if (!fits || rest != 0)
    fail_argument(LIBDL_ERROR_SHAPE, "split_with_sizes", 2, "split_sizes",
                  "is " + to_string(split_sizes),
                  "sizes of 0 or more that add up to " + std::to_string(input.size(at)));
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t n : split_sizes) {
    parts.push_back(part("split", input, at, start, n, 1, ViewOrigin::kMultiOutput));
    start += n;
  }
  return parts;
}

std::vector<Tensor> split(const Tensor& input, int64_t split_size, int32_t dim) {
  require_dim("split", input);
  const int at = view_axis("split", 3, "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  if (split_size < 0 || (split_size == 0 && n > 0))
    fail_argument(LIBDL_ERROR_VALUE, "split", 2, "split_size", "is " + std::to_string(split_size),
                  "1 or more");
  if (n > 0) require_room("split", 2, "split_size", (n - 1) / split_size + 1);
  std::vector<Tensor> parts;
  int64_t start = 0;
  do {
    const int64_t length = std::min(split_size, n - start);
    parts.push_back(part("split", input, at, start, length, 1, ViewOrigin::kMultiOutput));
    start += length;
  } while (start < n);
  return parts;
}

std::vector<Tensor> chunk(const Tensor& input, int64_t chunks, int32_t dim) {
  require_dim("chunk", input);
  if (chunks <= 0)
    fail_argument(LIBDL_ERROR_VALUE, "chunk", 2, "chunks", "is " + std::to_string(chunks),
                  "1 or more");
  const int at = view_axis("chunk", 3, "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  require_room("chunk", 2, "chunks", n == 0 ? chunks : std::min(n, chunks));
  if (n == 0) return split_with_sizes(input, Shape(static_cast<size_t>(chunks), 0), dim);
  return split(input, (n - 1) / chunks + 1, dim);
}

std::vector<Tensor> unbind(const Tensor& input, int32_t dim) {
  require_dim("unbind", input);
  const int at = view_axis("unbind", 2, "dim", dim, input.ndim());
  require_room("unbind", 2, "dim", input.size(at));
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < input.size(at); ++i)
    parts.push_back(select_view("unbind", input, at, i, ViewOrigin::kMultiOutput));
  return parts;
}

}  // namespace libdl
