// SPDX-License-Identifier: Apache-2.0

#include "ops/comparison.h"

#include <cmath>
#include <limits>

#include "ops/arithmetic.h"
#include "ops/bitwise.h"
#include "ops/copy.h"
#include "ops/pointwise.h"
#include "ops/reduction.h"

namespace libdl {

constexpr double kInf = std::numeric_limits<double>::infinity();

// -- truth ------------------------------------------------------------------------------------

#define LIBDL_COMPARE(op)                                                     \
  const PointwiseOp k_##op{.name = #op,                                       \
                           .expression = Expression::k_##op,                  \
                           .arguments = {"input", "other"}};                  \
  Tensor op(const Tensor& input, const Tensor& other, Into into) {            \
    return pointwise(k_##op, input, other, into);                             \
  }
LIBDL_COMPARE(eq)
LIBDL_COMPARE(ne)
LIBDL_COMPARE(lt)
LIBDL_COMPARE(le)
LIBDL_COMPARE(gt)
LIBDL_COMPARE(ge)
#undef LIBDL_COMPARE

// Integers are always finite: read in the default dtype they stay so, for its range is wider.
#define LIBDL_KIND(op)                                              \
  const PointwiseOp k_##op{.name = #op,                             \
                           .expression = Expression::k_##op,        \
                           .arguments = {"input"},                  \
                           .promotion = Promotion::kFloat};         \
  Tensor op(const Tensor& input, Into into) { return pointwise(k_##op, input, into); }
LIBDL_KIND(isnan)
LIBDL_KIND(isinf)
LIBDL_KIND(isfinite)
#undef LIBDL_KIND

// |a - b| <= atol + rtol |b| where both are finite; equal values are close anyway.
Tensor isclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan,
               Into into) {
  const auto tolerance = [&](int argument, const char* name, double value) {
    if (!(value >= 0))
      fail_argument(LIBDL_ERROR_VALUE, "isclose", argument, name, "is " + std::to_string(value),
                    "0 or more");
  };
  tolerance(3, "rtol", rtol);
  tolerance(4, "atol", atol);
  if (!input.is_number() && !other.is_number() && input.dtype() != other.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, "isclose", 2, "other",
                  std::string("is ") + name_of(other.dtype()), name_of(input.dtype()));
  const ModeGuard off(kModeGrad | kModeForward);
  Tensor close = told_as("isclose", {{"input", 1, "input"}, {"other", 2, "other"}},
                         [&] { return eq(input, other); });
  if (equal_nan && is_inexact(input.dtype()))
    close = logical_or(close, logical_and(isnan(input), isnan(other)));
  if (rtol > 0 || atol > 0) {
    // Integers are compared as float64: their difference may not fit their own dtype.
    const auto is_integer = [](const Tensor& x) { return !is_inexact(x.dtype()); };
    const bool lift = is_integer(input) || (is_integer(other) && !other.is_number());
    const auto lifted = [&](const Tensor& x) {
      return lift && !x.is_complex() ? cast(x, Dtype::kFloat64) : x;
    };
    const Tensor a = lifted(input), b = lifted(other);
    const Tensor bound = add(mul(abs(b), number(rtol)), number(atol));
    const Tensor distance = abs(sub(a, b));
    close = logical_or(close, logical_and(isfinite(distance), le(distance, bound)));
  }
  return deliver("isclose", close, into, {&input, &other});
}

bool equal(const Tensor& input, const Tensor& other) {
  if (!same(input.shape(), other.shape())) return false;
  const ModeGuard off(kModeGrad | kModeForward);
  return item_bool(all(eq(input, other)));
}

bool allclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return told_as("allclose",
                 {{"input", 1, "input"}, {"other", 2, "other"}, {"rtol", 3, "rtol"},
                  {"atol", 4, "atol"}},
                 [&] { return item_bool(all(isclose(input, other, rtol, atol, equal_nan))); });
}

// -- choices ----------------------------------------------------------------------------------

// 1, 1/2 or 0 where x is above, equal to or below z: ties share the gradient.
static Expr above(Expr x, Expr z) {
  const Expr at_least = in_range(x, z, constant(kInf));
  const Expr at_most = in_range(x, constant(-kInf), z);
  return (at_least + 1.0 - at_most) * 0.5;
}

const PointwiseOp k_maximum{
    .name = "maximum",
    .expression = Expression::k_maximum,
    .arguments = {"input", "other"},
    .partials = {[](const Symbols& s) { return s.dy * above(s.x[0], s.x[1]); },
                 [](const Symbols& s) { return s.dy * above(s.x[1], s.x[0]); }}};
const PointwiseOp k_minimum{
    .name = "minimum",
    .expression = Expression::k_minimum,
    .arguments = {"input", "other"},
    .partials = {[](const Symbols& s) { return s.dy * above(s.x[1], s.x[0]); },
                 [](const Symbols& s) { return s.dy * above(s.x[0], s.x[1]); }}};

// The slope of a clamp, 1 inside its bounds; its own slope is 0.
const PointwiseOp k_threshold_mask{.name = "clamp_backward",
                                   .expression = Expression::k_threshold_mask,
                                   .arguments = {"input", "min", "max"},
                                   .zero_gradient = true};
const PointwiseOp k_clamp{
    .name = "clamp",
    .expression = Expression::k_clamp,
    .arguments = {"input", "min", "max"},
    .partials = {[](const Symbols& s) {
                   return where(in_range(s.x[0], s.x[1], s.x[2]), s.dy, constant(0));
                 },
                 [](const Symbols& s) {  // input < min <= max
                   const Expr ordered = in_range(s.x[1], constant(-kInf), s.x[2]);
                   const Expr inside = in_range(s.x[0], s.x[1], constant(kInf));
                   return where(inside, constant(0), where(ordered, s.dy, constant(0)));
                 },
                 [](const Symbols& s) {  // input > max, or max < min
                   const Expr ordered = in_range(s.x[1], constant(-kInf), s.x[2]);
                   const Expr inside = in_range(s.x[0], constant(-kInf), s.x[2]);
                   return where(where(inside, ordered, constant(0)), constant(0), s.dy);
                 }}};

Tensor maximum(const Tensor& input, const Tensor& other, Into into) {
  return pointwise(k_maximum, input, other, into);
}
Tensor minimum(const Tensor& input, const Tensor& other, Into into) {
  return pointwise(k_minimum, input, other, into);
}

// The bound that never binds, in the category of the other operands.
static Tensor open_bound(Dtype type, bool lower) {
  if (is_inexact(type)) return number(lower ? -kInf : kInf);
  if (type == Dtype::kUint64 && lower) return number(int64_t{0});
  return number(lower ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max());
}

static const PointwiseOp kClampBelow{.name = "clamp",
                                     .expression = Expression::k_maximum,
                                     .arguments = {"input", "min"}};
static const PointwiseOp kClampAbove{.name = "clamp",
                                     .expression = Expression::k_minimum,
                                     .arguments = {"input", "max"}};

Tensor clamp(const Tensor& input, const Tensor* min, const Tensor* max, Into into) {
  if (!min && !max)
    fail_argument(LIBDL_ERROR_VALUE, "clamp", 2, "min", "is absent and so is max",
                  "at least one bound");
  const Tensor* operands[] = {&input, min ? min : max, max ? max : min};
  const Dtype type = result_dtype(operands);
  // No open bound: the largest uint64 is no number, and truths stay truths.
  if ((type == Dtype::kUint64 && !max) || (type == Dtype::kBool && !max))
    return pointwise(kClampBelow, input, *min, into);
  if (type == Dtype::kBool && !min) return pointwise(kClampAbove, input, *max, into);
  const Tensor low = min ? *min : open_bound(type, true);
  const Tensor high = max ? *max : open_bound(type, false);
  return pointwise(k_clamp, input, low, high, into);
}

const PointwiseOp k_where{
    .name = "where",
    .expression = Expression::k_where,
    .arguments = {"condition", "input", "other"},
    .promotion = Promotion::kSelect,
    .partials = {nullptr,
                 [](const Symbols& s) { return where(s.x[0], s.dy, constant(0)); },
                 [](const Symbols& s) { return where(s.x[0], constant(0), s.dy); }}};

Tensor where(const Tensor& condition, const Tensor& input, const Tensor& other, Into into) {
  if (condition.dtype() != Dtype::kBool && condition.dtype() != Dtype::kUint8)
    fail_argument(LIBDL_ERROR_DTYPE, "where", 1, "condition",
                  std::string("is ") + name_of(condition.dtype()), "bool");
  return pointwise(k_where, condition, input, other, into);
}

}  // namespace libdl
