// SPDX-License-Identifier: Apache-2.0

// Elements are added by copies within the result: the input is copied to its place, then dimension
// by dimension, the last one first, both sides of what is there so far.

#include <algorithm>

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/image.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/entry/autocast.h"
#include "ops/image/linear_map.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/view/view.h"

namespace libdl {

namespace {

enum class Fill : int32_t { kConstant, kReflect, kReplicate, kCircular };

// What is added on one side of one dimension, and the elements that it is made of.
struct Side {
  Geometry added, source;
};

struct Padding {
  const char* op = "pad";
  const char* backward = "pad_backward";
  Fill fill = Fill::kConstant;
  Shape shape{}, before{}, after{};  // of the input; 0 or more

  bool pads(size_t d) const { return before[d] > 0 || after[d] > 0; }
  Shape padded() const {
    Shape sizes(shape);
    for (size_t d = 0; d < sizes.size(); ++d) sizes[d] += before[d] + after[d];
    return sizes;
  }
  Geometry inner(const Tensor& y) const {
    Geometry g = geometry_of(y);
    for (size_t d = 0; d < shape.size(); ++d) take(g, d, before[d], shape[d]);
    return g;
  }
  Tensor run(const Tensor& x, bool transposed) const;
  Tensor spread(const Tensor& x, const Tensor& value) const;
  Tensor collect(const Tensor& dy) const;

 private:
  static void take(Geometry& g, size_t d, int64_t start, int64_t length) {
    g.offset += start * g.strides[d];
    g.shape[d] = length;
  }
  static void reverse(Geometry& g, size_t d) {
    if (g.shape[d] > 0) g.offset += (g.shape[d] - 1) * g.strides[d];
    g.strides[d] = -g.strides[d];
  }
  Side side(const Tensor& y, size_t d, bool at_end) const;
};

Tensor through(const Tensor& y, const Geometry& g) {
  return alias(y, g.shape, g.strides, g.offset, y.dtype());
}

// Dimensions behind d have their whole size, those before it the input's.
Side Padding::side(const Tensor& y, size_t d, bool at_end) const {
  Geometry part = geometry_of(y);
  for (size_t e = 0; e < d; ++e) take(part, e, before[e], shape[e]);
  const int64_t n = shape[d], first = before[d], count = at_end ? after[d] : first;
  Side s{part, part};
  take(s.added, d, at_end ? first + n : 0, count);
  switch (fill) {
    case Fill::kConstant: break;
    case Fill::kReflect:
      take(s.source, d, at_end ? first + n - 1 - count : first + 1, count);
      reverse(s.source, d);
      break;
    case Fill::kReplicate:
      take(s.source, d, at_end ? first + n - 1 : first, 1);
      s.source.shape[d] = count, s.source.strides[d] = 0;
      break;
    case Fill::kCircular: take(s.source, d, at_end ? first : first + n - count, count); break;
  }
  return s;
}

Tensor Padding::spread(const Tensor& x, const Tensor& value) const {
  const Tensor y = empty(padded(), x.dtype(), x.device());
  copy_bytes(through(y, inner(y)), x);
  for (size_t d = shape.size(); d-- > 0;) {
    for (const bool at_end : {false, true}) {
      if ((at_end ? after : before)[d] == 0) continue;
      const Side s = side(y, d, at_end);
      if (fill == Fill::kConstant) {
        fill_bytes(through(y, s.added), value);
      } else {
        copy_bytes(through(y, s.added), through(y, s.source));
      }
    }
  }
  return y;
}

// The transpose: the sides are added to what they are made of.
Tensor Padding::collect(const Tensor& dy) const {
  if (fill == Fill::kConstant) return row_major_clone(through(dy, inner(dy)));
  const Tensor sum = row_major_clone(cast(dy, computed_as(dy.dtype())));
  for (size_t d = 0; d < shape.size(); ++d) {
    for (const bool at_end : {false, true}) {
      if ((at_end ? after : before)[d] == 0) continue;
      Side s = side(sum, d, at_end);
      Tensor added;
      if (fill == Fill::kReplicate) {
        s.source.shape[d] = 1, s.source.strides[d] = geometry_of(sum).strides[d];
        const int64_t along[] = {static_cast<int64_t>(d)};
        added = libdl::sum(through(sum, s.added), Dims(along), true, sum.dtype());
      } else {
        if (fill == Fill::kReflect) reverse(s.added, d), reverse(s.source, d);
        added = row_major_clone(through(sum, s.added));
      }
      const Tensor source = through(sum, s.source);
      add(source, added, nullptr, Into(source));
    }
  }
  return row_major_clone(cast(through(sum, inner(sum)), dy.dtype()));
}

Tensor Padding::run(const Tensor& x, bool transposed) const {
  return transposed ? collect(x) : spread(x, number(int64_t{0}));
}

}  // namespace

// -- what is asked for ----------------------------------------------------------------------------

static constexpr const char* kPadName = "pad";

static Fill fill_of(std::string_view mode) {
  if (mode == "constant") return Fill::kConstant;
  if (mode == "reflect") return Fill::kReflect;
  if (mode == "replicate") return Fill::kReplicate;
  if (mode == "circular") return Fill::kCircular;
  fail_argument(LIBDL_ERROR_VALUE, kPadName, "mode", "is '" + std::string(mode) + "'",
                "'constant', 'reflect', 'replicate' or 'circular'");
}

static void check_dimensions(const Tensor& input, Dims pads, Fill fill) {
  if (pads.size() % 2 != 0)
    fail_argument(LIBDL_ERROR_VALUE, kPadName, "pad",
                  "has " + std::to_string(pads.size()) + " entries", "two for each dimension");
  const int dims = static_cast<int>(pads.size() / 2), n = input.ndim();
  if (dims > n)
    fail_argument(
        LIBDL_ERROR_SHAPE, kPadName, "pad", "has " + std::to_string(pads.size()) + " entries",
        "at most " + std::to_string(2 * n) + ", for input has shape " + to_string(input.shape()));
  if (fill == Fill::kConstant) return;
  if (dims < 1 || dims > 3)
    fail_argument(LIBDL_ERROR_VALUE, kPadName, "pad",
                  "has " + std::to_string(pads.size()) + " entries", "2, 4 or 6 in this mode");
  if (n != dims + 1 && n != dims + 2)
    fail_argument(LIBDL_ERROR_SHAPE, kPadName, "input", "has shape " + to_string(input.shape()),
                  std::to_string(dims + 1) + " or " + std::to_string(dims + 2) +
                      " dimensions where pad has " + std::to_string(pads.size()) + " entries");
}

// What the result's size in dimension d is, once it is known to exist.
static int64_t padded_size(const Tensor& input, Dims pads, Fill fill, int d, int64_t before,
                           int64_t after) {
  const int64_t n = input.size(d);
  const auto bad = [&](const std::string& wanted LIBDL_SOURCE_LOCATION) {
    const std::string size = std::to_string(d) + ", of size " + std::to_string(n);
    fail_argument(LIBDL_ERROR_VALUE, kPadName, "pad", "is " + to_string(pads),
                  wanted + " for dimension " + size LIBDL_SAME_SOURCE_LOCATION);
  };
  int64_t size;
  if (__builtin_add_overflow(n, before, &size) || __builtin_add_overflow(size, after, &size))
    fail_argument(LIBDL_ERROR_OVERFLOW, kPadName, "pad", "is " + to_string(pads),
                  "a result of fewer than 2^63 elements");
  const bool repeats = fill == Fill::kReflect || fill == Fill::kReplicate;
  if (size < 0 || (!repeats && (-before > n || -after > n))) bad("no more left out than there is");
  const int64_t most = std::max(before, after);
  if (fill == Fill::kReflect && most > 0 && most >= n) bad("less than the size");
  if (fill == Fill::kCircular &&
      most > n + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0))
    bad("at most the size");
  if (fill == Fill::kReplicate && most > 0 && n == 0) bad("an edge to repeat");
  if (repeats && size < 1) bad("at least one element that is left");
  return size;
}

// Leaves out what numbers below 0 say.
static Tensor cropped(const Tensor& x, const Shape& before, const Shape& after) {
  Tensor part = x;
  for (int d = 0; d < x.ndim(); ++d) {
    const int64_t first = std::max<int64_t>(0, -before[static_cast<size_t>(d)]);
    const int64_t last = std::max<int64_t>(0, -after[static_cast<size_t>(d)]);
    if (first || last) part = narrow(part, d, first, part.size(d) - first - last);
  }
  return part;
}

// A value that x's dtype holds, if it is to be written.
static Tensor checked_value(const Tensor& x, Dims pads, std::optional<double> value) {
  const bool writes = std::any_of(pads.begin(), pads.end(), [](int64_t n) { return n > 0; });
  if (!value || !writes) return number(int64_t{0});
  const Tensor fill = number(*value);
  check_number(kPadName, "value", fill, x.dtype());
  return fill;
}

// What autocast computes in float32: PyTorch's reflection_pad1d and 2d and replication_pad.
static bool in_float32(Fill fill, int64_t dims) {
  return fill == Fill::kReplicate || (fill == Fill::kReflect && dims <= 2);
}

Tensor pad_impl(const Tensor& input, Dims pads, std::string_view mode,
                std::optional<double> value) {
  const Fill fill = fill_of(mode);
  if (autocasting() && in_float32(fill, static_cast<int64_t>(pads.size()) / 2)) {
    const ModeGuard off(kModeAutocast);
    return pad(autocast(input, Dtype::kFloat32), pads, mode, value);
  }
  check_dimensions(input, pads, fill);
  if (fill != Fill::kConstant && value.value_or(0) != 0)
    fail_argument(LIBDL_ERROR_VALUE, kPadName, "value", "is " + std::to_string(*value),
                  "none in mode '" + std::string(mode) + "'");
  const int n = input.ndim();
  Shape before(static_cast<size_t>(n), 0), after(before), sizes(input.shape());
  for (size_t k = 0; k < pads.size() / 2; ++k) {
    const int d = n - 1 - static_cast<int>(k);
    const auto at = static_cast<size_t>(d);
    before[at] = pads[2 * k], after[at] = pads[2 * k + 1];
    sizes[at] = padded_size(input, pads, fill, d, before[at], after[at]);
  }
  checked_numel(sizes, input.dtype(), kPadName, "pad");
  const Tensor filled = checked_value(input, pads, value);
  // Edges are those of the whole input; what is wrapped around, or constant, those of the rest.
  const bool crops_first = fill == Fill::kConstant || fill == Fill::kCircular;
  const Named named(kPadName);
  const Tensor x = crops_first ? cropped(input, before, after) : input;
  Padding map{.fill = fill, .shape = Shape(x.shape()), .before = before, .after = after};
  bool any = false;
  for (size_t d = 0; d < map.before.size(); ++d) {
    map.before[d] = std::max<int64_t>(0, map.before[d]);
    map.after[d] = std::max<int64_t>(0, map.after[d]);
    any = any || map.pads(d);
  }
  if (!any) return named(row_major_clone(crops_first ? x : cropped(x, before, after)));
  const Tensor y = apply_as(map, x, false, [&] { return map.spread(x, filled); });
  if (crops_first) return named(y);
  const Tensor rest = cropped(y, before, after);
  return named(rest.is(y) ? y : row_major_clone(rest));
}

}  // namespace libdl
