// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "device/meta.h"
#include "entries/copy.h"
#include "entries/join.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"
#include "ops/view/view.h"
#include "tensor/memory_order.h"

namespace libdl {

// -- cat --------------------------------------------------------------------------------------

namespace {
struct CatAttr {
  int dim;
  std::vector<int64_t> sizes;  // of each input along dim; -1: a legacy empty input, left out
};

// A 1-d tensor without elements joins anything, as in PyTorch.
bool skipped(const Tensor& x) { return x.ndim() == 1 && x.numel() == 0; }
}  // namespace

// Each input gets its part of dy.
static void cat_vjp(Backward& b) {
  const CatAttr& a = b.attr<CatAttr>();
  int64_t start = 0;
  for (int i = 0; i < b.inputs(); ++i) {
    if (a.sizes[i] < 0) {
      const int64_t none[] = {0};
      if (b.needs(i)) b.set_grad(i, zeros(b.batched(none), b.dy().dtype(), b.dy().device()));
      continue;
    }
    if (b.needs(i)) b.set_grad(i, narrow(b.dy(), a.dim + b.lead(), start, a.sizes[i]));
    start += a.sizes[i];
  }
}
static const Rule kCat{.name = "cat", .vjp = cat_vjp, .takes_batch = true};

static Shape joined_shape(const Call& call, TensorSpan tensors, int dim, const Tensor& first,
                          CatAttr& attr) {
  Shape shape(first.shape());
  shape[dim] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& x = tensors[i];
    if (skipped(x) && first.ndim() != 1) {
      attr.sizes.push_back(-1);
      continue;
    }
    bool fits = x.ndim() == first.ndim();
    for (int d = 0; fits && d < x.ndim(); ++d) fits = d == dim || x.size(d) == first.size(d);
    if (!fits)
      call.bad(LIBDL_ERROR_SHAPE, "tensors",
               "holds shape " + to_string(x.shape()) + " at position " + std::to_string(i),
               to_string(first.shape()) + " but for dimension " + std::to_string(dim));
    if (__builtin_add_overflow(shape[dim], x.size(dim), &shape[dim]))
      call.bad(LIBDL_ERROR_OVERFLOW, "tensors", "add up to more than 2^63 - 1", "less");
    attr.sizes.push_back(x.size(dim));
  }
  return shape;
}

// Where each input goes; undefined for those left out.
static std::vector<Tensor> parts_of(const Tensor& y, int dim, const CatAttr& attr) {
  std::vector<Tensor> parts(attr.sizes.size());
  Geometry part = geometry_of(y);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (attr.sizes[i] < 0) continue;
    part.shape[dim] = attr.sizes[i];
    parts[i] = alias(y, part.shape, part.strides, part.offset, y.dtype());
    part.offset += attr.sizes[i] * y.stride(dim);
  }
  return parts;
}

static bool all_on(Device device, TensorSpan tensors) {
  for (const Tensor& x : tensors)
    if (x.device() != device) return false;
  return true;
}

// All plain bytes that the copies need, so that none of them fails when others are done.
static void make_plain(const Tensor& y, TensorSpan tensors) {
  for (const Tensor& x : tensors) kernel_data(x, Access::kRead);
  kernel_data(y, Access::kUpdate);
}

Tensor cat_impl(TensorSpan tensors, int32_t dim, Into into) {
  Call call("cat", into, tensors);
  if (tensors.empty()) call.bad(LIBDL_ERROR_VALUE, "tensors", "is empty", "at least one tensor");
  const Tensor* first = &tensors[0];
  std::vector<const Tensor*> operands;
  for (const Tensor& x : tensors) {
    if (x.ndim() == 0)
      call.bad(LIBDL_ERROR_SHAPE, "tensors",
               "holds a 0-d tensor at position " + std::to_string(&x - tensors.data()),
               "tensors with dimensions (stack() joins 0-d ones)");
    if (skipped(*first)) first = &x;
    operands.push_back(&x);
  }
  const int at = call.axis("dim", dim, first->ndim());
  CatAttr attr{at, {}};
  const Shape shape = joined_shape(call, tensors, at, *first, attr);
  const Dtype dtype = result_dtype(operands);
  const Device device = first->device();
  // Straight into dst, unless something may fail when some of the parts are written.
  const bool aside = call.forward() || !all_on(device, tensors);
  const Tensor y = aside ? empty(shape, dtype, device)
                         : result_destination(call, into, shape, dtype, device, operands);
  Tensor created = alias(y);
  const std::vector<Tensor> parts = parts_of(y, at, attr);
  if (into && memory_is_special()) make_plain(y, tensors);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (parts[i].defined()) copy_bytes(parts[i], tensors[i]);
  const Tensor result = call.done(std::move(created), kCat, std::move(attr));
  if (call.forward())
    call.jvp(result, [&] {
      std::vector<Tensor> tangents;
      for (size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& t = call.tangent(static_cast<int>(i));
        tangents.push_back(t.defined() ? t : zeros(tensors[i].shape(), y.dtype(), y.device()));
      }
      return cat(tangents, dim);
    });
  return result;
}

// Whether the tensors' bytes, one after the other, are the stack, and a view and a launch for each
// would cost more than to copy them.
static bool are_dense_rows(TensorSpan tensors) {
  constexpr int64_t kLarge = 64 * 1024;  // bytes
  const Tensor& first = tensors[0];
  if (first.numel() * size_of(first.dtype()) > kLarge) return false;
  return std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& x) {
    return !x.is_number() && x.is_contiguous() && x.dtype() == first.dtype() &&
           same(x.shape(), first.shape()) && x.device().is_cpu() &&
           x.storage().plain.load(std::memory_order_acquire);
  });
}

// The stack along dimension 0 of dense rows; undefined if there is more to do than to copy.
static Tensor stacked_rows(TensorSpan tensors, Into into) {
  const Tensor& first = tensors[0];
  Shape shape(first.shape());
  shape.insert(0, static_cast<int64_t>(tensors.size()));
  if (into && (!into.tensor().is_contiguous() || into.tensor().dtype() != first.dtype() ||
               !into.tensor().device().is_cpu() || !same(into.tensor().shape(), shape)))
    return {};
  Call call("stack", into, tensors);
  if (!call.is_unrecorded()) return {};
  std::vector<const Tensor*> operands;
  for (const Tensor& x : tensors) operands.push_back(&x);
  const Tensor y = result_destination(call, into, shape, first.dtype(), {}, operands);
  Tensor created = alias(y);  // before anything is written
  auto* to = y.overwrite_plain<std::byte>();
  const int64_t bytes = first.numel() * size_of(first.dtype());
  for (const Tensor& x : tensors) {
    std::memcpy(to, x.plain(), static_cast<size_t>(bytes));
    to += bytes;
  }
  return call.done(std::move(created));
}

Tensor stack_impl(TensorSpan tensors, int32_t dim, Into into) {
  if (tensors.empty())
    fail_argument(LIBDL_ERROR_VALUE, "stack", "tensors", "is empty", "at least one tensor");
  if ((dim == 0 || dim == -1 - tensors[0].ndim()) && are_dense_rows(tensors)) {
    const Tensor y = stacked_rows(tensors, into);
    if (y.defined()) return y;
  }
  const Named named("stack");
  std::vector<Tensor> rows;
  for (const Tensor& x : tensors) {
    if (!same(x.shape(), tensors[0].shape()))
      fail_argument(LIBDL_ERROR_SHAPE, "stack", "tensors",
                    "holds shape " + to_string(x.shape()) + " at position " +
                        std::to_string(&x - tensors.data()),
                    to_string(tensors[0].shape()));
    rows.push_back(rename_error("stack", {{"dim", "dim"}, {"input", "tensors"}},
                                [&] { return unsqueeze(x, dim); }));
  }
  return named(rename_error("stack", {{"tensors", "tensors"}},
                            [&] { return cat(rows, dim < 0 ? dim + rows[0].ndim() : dim, into); }));
}

// -- repetition -------------------------------------------------------------------------------

// [r0 n0, r1 n1] as a copy of [r0, n0, r1, n1], expanded: composed of views.
Tensor repeat_impl(const Tensor& input, Dims repeats) {
  const int lead = static_cast<int>(repeats.size()) - input.ndim();
  if (lead < 0)
    fail_argument(LIBDL_ERROR_SHAPE, "repeat", "repeats",
                  "has " + std::to_string(repeats.size()) + " entries",
                  "at least " + std::to_string(input.ndim()));
  Shape inner, spread, result;
  for (size_t d = 0; d < repeats.size(); ++d) {
    const int64_t n = static_cast<int>(d) < lead ? 1 : input.size(static_cast<int>(d) - lead);
    if (repeats[d] < 0)
      fail_argument(LIBDL_ERROR_VALUE, "repeat", "repeats", "is " + to_string(repeats),
                    "0 or more each");
    int64_t size;
    if (__builtin_mul_overflow(n, repeats[d], &size))
      fail_argument(LIBDL_ERROR_OVERFLOW, "repeat", "repeats", "is " + to_string(repeats),
                    "a result of fewer than 2^63 elements");
    // A dimension that is not repeated needs no place of its own (64 dimensions stay possible).
    if (repeats[d] != 1) {
      inner.push_back(1);
      spread.push_back(repeats[d]);
    }
    inner.push_back(n);
    spread.push_back(n);
    result.push_back(size);
  }
  checked_numel(result, input.dtype(), "repeat", "repeats");
  checked_numel(spread, input.dtype(), "repeat", "repeats");  // sizes of 0 count as 1 in both
  const Named named("repeat");
  return named(own(reshape(row_major_clone(expand(reshape(input, inner), spread)), result)));
}

Tensor repeat_interleave_impl(const Tensor& input, int64_t repeats, std::optional<int64_t> dim) {
  const char* const op = "repeat_interleave";
  if (repeats < 0)
    fail_argument(LIBDL_ERROR_VALUE, op, "repeats", "is " + std::to_string(repeats), "0 or more");
  const Tensor x = dim ? input : flatten(input, 0, -1);
  const int n = x.ndim();
  const int64_t requested_dim = dim.value_or(0);
  if (n == 0)
    fail_argument(LIBDL_ERROR_INDEX, op, "dim", "is " + std::to_string(requested_dim),
                  "none, for input is 0-d");
  const int at = checked_axis(op, "dim", requested_dim, n);
  Shape spread(x.shape()), result(x.shape());
  spread.insert(static_cast<size_t>(at) + 1, repeats);
  // Sizes of 0 count as 1 there, so what joins two of them is no larger.
  checked_numel(spread, input.dtype(), op, "repeats");
  result[at] *= repeats;
  return reshape(row_major_clone(expand(unsqueeze(x, at + 1), spread)), result);
}

// -- order ------------------------------------------------------------------------------------

// The gradient of a flip is the same flip, of dimensions counted from the first.
static void flip_vjp(Backward& b) {
  Shape dims(b.attr<Shape>());
  for (int64_t& d : dims) d += b.lead();
  b.set_grad(0, flip(b.dy(), dims));
}
static const Rule kFlip{.name = "flip", .vjp = flip_vjp, .takes_batch = true};

Tensor flip_impl(const Tensor& input, Dims dims) {
  Call call("flip", {}, {&input});
  const auto mask = call.axes("dims", dims, input.ndim(), false);
  // Read backwards: from the last element, with negative strides.
  Geometry from = geometry_of(input);
  for (int d = 0; d < input.ndim(); ++d) {
    if (!mask[d] || input.size(d) == 0) continue;
    from.offset += (input.size(d) - 1) * input.stride(d);
    from.strides[d] = -input.stride(d);
  }
  Tensor y = empty_as(input, input.dtype(), input.device());
  if (input.is_number())
    copy_bytes(y, input);
  else
    copy_bytes(y, alias(input, from.shape, from.strides, from.offset, input.dtype()));
  Shape flipped;
  for (int d = 0; d < input.ndim(); ++d)
    if (mask[d]) flipped.push_back(d);
  y = call.done(std::move(y), kFlip, flipped);
  if (call.forward()) call.jvp(y, [&] { return flip(call.tangent(0), dims); });
  return y;
}

Tensor roll_impl(const Tensor& input, Dims shifts, std::optional<Dims> dims) {
  const Named named("roll");
  if (!dims || dims->empty()) {
    if (shifts.size() != 1)
      fail_argument(LIBDL_ERROR_VALUE, "roll", "shifts",
                    "has " + std::to_string(shifts.size()) + " entries", "one, without dims");
    if (input.ndim() == 0) return clone(input);
    const int64_t first[] = {0};
    return named(own(reshape(roll(flatten(input, 0, -1), shifts, Dims(first)), input.shape())));
  }
  if (dims->size() != shifts.size())
    fail_argument(LIBDL_ERROR_VALUE, "roll", "dims",
                  "has " + std::to_string(dims->size()) + " entries",
                  std::to_string(shifts.size()) + ", as shifts has");
  Tensor y = input;
  for (size_t i = 0; i < shifts.size(); ++i) {
    if (y.ndim() == 0)
      fail_argument(LIBDL_ERROR_INDEX, "roll", "dims", "is " + to_string(*dims),
                    "none, for input is 0-d");
    const int at = checked_axis("roll", "dims", (*dims)[i], y.ndim());
    const int64_t size = y.size(at);
    if (size == 0) continue;
    const int64_t by = ((shifts[i] % size) + size) % size;
    const Tensor parts[] = {narrow(y, at, size - by, by), narrow(y, at, 0, size - by)};
    y = cat(parts, at);
  }
  return y.is(input) ? clone(input) : named(y);
}

// -- triangles --------------------------------------------------------------------------------

// True where j - i <= diagonal (lower), or where it is >= diagonal.
static void mark_triangle(const Tensor& mask, int64_t diagonal, bool lower) {
  const int64_t rows = mask.size(0), cols = mask.size(1);
  bool* const kept = mask.overwrite_plain<bool>();
  for (int64_t i = 0; i < rows; ++i) {
    // Columns up to `edge` belong to the lower triangle; clamped before it is added to i.
    const int64_t edge = std::clamp(diagonal, -rows - 1, cols + 1) + i;
    const int64_t split = std::clamp<int64_t>(lower ? edge + 1 : edge, 0, cols);
    std::fill_n(kept + i * cols, split, lower);
    std::fill_n(kept + i * cols + split, cols - split, !lower);
  }
}

// y = where(j - i <= diagonal, x, 0) or with >: a mask of its own, so the gradient follows.
static Tensor triangle(const char* op, const Tensor& input, int64_t diagonal, bool lower,
                       Into into) {
  if (input.ndim() < 2)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input",
                  "has " + std::to_string(input.ndim()) + " dimensions", "at least 2");
  const int64_t rows = input.size(input.ndim() - 2), cols = input.size(input.ndim() - 1);
  const int64_t shape[] = {rows, cols};
  const bool unseen = is_meta(input.device());
  const Tensor mask = empty(shape, Dtype::kBool, unseen ? input.device() : Device{});
  if (!unseen) mark_triangle(mask, diagonal, lower);
  const Tensor zero = is_inexact(input.dtype()) ? number(0.0) : number(int64_t{0});
  const Tensor nothing = input.dtype() == Dtype::kBool ? number(false) : zero;
  const Named named(op);
  return named(rename_error(op, {{"input", "input"}}, [&] {
    return pointwise(k_where_owned, on_device(mask, input.device()), input, nothing, into);
  }));
}

Tensor tril_impl(const Tensor& input, int64_t diagonal, Into into) {
  return triangle("tril", input, diagonal, true, into);
}
Tensor triu_impl(const Tensor& input, int64_t diagonal, Into into) {
  return triangle("triu", input, diagonal, false, into);
}

}  // namespace libdl
