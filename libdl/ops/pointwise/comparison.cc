// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/reduction.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "tensor/memory_order.h"

namespace libdl {

constexpr double kInf = std::numeric_limits<double>::infinity();

// -- truth ------------------------------------------------------------------------------------

#define LIBDL_COMPARE(op)   \
  const PointwiseOp k_##op{ \
      .name = #op, .expression = Expression::op, .arguments = {"input", "other"}};
LIBDL_COMPARE(eq)
LIBDL_COMPARE(ne)
LIBDL_COMPARE(lt)
LIBDL_COMPARE(le)
LIBDL_COMPARE(gt)
LIBDL_COMPARE(ge)
#undef LIBDL_COMPARE

// Integers are always finite.
static Tensor everywhere(const char* op, const Tensor& input, bool truth, Into into) {
  const Tensor y = empty_as(input, Dtype::kBool, input.device());
  fill_bytes(y, number(truth));
  return write_result(op, y, into, {&input});
}
#define LIBDL_KIND(op, of_integers)                                                 \
  const PointwiseOp k_##op{.name = #op,                                             \
                           .expression = Expression::op,                            \
                           .arguments = {"input"},                                  \
                           .promotion = Promotion::kFloat};                         \
  Tensor op##_impl(const Tensor& input) {                                           \
    if (!is_inexact(input.dtype())) return everywhere(#op, input, of_integers, {}); \
    return pointwise(k_##op, input);                                                \
  }
LIBDL_KIND(isnan, false)
LIBDL_KIND(isinf, false)
LIBDL_KIND(isfinite, true)
#undef LIBDL_KIND

// -- signs ------------------------------------------------------------------------------------

const PointwiseOp k_signbit{
    .name = "signbit", .expression = Expression::signbit, .arguments = {"input"}};
Tensor signbit_impl(const Tensor& input, Into into) {
  if (input.dtype() == Dtype::kBool) return everywhere("signbit", input, false, into);
  return pointwise(k_signbit, input, into);
}

static Expr nothing(Expr dy) { return where(constant(0), dy, constant(0)); }

const PointwiseOp k_heaviside{
    .name = "heaviside",
    .expression = Expression::heaviside,
    .arguments = {"input", "values"},
    .partials = {[](const Symbols& s) { return nothing(s.dy); },
                 [](const Symbols& s) { return where(s.x[0], constant(0), s.dy); }},
    .steps = true};

// The derivative is 1, -1 or, at 0, 0.
const PointwiseOp k_copysign{
    .name = "copysign",
    .expression = Expression::copysign,
    .arguments = {"input", "other"},
    .promotion = Promotion::kFloat,
    .partials = {[](const Symbols& s) { return s.dy * (sign(s.y) * sign(s.x[0])); },
                 [](const Symbols& s) { return nothing(s.dy); }},
    .steps = true};

// |a - b| <= atol + rtol |b| where both are finite; equal values are close anyway.
Tensor isclose_impl(const Tensor& input, const Tensor& other, double rtol, double atol,
                    bool equal_nan) {
  const auto tolerance = [&](const char* name, double value) {
    if (!(value >= 0))
      fail_argument(LIBDL_ERROR_VALUE, "isclose", name, "is " + std::to_string(value), "0 or more");
  };
  tolerance("rtol", rtol);
  tolerance("atol", atol);
  if (!input.is_number() && !other.is_number() && input.dtype() != other.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, "isclose", "other",
                  std::string("is ") + name_of(other.dtype()), name_of(input.dtype()));
  const ModeGuard off(kModeGrad | kModeForward);
  Tensor close = rename_error("isclose", {{"input", "input"}, {"other", "other"}},
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
  return close;
}

bool equal_impl(const Tensor& input, const Tensor& other) {
  if (!same(input.shape(), other.shape())) return false;
  // Of floating numbers there may be a NaN, which equals nothing.
  if (!is_inexact(input.dtype()) && input.is(other)) return true;
  const ModeGuard off(kModeGrad | kModeForward);
  return item_bool(all(eq(input, other)));
}

bool allclose_impl(const Tensor& input, const Tensor& other, double rtol, double atol,
                   bool equal_nan) {
  return rename_error("allclose",
                      {{"input", "input"}, {"other", "other"}, {"rtol", "rtol"}, {"atol", "atol"}},
                      [&] { return item_bool(all(isclose(input, other, rtol, atol, equal_nan))); });
}

// -- choices ----------------------------------------------------------------------------------

// 1 or 0, and 0 where either is a NaN.
static Expr at_least(Expr x, Expr z) { return in_range(x, z, constant(kInf)); }
static Expr at_most(Expr x, Expr z) { return in_range(x, constant(-kInf), z); }
static Expr below(Expr x, Expr z) { return where(at_least(x, z), constant(0), at_most(x, z)); }
static Expr equals(Expr x, Expr z) { return at_least(x, z) * at_most(x, z); }
// dy times a share of 1, 1/2 or 0: where it is 0, an infinite dy counts no more.
static Expr shared(Expr dy, Expr share) { return where(share, dy * share, constant(0)); }

// 1, 1/2 or 0 where x is above, equal to or below z: ties share the gradient, and a NaN passes it
// on.
static Expr above(Expr x, Expr z) { return 1.0 - at_most(x, z) + equals(x, z) * 0.5; }

const PointwiseOp k_maximum{
    .name = "maximum",
    .expression = Expression::maximum,
    .arguments = {"input", "other"},
    .partials = {[](const Symbols& s) { return shared(s.dy, above(s.x[0], s.x[1])); },
                 [](const Symbols& s) { return shared(s.dy, above(s.x[1], s.x[0])); }},
    .steps = true};
const PointwiseOp k_minimum{
    .name = "minimum",
    .expression = Expression::minimum,
    .arguments = {"input", "other"},
    .partials = {[](const Symbols& s) { return shared(s.dy, above(s.x[1], s.x[0])); },
                 [](const Symbols& s) { return shared(s.dy, above(s.x[0], s.x[1])); }},
    .steps = true};
// Those of which a NaN is the smaller one (fmax), or the larger one (fmin).
static Expr is_number(Expr x) { return in_range(x, constant(-kInf), constant(kInf)); }
// dy's share, or if one operand is NaN all of dy for the other; the first one's if both are.
static Expr of_first(Expr dy, Expr x, Expr z, Expr share) {
  return where(is_number(z), where(is_number(x), shared(dy, share), constant(0)), dy);
}
static Expr of_second(Expr dy, Expr x, Expr z, Expr share) {
  return where(is_number(z), where(is_number(x), shared(dy, share), dy), constant(0));
}
const PointwiseOp k_fmax{
    .name = "fmax",
    .expression = Expression::fmax,
    .arguments = {"input", "other"},
    .partials = {
        [](const Symbols& s) { return of_first(s.dy, s.x[0], s.x[1], above(s.x[0], s.x[1])); },
        [](const Symbols& s) { return of_second(s.dy, s.x[0], s.x[1], above(s.x[1], s.x[0])); }},
    .steps = true};
const PointwiseOp k_fmin{
    .name = "fmin",
    .expression = Expression::fmin,
    .arguments = {"input", "other"},
    .partials = {
        [](const Symbols& s) { return of_first(s.dy, s.x[0], s.x[1], above(s.x[1], s.x[0])); },
        [](const Symbols& s) { return of_second(s.dy, s.x[0], s.x[1], above(s.x[0], s.x[1])); }},
    .steps = true};
// The derivative of a clamp, 1 inside its bounds; its own derivative is 0.
const PointwiseOp k_threshold_mask{.name = "clamp_backward",
                                   .expression = Expression::threshold_mask,
                                   .arguments = {"input", "min", "max"},
                                   .zero_gradient = true};
// Between two tensors. Where the bounds differ, ties share the gradient; where they are equal it is
// input's; where max < min it is max's. A NaN of input passes it on.
const PointwiseOp k_clamp{
    .name = "clamp",
    .expression = Expression::clamp,
    .arguments = {"input", "min", "max"},
    .partials = {[](const Symbols& s) {
                   const Expr x = s.x[0], min = s.x[1], max = s.x[2];
                   const Expr ties = below(min, max) * (equals(x, min) + equals(x, max));
                   const Expr inside = where(below(x, min), constant(0), 1.0 - below(max, x));
                   return shared(s.dy, inside * (1.0 - ties * 0.5));
                 },
                 [](const Symbols& s) {
                   const Expr x = s.x[0], min = s.x[1], max = s.x[2];
                   return shared(s.dy, below(x, min) * at_most(min, max) +
                                           below(min, max) * equals(x, min) * 0.5);
                 },
                 [](const Symbols& s) {
                   const Expr x = s.x[0], min = s.x[1], max = s.x[2];
                   return shared(s.dy, below(max, min) + below(max, x) * at_most(min, max) +
                                           below(min, max) * equals(x, max) * 0.5);
                 }},
    .steps = true};

// One bound is absent, the other a tensor: as maximum and minimum.
static const PointwiseOp kClampBelow{
    .name = "clamp",
    .expression = Expression::clamp,
    .arguments = {"input", "min", "max"},
    .partials = {[](const Symbols& s) { return shared(s.dy, above(s.x[0], s.x[1])); },
                 [](const Symbols& s) { return shared(s.dy, above(s.x[1], s.x[0])); }},
    .steps = true};
static const PointwiseOp kClampAbove{
    .name = "clamp",
    .expression = Expression::clamp,
    .arguments = {"input", "min", "max"},
    .partials = {[](const Symbols& s) { return shared(s.dy, above(s.x[2], s.x[0])); }, nullptr,
                 [](const Symbols& s) { return shared(s.dy, above(s.x[0], s.x[2])); }},
    .steps = true};

// Bounds that are numbers: the derivative is 1 strictly between them.
static const PointwiseOp kClampNumbers{
    .name = "clamp",
    .expression = Expression::clamp,
    .arguments = {"input", "min", "max"},
    .partials = {[](const Symbols& s) {
      const Expr under = where(at_least(s.x[0], s.x[2]), constant(0),
                               where(at_most(s.x[0], s.x[2]), s.dy, constant(0)));
      return where(at_most(s.x[0], s.x[1]), constant(0),
                   where(at_least(s.x[0], s.x[1]), under, constant(0)));
    }},
    .steps = true};
static const PointwiseOp kClampBelowNumber{
    .name = "clamp",
    .expression = Expression::clamp,
    .arguments = {"input", "min", "max"},
    .partials = {[](const Symbols& s) {
      return where(at_most(s.x[0], s.x[1]), constant(0),
                   where(at_least(s.x[0], s.x[1]), s.dy, constant(0)));
    }},
    .steps = true};
static const PointwiseOp kClampAboveNumber{.name = "clamp",
                                           .expression = Expression::clamp,
                                           .arguments = {"input", "min", "max"},
                                           .partials = {[](const Symbols& s) {
                                             return where(
                                                 at_least(s.x[0], s.x[2]), constant(0),
                                                 where(at_most(s.x[0], s.x[2]), s.dy, constant(0)));
                                           }},
                                           .steps = true};

// A 0-d tensor beyond the common dtype is converted to it before it is compared, as in PyTorch: the
// tiles compare 64 bits.
static Tensor narrowed(const Tensor& x, Dtype type) {
  const bool narrow = !x.is_number() && x.dtype() != type && is_integral(type);
  return narrow ? cast(x, type) : x;
}

static Tensor extremum(const PointwiseOp& op, const Tensor& input, const Tensor& other, Into into) {
  if (input.dtype() == other.dtype()) return pointwise(op, input, other, into);
  const Tensor* const operands[] = {&input, &other};
  const Dtype type = result_dtype(operands);
  return pointwise(op, narrowed(input, type), narrowed(other, type), into);
}
Tensor maximum_impl(const Tensor& input, const Tensor& other, Into into) {
  return extremum(k_maximum, input, other, into);
}
Tensor minimum_impl(const Tensor& input, const Tensor& other, Into into) {
  return extremum(k_minimum, input, other, into);
}
Tensor fmax_impl(const Tensor& input, const Tensor& other, Into into) {
  return extremum(k_fmax, input, other, into);
}
Tensor fmin_impl(const Tensor& input, const Tensor& other, Into into) {
  return extremum(k_fmin, input, other, into);
}

// The bound that never binds, in the category of the other operands. Where the dtype holds it, the
// comparison needs no wider one.
static Tensor open_bound(Dtype type, bool lower) {
  if (is_inexact(type)) return number(lower ? -kInf : kInf);
  switch (type) {
    case Dtype::kInt8: return number(int64_t{lower ? INT8_MIN : INT8_MAX});
    case Dtype::kInt16: return number(int64_t{lower ? INT16_MIN : INT16_MAX});
    case Dtype::kInt32: return number(int64_t{lower ? INT32_MIN : INT32_MAX});
    case Dtype::kUint8: return number(int64_t{lower ? 0 : UINT8_MAX});
    case Dtype::kUint64:
      if (lower) return number(int64_t{0});
      [[fallthrough]];
    default:
      return number(lower ? std::numeric_limits<int64_t>::min()
                          : std::numeric_limits<int64_t>::max());
  }
}

// A bound as it is compared: a number may lie outside of what the dtype holds where it never binds,
// and is an error where it always would.
static Tensor bound_of(const Tensor* given, bool lower, Dtype type) {
  if (!given) return open_bound(type, lower);
  if (!given->is_number()) return narrowed(*given, type);
  const char* const name = lower ? "min" : "max";
  if (is_integral(type) && !is_inexact(given->dtype())) {
    const __int128 value = wide_integer(*given);
    if (!in_range_of(type, value)) {
      const bool binds = lower ? value > 0 : value < 0;
      if (binds) reject_number("clamp", name, value, type);
      return open_bound(type, lower);
    }
  } else {
    check_number("clamp", name, *given, type);
  }
  return *given;
}

static const PointwiseOp kMaximumClamp{
    .name = "clamp", .expression = Expression::maximum, .arguments = {"input", "min"}};
static const PointwiseOp kMinimumClamp{
    .name = "clamp", .expression = Expression::minimum, .arguments = {"input", "max"}};

static const PointwiseOp& clamp_rule(const Tensor* min, const Tensor* max) {
  const bool low_number = !min || min->is_number(), high_number = !max || max->is_number();
  if (low_number && high_number)
    return !min ? kClampAboveNumber : !max ? kClampBelowNumber : kClampNumbers;
  return !min ? kClampAbove : !max ? kClampBelow : k_clamp;
}

Tensor clamp_impl(const Tensor& input, const Tensor* min, const Tensor* max, Into into) {
  if (!min && !max)
    fail_argument(LIBDL_ERROR_VALUE, "clamp", "min", "is absent and so is max",
                  "at least one bound");
  const Tensor* operands[] = {&input, min ? min : max, max ? max : min};
  const Dtype type = result_dtype(operands);
  // No open bound: the largest uint64 is no number, and truths stay truths.
  if ((type == Dtype::kUint64 && !max) || (type == Dtype::kBool && !max))
    return pointwise(kMaximumClamp, input, bound_of(min, true, type), into);
  if (type == Dtype::kBool && !min) return pointwise(kMinimumClamp, input, *max, into);
  const Tensor low = bound_of(min, true, type), high = bound_of(max, false, type);
  return pointwise(clamp_rule(min, max), narrowed(input, type), low, high, into);
}

const PointwiseOp k_where{
    .name = "where",
    .expression = Expression::where,
    .arguments = {"condition", "input", "other"},
    .promotion = Promotion::kSelect,
    .partials = {nullptr, [](const Symbols& s) { return where(s.x[0], s.dy, constant(0)); },
                 [](const Symbols& s) { return where(s.x[0], constant(0), s.dy); }}};
const PointwiseOp k_where_row_major{.name = "where",
                                    .expression = Expression::where,
                                    .arguments = k_where.arguments,
                                    .promotion = k_where.promotion,
                                    .partials = k_where.partials,
                                    .row_major = true};
const PointwiseOp k_where_owned{.name = "where",
                                .expression = Expression::where,
                                .arguments = k_where.arguments,
                                .promotion = k_where.promotion,
                                .partials = k_where.partials,
                                .row_major = true,
                                .keeps_numbers = true};

Tensor where_impl(const Tensor& condition, const Tensor& input, const Tensor& other, Into into) {
  if (condition.dtype() != Dtype::kBool && condition.dtype() != Dtype::kUint8)
    fail_argument(LIBDL_ERROR_DTYPE, "where", "condition",
                  std::string("is ") + name_of(condition.dtype()), "bool");
  if (input.is_number() || other.is_number()) {
    const Tensor* const operands[] = {&input, &other};
    const Dtype type = result_dtype(operands);
    // Numbers beside the 16-bit types are float32 first, which PyTorch lets become infinite.
    const Dtype wide = is_floating(type) && size_of(type) == 2 ? Dtype::kFloat32 : type;
    check_number("where", "input", input, wide);
    check_number("where", "other", other, wide);
  }
  return pointwise(k_where, condition, input, other, into);
}

}  // namespace libdl
