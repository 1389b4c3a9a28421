// SPDX-License-Identifier: Apache-2.0

#include "ops/view.h"

#include <algorithm>

#include "ops/copy.h"
#include "ops/pointwise.h"
#include "ops/view_rule.h"

namespace libdl {

// -- dimensions in another order ----------------------------------------------------------------

static int wrap(const char* op, int argument, const char* name, int64_t dim, int64_t ndim) {
  const int64_t n = std::max<int64_t>(ndim, 1);
  if (dim < -n || dim >= n)
    fail_argument(LIBDL_ERROR_INDEX, op, argument, name, "is " + std::to_string(dim),
                  std::to_string(-n) + " to " + std::to_string(n - 1));
  return static_cast<int>(dim < 0 ? dim + n : dim);
}

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

Tensor permute(const Tensor& input, Dims dims) {
  if (static_cast<int>(dims.size()) != input.ndim())
    fail_argument(LIBDL_ERROR_SHAPE, "permute", 2, "dims",
                  "names " + std::to_string(dims.size()) + " dimensions",
                  std::to_string(input.ndim()));
  Shape order;
  SmallVector<bool, 8> seen(dims.size());
  for (const int64_t dim : dims) {
    const int d = wrap("permute", 2, "dims", dim, input.ndim());
    if (seen[d])
      fail_argument(LIBDL_ERROR_VALUE, "permute", 2, "dims",
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

Tensor transpose(const Tensor& input, int32_t dim0, int32_t dim1) {
  const int a = wrap("transpose", 2, "dim0", dim0, input.ndim());
  const int b = wrap("transpose", 3, "dim1", dim1, input.ndim());
  return swapped("transpose", input, a, b);
}

Tensor t(const Tensor& input) {
  if (input.ndim() > 2)
    fail_argument(LIBDL_ERROR_SHAPE, "t", 1, "input",
                  "has " + std::to_string(input.ndim()) + " dimensions", "at most 2");
  return input.ndim() < 2 ? swapped("t", input, 0, 0) : swapped("t", input, 0, 1);
}

Tensor movedim(const Tensor& input, Dims source, Dims destination) {
  const size_t n = static_cast<size_t>(input.ndim());
  if (source.size() != destination.size())
    fail_argument(LIBDL_ERROR_VALUE, "movedim", 3, "destination",
                  "names " + std::to_string(destination.size()) + " dimensions",
                  std::to_string(source.size()) + ", as source does");
  Shape order(n, -1);
  SmallVector<bool, 8> used(n);
  for (size_t i = 0; i < source.size(); ++i) {
    const int from = wrap("movedim", 2, "source", source[i], input.ndim());
    const int to = wrap("movedim", 3, "destination", destination[i], input.ndim());
    if (n == 0) continue;
    if (used[from] || order[to] != -1)
      fail_argument(LIBDL_ERROR_VALUE, "movedim", used[from] ? 2 : 3,
                    used[from] ? "source" : "destination", "repeats a dimension", "each one once");
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

// -- the same elements in another shape -----------------------------------------------------------

// The strides through which `shape` shows x's elements in row-major order; false if there are none.
static bool strides_for(const Tensor& x, Dims shape, Shape& strides) {
  if (x.is_contiguous()) {
    strides = contiguous_strides(shape);
    return true;
  }
  strides.resize(shape.size());
  int to = static_cast<int>(shape.size()) - 1;
  int64_t chunk = 1, seen = 1;  // elements of the current evenly spaced run, old and new
  int64_t step = x.ndim() ? x.stride(x.ndim() - 1) : 1;  // between neighbours of the run
  for (int d = x.ndim() - 1; d >= 0; --d) {
    chunk *= x.size(d);
    // A dimension of size 1 joins any run, and its stride says nothing about the next one.
    if (d > 0 && (x.size(d - 1) == 1 || x.stride(d - 1) == chunk * step)) continue;
    for (; to >= 0 && (seen < chunk || shape[to] == 1); --to) {
      strides[to] = seen * step;
      seen *= shape[to];
    }
    if (seen != chunk) return false;
    chunk = seen = 1;
    if (d > 0) step = x.stride(d - 1);
  }
  return to < 0;
}

// One size may be -1: whatever the others leave.
static Shape infer(const char* op, Dims shape, int64_t numel, int argument = 2,
                   const char* name = "shape") {
  Shape result(shape);
  int unknown = -1;
  int64_t known = 1;
  bool overflow = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1) {
      if (unknown >= 0)
        fail_argument(LIBDL_ERROR_VALUE, op, argument, name, "is " + to_string(shape),
                      "-1 at most once");
      unknown = static_cast<int>(d);
    } else if (shape[d] < 0) {
      fail_argument(LIBDL_ERROR_VALUE, op, argument, name, "is " + to_string(shape),
                    "sizes of 0 or more, or one -1");
    } else {
      overflow |= __builtin_mul_overflow(known, shape[d], &known);
    }
  }
  const bool ambiguous = unknown >= 0 && known == 0;
  if (ambiguous)
    fail_argument(LIBDL_ERROR_SHAPE, op, argument, name,
                  "is " + to_string(shape) + ", where -1 beside a 0 can be any size", "");
  if (unknown >= 0 && !overflow && numel % known == 0) {
    result[unknown] = numel / known;
    known = numel;
  }
  if (overflow || known != numel)
    fail_argument(LIBDL_ERROR_SHAPE, op, argument, name, "is " + to_string(shape),
                  "a shape of " + std::to_string(numel) + " elements");
  checked_numel(result, Dtype::kBool, op, argument, name);
  return result;
}

// Undefined if the strides do not allow it. to: the wanted shape.
static Tensor try_view(const char* op, const Tensor& input, Geometry& to) {
  if (!strides_for(input, to.shape, to.strides)) return {};
  to.offset = input.offset();
  return make_view(op, input, to, ViewCall{ViewCall::kReshape});
}

// The sizes of a contiguous tensor in another shape, the commonest view; undefined for all that is
// less simple (a size of -1 among it) or wrong.
static Tensor simple_view(const char* op, const Tensor& input, Dims shape) {
  if (!input.is_contiguous() || input.is_number() || shape.size() > kInlineDims) return {};
  int64_t numel = 1;
  bool good = true;
  for (const int64_t n : shape) good &= n > 0 && !__builtin_mul_overflow(numel, n, &numel);
  if (!good || numel != input.numel()) return {};
  Tensor y = unsealed_alias(input, static_cast<int>(shape.size()), input.dtype());
  libdl_tensor& to = *y.get();
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    to.sizes()[d] = shape[d];
    to.strides()[d] = stride;
    stride *= shape[d];
  }
  to.numel = numel;
  to.flags |= kContiguous;
  become_view(op, input, y, ViewCall{ViewCall::kReshape});
  return y;
}

Tensor view(const Tensor& input, Dims shape) {
  if (Tensor y = simple_view("view", input, shape); y.defined()) return y;
  Geometry to{infer("view", shape, input.numel()), {}, 0};
  if (Tensor y = try_view("view", input, to); y.defined()) return y;
  fail_argument(LIBDL_ERROR_SHAPE, "view", 2, "shape",
                "is " + to_string(shape) + ", which the strides " + to_string(input.strides()) +
                    " of shape " + to_string(input.shape()) + " cannot show without a copy",
                "reshape()");
}

Tensor reshape(const Tensor& input, Dims shape) {
  if (Tensor y = simple_view("reshape", input, shape); y.defined()) return y;
  Geometry to{infer("reshape", shape, input.numel()), {}, 0};
  if (input.is_number()) return reshape(clone(input), shape);
  if (Tensor y = try_view("reshape", input, to); y.defined()) return y;
  return try_view("reshape", contiguous(input), to);
}

Tensor flatten(const Tensor& input, int32_t start_dim, int32_t end_dim) {
  const int first = wrap("flatten", 2, "start_dim", start_dim, input.ndim());
  const int last = wrap("flatten", 3, "end_dim", end_dim, input.ndim());
  if (first > last)
    fail_argument(LIBDL_ERROR_VALUE, "flatten", 2, "start_dim",
                  "is " + std::to_string(start_dim) + ", behind end_dim", "a dimension before it");
  if (input.ndim() == 0) return reshape(input, Shape{1});
  if (first == last) return input;
  Shape shape;
  for (int d = 0; d < input.ndim(); ++d) {
    if (d > first && d <= last)
      shape.back() *= input.size(d);
    else
      shape.push_back(input.size(d));
  }
  return reshape(input, shape);
}

Tensor unflatten(const Tensor& input, int32_t dim, Dims sizes) {
  const int at = wrap("unflatten", 2, "dim", dim, input.ndim());
  if (sizes.empty() || input.ndim() == 0)
    fail_argument(LIBDL_ERROR_SHAPE, "unflatten", 3, "sizes", "is " + to_string(sizes),
                  "sizes whose product is the dimension's");
  const Shape inner = infer("unflatten", sizes, input.size(at), 3, "sizes");
  Shape shape;
  for (int d = 0; d < input.ndim(); ++d) {
    if (d != at) {
      shape.push_back(input.size(d));
      continue;
    }
    for (const int64_t n : inner) shape.push_back(n);
  }
  return reshape(input, shape);
}

Tensor squeeze(const Tensor& input, std::optional<Dims> dims) {
  SmallVector<bool, 8> drop(static_cast<size_t>(std::max(input.ndim(), 1)), !dims);
  if (dims)
    for (const int64_t dim : *dims) drop[wrap("squeeze", 2, "dims", dim, input.ndim())] = true;
  Geometry to;
  to.offset = input.offset();
  for (int d = 0; d < input.ndim(); ++d) {
    if (drop[d] && input.size(d) == 1) continue;
    to.shape.push_back(input.size(d));
    to.strides.push_back(input.stride(d));
  }
  return make_view("squeeze", input, to, ViewCall{ViewCall::kReshape});
}

Tensor unsqueeze(const Tensor& input, int32_t dim) {
  const int at = wrap("unsqueeze", 2, "dim", dim, input.ndim() + 1);
  if (input.ndim() == kMaxDims)
    fail_argument(LIBDL_ERROR_SHAPE, "unsqueeze", 1, "input", "has 64 dimensions", "at most 63");
  if (input.is_number()) return unsqueeze(clone(input), dim);
  Geometry to = geometry_of(input);
  const int64_t stride = at < input.ndim() ? input.size(at) * input.stride(at) : 1;
  to.shape.insert(static_cast<size_t>(at), 1);
  to.strides.insert(static_cast<size_t>(at), stride);
  return make_view("unsqueeze", input, to, ViewCall{ViewCall::kReshape});
}

Tensor expand(const Tensor& input, Dims shape) {
  if (input.is_number()) return expand(clone(input), shape);
  const int lead = static_cast<int>(shape.size()) - input.ndim();
  if (lead < 0)
    fail_argument(LIBDL_ERROR_SHAPE, "expand", 2, "shape", "is " + to_string(shape),
                  "at least the " + std::to_string(input.ndim()) + " dimensions of input");
  Geometry to;
  to.offset = input.offset();
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    const int64_t own = d < lead ? 1 : input.size(d - lead);
    int64_t size = shape[d];
    if (size == -1 && d >= lead) size = own;
    if (size < 0 || (own != size && own != 1))
      fail_argument(LIBDL_ERROR_SHAPE, "expand", 2, "shape", "is " + to_string(shape),
                    "one to which " + to_string(input.shape()) + " broadcasts");
    to.shape.push_back(size);
    to.strides.push_back(own == size && d >= lead ? input.stride(d - lead) : 0);
  }
  checked_numel(to.shape, input.dtype(), "expand", 2, "shape");
  return make_view("expand", input, to, ViewCall{ViewCall::kExpand});
}

// -- parts ----------------------------------------------------------------------------------------

static void require_dim(const char* op, const Tensor& input) {
  if (input.ndim() == 0)
    fail_argument(LIBDL_ERROR_INDEX, op, 1, "input", "is 0-d", "a tensor with dimensions");
}

Tensor select(const Tensor& input, int32_t dim, int64_t index) {
  require_dim("select", input);
  const int at = wrap("select", 2, "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  if (index < -n || index >= n)
    fail_argument(LIBDL_ERROR_INDEX, "select", 3, "index", "is " + std::to_string(index),
                  n ? std::to_string(-n) + " to " + std::to_string(n - 1)
                    : "an index into a dimension that is not empty");
  if (index < 0) index += n;
  return select_view("select", input, at, index);
}

static Tensor part(const char* op, const Tensor& input, int at, int64_t start, int64_t length,
                   int64_t step, ViewKind kind = ViewKind::kPlain) {
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
  become_view(op, input, y, call, kind);
  return y;
}

Tensor narrow(const Tensor& input, int32_t dim, int64_t start, int64_t length) {
  require_dim("narrow", input);
  const int at = wrap("narrow", 2, "dim", dim, input.ndim());
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
  const int at = wrap("slice", 2, "dim", dim, input.ndim());
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
  const int a = wrap("diagonal", 3, "dim1", dim1, input.ndim());
  const int b = wrap("diagonal", 4, "dim2", dim2, input.ndim());
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
  if (length > 0)
    to.offset += offset >= 0 ? offset * input.stride(b) : -offset * input.stride(a);
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

Tensor unfold(const Tensor& input, int32_t dimension, int64_t size, int64_t step) {
  const int at = wrap("unfold", 2, "dimension", dimension, input.ndim());
  const int64_t n = input.ndim() ? input.size(at) : 1, stride = input.ndim() ? input.stride(at) : 1;
  if (size < 0 || size > n)
    fail_argument(LIBDL_ERROR_VALUE, "unfold", 3, "size", "is " + std::to_string(size),
                  "0 to " + std::to_string(n));
  if (step <= 0)
    fail_argument(LIBDL_ERROR_VALUE, "unfold", 4, "step", "is " + std::to_string(step),
                  "1 or more");
  if (input.is_number()) return unfold(clone(input), dimension, size, step);
  Geometry to = geometry_of(input);
  if (input.ndim()) {
    to.shape[at] = (n - size) / step + 1;
    if (to.shape[at] > 1) to.strides[at] = stride * step;
  }
  to.shape.push_back(size);
  to.strides.push_back(stride);
  checked_numel(to.shape, input.dtype(), "unfold");
  ViewCall call{ViewCall::kStrided};
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
  // Made once to be checked against the storage.
  over_storage(Ref<Storage>::share(&input.storage()), shape, stride, offset, input.dtype(),
               "as_strided");
  return make_view("as_strided", input, {Shape(shape), Shape(stride), offset},
                   ViewCall{ViewCall::kStrided});
}

// -- several parts --------------------------------------------------------------------------------

std::vector<Tensor> split_with_sizes(const Tensor& input, Dims split_sizes, int32_t dim) {
  require_dim("split_with_sizes", input);
  const int at = wrap("split_with_sizes", 3, "dim", dim, input.ndim());
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
    parts.push_back(part("split", input, at, start, n, 1, ViewKind::kMultiOutput));
    start += n;
  }
  return parts;
}

std::vector<Tensor> split(const Tensor& input, int64_t split_size, int32_t dim) {
  require_dim("split", input);
  const int at = wrap("split", 3, "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  if (split_size < 0 || (split_size == 0 && n > 0))
    fail_argument(LIBDL_ERROR_VALUE, "split", 2, "split_size", "is " + std::to_string(split_size),
                  "1 or more");
  std::vector<Tensor> parts;
  int64_t start = 0;
  do {
    const int64_t length = std::min(split_size, n - start);
    parts.push_back(part("split", input, at, start, length, 1, ViewKind::kMultiOutput));
    start += length;
  } while (start < n);
  return parts;
}

std::vector<Tensor> chunk(const Tensor& input, int64_t chunks, int32_t dim) {
  require_dim("chunk", input);
  if (chunks <= 0)
    fail_argument(LIBDL_ERROR_VALUE, "chunk", 2, "chunks", "is " + std::to_string(chunks),
                  "1 or more");
  const int at = wrap("chunk", 3, "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  if (n == 0) return split_with_sizes(input, Shape(static_cast<size_t>(chunks), 0), dim);
  return split(input, (n - 1) / chunks + 1, dim);
}

std::vector<Tensor> unbind(const Tensor& input, int32_t dim) {
  require_dim("unbind", input);
  const int at = wrap("unbind", 2, "dim", dim, input.ndim());
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < input.size(at); ++i)
    parts.push_back(select_view("unbind", input, at, i, ViewKind::kMultiOutput));
  return parts;
}

// -- the same bytes as another dtype --------------------------------------------------------------

Tensor view_as_real(const Tensor& input) {
  if (!input.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, "view_as_real", 1, "input",
                  std::string("is ") + name_of(input.dtype()), "a complex dtype");
  if (input.is_number()) return view_as_real(clone(input));
  if (input.ndim() == kMaxDims)
    fail_argument(LIBDL_ERROR_SHAPE, "view_as_real", 1, "input", "has 64 dimensions", "at most 63");
  Geometry to = geometry_of(input);
  to.offset *= 2;
  for (int64_t& s : to.strides) s *= 2;
  to.shape.push_back(2);
  to.strides.push_back(1);
  return make_view("view_as_real", input, to, ViewCall{ViewCall::kReal}, ViewKind::kReal,
                   real_of(input.dtype()));
}

Tensor view_as_complex(const Tensor& input) {
  const auto bad = [&](libdl_error_code code, const std::string& found, const char* wanted) {
    fail_argument(code, "view_as_complex", 1, "input", found, wanted);
  };
  if (input.dtype() != Dtype::kFloat32 && input.dtype() != Dtype::kFloat64)
    bad(LIBDL_ERROR_DTYPE, std::string("is ") + name_of(input.dtype()), "float32 or float64");
  const int last = input.ndim() - 1;
  if (last < 0 || input.size(last) != 2)
    bad(LIBDL_ERROR_SHAPE, "has shape " + to_string(input.shape()), "a last dimension of 2");
  bool even = input.stride(last) == 1 && input.offset() % 2 == 0;
  for (int d = 0; d < last; ++d) even &= input.stride(d) % 2 == 0 || input.size(d) == 1;
  if (!even && input.numel() > 0)
    bad(LIBDL_ERROR_SHAPE, "has strides " + to_string(input.strides()),
        "a last stride of 1 and even others, at an even offset");
  Geometry to = geometry_of(input);
  to.offset /= 2;
  to.shape.pop_back();
  to.strides.pop_back();
  for (int64_t& s : to.strides) s /= 2;
  return make_view("view_as_complex", input, to, ViewCall{ViewCall::kComplex}, ViewKind::kComplex,
                   complex_of(input.dtype()));
}

Tensor real(const Tensor& input) {
  return input.is_complex() ? select(view_as_real(input), -1, 0) : input;
}
Tensor imag(const Tensor& input) {
  if (!input.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, "imag", 1, "input",
                  std::string("is ") + name_of(input.dtype()), "a complex dtype");
  return select(view_as_real(input), -1, 1);
}

Tensor view_dtype(const Tensor& input, Dtype dtype) {
  const char* const op = "view_dtype";
  if (dtype == Dtype::kNone)
    fail_argument(LIBDL_ERROR_DTYPE, op, 2, "dtype", "is absent", "a dtype");
  if (input.is_number()) return view_dtype(clone(input), dtype);
  if (dtype == input.dtype())
    return make_view(op, input, geometry_of(input), ViewCall{ViewCall::kReshape});
  if ((state().mode & kModeGrad) && requires_grad(input))
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, 1, "input", "requires grad, which bytes seen as " +
                  std::string(name_of(dtype)) + " cannot have", "detach() of it");
  Geometry to = geometry_of(input);
  const int64_t from = size_of(input.dtype()), into = size_of(dtype);
  const auto bad = [&](const std::string& found, const std::string& wanted) {
    fail_argument(LIBDL_ERROR_SHAPE, op, 1, "input", found, wanted);
  };
  if (from != into) {
    const int last = input.ndim() - 1;
    if (last < 0) bad("is 0-d", "a last dimension to stretch or fold");
    if (input.size(last) > 1 && input.stride(last) != 1 && input.numel() > 0)
      bad("has last stride " + std::to_string(input.stride(last)), "1");
    to.strides[last] = 1;
    const int64_t fold = into / std::max<int64_t>(from, 1), stretch = from / into;
    if (into > from) {
      bool even = input.size(last) % fold == 0 && input.offset() % fold == 0;
      for (int d = 0; d < last; ++d) even &= input.stride(d) % fold == 0 || input.size(d) == 1;
      if (!even)
        bad("has shape " + to_string(input.shape()) + " and strides " + to_string(input.strides()),
            "sizes, strides and an offset divisible by " + std::to_string(fold));
      to.shape[last] /= fold;
      to.offset /= fold;
      for (int d = 0; d < last; ++d) to.strides[d] /= fold;
    } else {
      to.shape[last] *= stretch;
      to.offset *= stretch;
      for (int d = 0; d < last; ++d) to.strides[d] *= stretch;
    }
  }
  Tensor y = alias(input, to.shape, to.strides, to.offset, dtype);
  track_view(y, input, ViewKind::kCustom);
  return y;
}

Tensor detach(const Tensor& input) { return alias(input); }

}  // namespace libdl
