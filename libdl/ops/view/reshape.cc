// SPDX-License-Identifier: Apache-2.0

// Views with the same elements in another shape.
#include <algorithm>

#include "entries/copy.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/view/view.h"
#include "ops/view/view_rule.h"

namespace libdl {

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
static Shape infer(const char* op, Dims shape, int64_t numel, const char* name = "shape") {
  Shape result(shape);
  int unknown = -1;
  int64_t known = 1;
  bool overflow = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1) {
      if (unknown >= 0)
        fail_argument(LIBDL_ERROR_VALUE, op, name, "is " + to_string(shape), "-1 at most once");
      unknown = static_cast<int>(d);
    } else if (shape[d] < 0) {
      fail_argument(LIBDL_ERROR_VALUE, op, name, "is " + to_string(shape),
                    "sizes of 0 or more, or one -1");
    } else {
      overflow |= __builtin_mul_overflow(known, shape[d], &known);
    }
  }
  const bool ambiguous = unknown >= 0 && known == 0;
  if (ambiguous)
    fail_argument(LIBDL_ERROR_SHAPE, op, name,
                  "is " + to_string(shape) + ", where -1 beside a 0 can be any size", "");
  if (unknown >= 0 && !overflow && numel % known == 0) {
    result[unknown] = numel / known;
    known = numel;
  }
  if (overflow || known != numel)
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "is " + to_string(shape),
                  "a shape of " + std::to_string(numel) + " elements");
  checked_numel(result, Dtype::kBool, op, name);
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

Tensor view_impl(const Tensor& input, Dims shape) {
  if (Tensor y = simple_view("view", input, shape); y.defined()) return y;
  Geometry to{infer("view", shape, input.numel()), {}, 0};
  if (Tensor y = try_view("view", input, to); y.defined()) return y;
  fail_argument(LIBDL_ERROR_SHAPE, "view", "shape",
                "is " + to_string(shape) + ", which the strides " + to_string(input.strides()) +
                    " of shape " + to_string(input.shape()) + " cannot show without a copy",
                "reshape()");
}

Tensor reshape_impl(const Tensor& input, Dims shape) {
  if (Tensor y = simple_view("reshape", input, shape); y.defined()) return y;
  Geometry to{infer("reshape", shape, input.numel()), {}, 0};
  if (input.is_number()) return reshape(clone(input), shape);
  if (Tensor y = try_view("reshape", input, to); y.defined()) return y;
  return own(try_view("reshape", contiguous(input), to));
}

Tensor flatten_impl(const Tensor& input, int32_t start_dim, int32_t end_dim) {
  const int first = checked_axis("flatten", "start_dim", start_dim, input.ndim());
  const int last = checked_axis("flatten", "end_dim", end_dim, input.ndim());
  if (first > last)
    fail_argument(LIBDL_ERROR_VALUE, "flatten", "start_dim",
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

Tensor unflatten_impl(const Tensor& input, int32_t dim, Dims sizes) {
  const int at = checked_axis("unflatten", "dim", dim, input.ndim());
  if (sizes.empty() || input.ndim() == 0)
    fail_argument(LIBDL_ERROR_SHAPE, "unflatten", "sizes", "is " + to_string(sizes),
                  "sizes whose product is the dimension's");
  const Shape inner = infer("unflatten", sizes, input.size(at), "sizes");
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

Tensor squeeze_impl(const Tensor& input, std::optional<Dims> dims) {
  SmallVector<bool, 8> drop(static_cast<size_t>(std::max(input.ndim(), 1)), !dims);
  if (dims)
    for (const int64_t dim : *dims) {
      bool& named = drop[checked_axis("squeeze", "dims", dim, input.ndim())];
      if (named)
        fail_argument(LIBDL_ERROR_INDEX, "squeeze", "dims",
                      "is " + to_string(*dims) + " and names a dimension twice",
                      "distinct dimensions");
      named = true;
    }
  Geometry to;
  to.offset = input.offset();
  for (int d = 0; d < input.ndim(); ++d) {
    if (drop[d] && input.size(d) == 1) continue;
    to.shape.push_back(input.size(d));
    to.strides.push_back(input.stride(d));
  }
  return make_view("squeeze", input, to, ViewCall{ViewCall::kReshape});
}

Tensor unsqueeze_impl(const Tensor& input, int32_t dim) {
  const int at = checked_axis("unsqueeze", "dim", dim, input.ndim() + 1);
  if (input.ndim() == kMaxDims)
    fail_argument(LIBDL_ERROR_SHAPE, "unsqueeze", "input", "has 64 dimensions", "at most 63");
  if (input.is_number()) return unsqueeze(clone(input), dim);
  Geometry to = geometry_of(input);
  const int64_t stride = at < input.ndim() ? input.size(at) * input.stride(at) : 1;
  to.shape.insert(static_cast<size_t>(at), 1);
  to.strides.insert(static_cast<size_t>(at), stride);
  return make_view("unsqueeze", input, to, ViewCall{ViewCall::kReshape});
}

Tensor expand_impl(const Tensor& input, Dims shape) {
  if (input.is_number()) return expand(clone(input), shape);
  const int lead = static_cast<int>(shape.size()) - input.ndim();
  if (lead < 0)
    fail_argument(LIBDL_ERROR_SHAPE, "expand", "shape", "is " + to_string(shape),
                  "at least the " + std::to_string(input.ndim()) + " dimensions of input");
  Geometry to;
  to.offset = input.offset();
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    const int64_t own = d < lead ? 1 : input.size(d - lead);
    int64_t size = shape[d];
    if (size == -1 && d >= lead) size = own;
    if (size < 0 || (own != size && own != 1))
      fail_argument(LIBDL_ERROR_SHAPE, "expand", "shape", "is " + to_string(shape),
                    "one to which " + to_string(input.shape()) + " broadcasts");
    to.shape.push_back(size);
    to.strides.push_back(own == size && d >= lead ? input.stride(d - lead) : 0);
  }
  checked_numel(to.shape, input.dtype(), "expand", "shape");
  return make_view("expand", input, to, ViewCall{ViewCall::kExpand});
}

Tensor along_channels(const Tensor& vector, Dims shape) {
  Shape sizes(shape.size(), 1);
  sizes[1] = shape[1];
  return reshape(vector, sizes);
}

}  // namespace libdl
