// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>

#include "entries/activation.h"
#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/exponential.h"
#include "entries/special.h"
#include "entries/view.h"
#include "kernels/special.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/operand.h"
#include "ops/primitive/plan.h"
#include "tensor/memory_order.h"

namespace libdl {

using kernels::Special;

namespace {
// A function of one element and its derivative, by x or by its own value y.
struct SpecialOp {
  const char* name;
  Special function;
  Tensor (*slope)(const Tensor& saved);
  bool of_result;  // the slope is of y
  bool in_plane;   // complex numbers are not refused
};
}  // namespace

static Dtype lifted(Dtype dtype) { return is_inexact(dtype) ? dtype : default_dtype(); }

// y, which is new, = function(in...); all have y's dtype.
static void run(Special function, const Tensor& y, std::initializer_list<const Tensor*> in,
                int64_t order = 0) {
  if (y.numel() == 0) return;
  Plan plan;
  plan.set(y, {in.begin(), in.size()});
  kernels::SpecialArgs args;
  args.function = function;
  args.inputs = static_cast<int32_t>(in.size());
  args.host_inputs = plan.host_inputs();
  args.order = order;
  args.out = plan.view(y, 0);
  for (int k = 0; const Tensor* x : in) {
    args.in[k] = plan.view(*x, k + 1);
    ++k;
  }
  launch_special(y.device(), args);
}

static Tensor of_one(Special function, const Tensor& x, int64_t order = 0) {
  const Tensor y = empty_as(x, x.dtype(), x.device());
  run(function, y, {&x}, order);
  return y;
}

// dx = dy conj(dy/dx)
static void special_vjp(Backward& b) {
  const SpecialOp& op = *b.attr<const SpecialOp*>();
  b.set_grad(0, b.dy() * conj(op.slope(b.saved(0))));
}

static Tensor special(const SpecialOp& op, const Rule& rule, const Tensor& input, Into into) {
  if (!op.in_plane) refuse_complex(op.name, {input, "input"});
  const Dtype dtype = lifted(input.dtype());
  if (dtype != input.dtype()) {
    const Tensor x = cast(input, dtype);
    return write_result(op.name, special(op, rule, x, {}), into, {&input});
  }
  Call call(op.name, into, {&input});
  const Tensor y = of_one(op.function, input);
  const Save save = op.of_result ? saves_output(y, 0) : saves_input(input, 0);
  return call.done(y, rule, &op, {save}, [&](const Tensor& z) {
    return call.tangent(0) * op.slope(op.of_result ? z : input);
  });
}

// op(input), whose derivative is `slope`, an expression of x (or of its value y).
#define LIBDL_SPECIAL(op, of_result, in_plane, slope)                                          \
  static const SpecialOp special_##op{                                                         \
      #op, Special::op, [](const Tensor& x) -> Tensor { return slope; }, of_result, in_plane}; \
  static const Rule rule_##op{#op, special_vjp};                                               \
  Tensor op##_impl(const Tensor& input, Into into) {                                           \
    return special(special_##op, rule_##op, input, into);                                      \
  }
#define LIBDL_REAL(op, slope) LIBDL_SPECIAL(op, false, false, slope)
#define LIBDL_INVERSE(op, slope) LIBDL_SPECIAL(op, true, false, slope)
#define LIBDL_PLANE(op, slope) LIBDL_SPECIAL(op, false, true, slope)

using kernels::special::kSqrt2Pi;
using kernels::special::kSqrtPi;

static Tensor one_minus_square(const Tensor& x) { return -(x * x) + 1.0; }
// Nearer to 0 than this the first terms of the series of f(x) / x are all that a dtype holds, for
// the functions here; f(x) itself and the square of x may have lost digits there.
static double indistinct(Dtype dtype) {
  if (dtype == Dtype::kFloat64) return 0x1p-52;
  return dtype == Dtype::kFloat32 ? 0x1p-23 : 0x1p-10;
}
// f(x) / x, and near 0 the beginning of its series.
static Tensor by_x(const Tensor& value, const Tensor& x, const Tensor& near_zero) {
  const Tensor zero = le(abs(x), number(indistinct(x.dtype())));
  const Tensor safe = where(zero, number(1.0), x);
  return where(zero, near_zero, value / safe);
}

// phi(x) / Phi(x). Each form has derivatives that are finite where it is taken: erfcx overflows
// above 0, and its derivative loses all digits far below, where x + 1 / x is the series' beginning.
static Tensor log_ndtr_slope(const Tensor& x) {
  const double kFar = -1e4;
  const Tensor above = ge(x, number(0.0)), far = lt(x, number(kFar));
  const Tensor large = where(above, x, number(0.0)), small = where(far, x, number(-1.0));
  const Tensor middle = where(logical_or(above, far), number(-1.0), x);
  const Tensor of_large = exp((large * large) * -0.5) * (1 / kSqrt2Pi) / ndtr(large);
  const Tensor of_middle = reciprocal(erfcx(middle * -std::numbers::sqrt2 * 0.5)) * (2 / kSqrt2Pi);
  return where(above, of_large, where(far, -small - reciprocal(small), of_middle));
}

LIBDL_REAL(erfc, exp(-(x* x)) * (-2 / kSqrtPi))
LIBDL_INVERSE(erfinv, exp(x* x) * (kSqrtPi / 2))
LIBDL_REAL(erfcx, x* erfcx(x) * 2.0 + (-2 / kSqrtPi))
LIBDL_REAL(lgamma, digamma(x))
LIBDL_REAL(digamma, polygamma(1, x))
LIBDL_REAL(i0, i1(x))
LIBDL_REAL(i0e, i1e(x) - sign(x) * i0e(x))
LIBDL_REAL(i1, i0(x) - by_x(i1(x), x, number(0.5)))
LIBDL_REAL(i1e, i0e(x) - sign(x) * i1e(x) - by_x(i1e(x), x, abs(x) * -0.5 + 0.5))
LIBDL_REAL(ndtr, exp((x * x) * -0.5) * (1 / kSqrt2Pi))
LIBDL_INVERSE(ndtri, exp((x * x) * 0.5) * kSqrt2Pi)
LIBDL_REAL(log_ndtr, log_ndtr_slope(x))
LIBDL_PLANE(sinh, cosh(x))
LIBDL_PLANE(cosh, sinh(x))
LIBDL_PLANE(asin, rsqrt(one_minus_square(x)))
LIBDL_PLANE(acos, -rsqrt(one_minus_square(x)))
LIBDL_PLANE(atan, reciprocal((x * x) + 1.0))
// Without squares, which may overflow.
LIBDL_PLANE(asinh, x.is_complex() ? rsqrt((x * x) + 1.0) : reciprocal(hypot(x, number(1.0))))
// The product has the right branch in the plane; that of magnitudes is PyTorch's below -1, too.
LIBDL_PLANE(acosh, x.is_complex() ? rsqrt(x + 1.0) * rsqrt(x + -1.0)
                                  : rsqrt(abs(x) + 1.0) * rsqrt(abs(x) + -1.0))
LIBDL_PLANE(atanh, reciprocal(one_minus_square(x)))

// -- polygamma ------------------------------------------------------------------------------------

// The derivative of the n-th is the one after it. Those of so high an order are all infinite.
static int64_t after(int64_t n) { return n < INT64_MAX ? n + 1 : n; }

static void polygamma_vjp(Backward& b) {
  b.set_grad(0, b.dy() * polygamma(after(b.attr<int64_t>()), b.saved(0)));
}
static const Rule kPolygamma{"polygamma", polygamma_vjp};

Tensor polygamma_impl(int64_t n, const Tensor& input, Into into) {
  const char* const op = "polygamma";
  if (n < 0) fail_argument(LIBDL_ERROR_VALUE, op, "n", "is " + std::to_string(n), "0 or more");
  refuse_complex(op, {input, "input"});
  const Dtype dtype = lifted(input.dtype());
  if (dtype != input.dtype())
    return write_result(op, polygamma(n, cast(input, dtype)), into, {&input});
  Call call(op, into, {&input});
  const Tensor y = of_one(n == 0 ? Special::digamma : Special::polygamma, input, n);
  return call.done(y, kPolygamma, n, {saves_input(input, 0)},
                   [&](const Tensor&) { return call.tangent(0) * polygamma(after(n), input); });
}

// -- two operands ---------------------------------------------------------------------------------

namespace {
struct PairOp {
  const char* name;
  Special function;
  Tensor (*slopes[2])(const Tensor& x, const Tensor& y);  // by x and by y
};
struct PairAttr {
  const PairOp* op;
  Shape shapes[2];
};
}  // namespace

static void pair_vjp(Backward& b) {
  const PairAttr& a = b.attr<PairAttr>();
  for (int i = 0; i < 2; ++i)
    if (b.needs(i))
      b.set_grad(i, sum_to(b.dy() * a.op->slopes[i](b.saved(0), b.saved(1)), a.shapes[i]));
}

static Tensor pair(const PairOp& op, const Rule& rule, const Tensor& input, const Tensor& other,
                   Into into) {
  static constexpr const char* kNames[] = {"input", "other"};
  const Tensor* const operands[] = {&input, &other};
  refuse_complex(op.name, {input, "input"});
  refuse_complex(op.name, {other, "other"});
  const Shape shape = broadcast_shape(op.name, kNames, operands);
  const Dtype dtype = lifted(result_dtype(operands));
  if (input.dtype() != dtype || other.dtype() != dtype)
    return write_result(op.name, pair(op, rule, cast(input, dtype), cast(other, dtype), {}), into,
                        {&input, &other});
  Call call(op.name, into, {&input, &other});
  const Tensor y = empty(shape, dtype, result_device(operands));
  run(op.function, y, {&input, &other});
  return call.done(y, rule, PairAttr{&op, {Shape(input.shape()), Shape(other.shape())}},
                   {saves_input(input, 0), saves_input(other, 1)}, [&](const Tensor&) {
                     Tensor sum;
                     for (int i = 0; i < 2; ++i) {
                       if (!call.tangent(i).defined()) continue;
                       const Tensor t = call.tangent(i) * op.slopes[i](input, other);
                       sum = sum.defined() ? sum + t : t;
                     }
                     return sum;
                   });
}

#define LIBDL_PAIR_RULE(op, by_first, by_second)                               \
  static const PairOp pair_##op{                                               \
      #op,                                                                     \
      Special::op,                                                             \
      {[](const Tensor& x, const Tensor& y) -> Tensor { return by_first; },    \
       [](const Tensor& x, const Tensor& y) -> Tensor { return by_second; }}}; \
  static const Rule rule_##op{#op, pair_vjp};
#define LIBDL_PAIR(op, by_first, by_second)                               \
  LIBDL_PAIR_RULE(op, by_first, by_second)                                \
  Tensor op##_impl(const Tensor& input, const Tensor& other, Into into) { \
    return pair(pair_##op, rule_##op, input, other, into);                \
  }

// x / (x^2 + y^2), without squares, which may overflow or vanish; 0 at the origin, as in PyTorch.
static Tensor by_squared_length(const Tensor& x, const Tensor& y) {
  const Tensor zero = number(0.0), origin = logical_and(eq(x, zero), eq(y, zero));
  const Tensor length = hypot(where(origin, number(1.0), x), y);
  return where(origin, zero, x / length / length);
}
LIBDL_PAIR(atan2, by_squared_length(y, x), -by_squared_length(x, y))
LIBDL_PAIR(hypot, x / hypot(x, y), y / hypot(x, y))

// x^(a - 1) exp(-x) / gamma(a). Of large orders by Stirling's series, about the largest value: a
// log(x) - x itself would lose digits.
static Tensor gamma_density(const Tensor& a, const Tensor& x) {
  const Tensor large = ge(a, number(11.0)), small = where(large, number(1.0), a);
  const Tensor power = where(large, a, number(11.0)) + -1.0, off = (x - power) / power;
  const Tensor z = reciprocal(power * power);
  const Tensor series = ((z * (1.0 / 1188) + -1.0 / 1680) * z + 1.0 / 1260) * z + -1.0 / 360;
  const Tensor stirling = (series * z + 1.0 / 12) / power;
  const Tensor about = exp(power * (log1p(off) - off) - stirling) * rsqrt(power);
  return where(large, about * (1 / kSqrt2Pi), exp((small + -1.0) * log(x) - x - lgamma(small)));
}
[[noreturn]] static Tensor no_slope(const char* op, const Tensor&, const Tensor&) {
  fail_argument(LIBDL_ERROR_UNSUPPORTED, op, "input", "requires grad", "an order that does not");
}
LIBDL_PAIR(igamma, no_slope("igamma", x, y), gamma_density(x, y))
LIBDL_PAIR(igammac, no_slope("igammac", x, y), -gamma_density(x, y))

// x + log(1 + exp(y - x)), with x the one whose real part is larger. Of -inf nothing is added.
static Tensor logaddexp_in_plane(const Tensor& input, const Tensor& other, Into into) {
  static constexpr const char* kNames[] = {"input", "other"};
  const Tensor* const operands[] = {&input, &other};
  const Shape shape = broadcast_shape("logaddexp", kNames, operands);
  const Dtype dtype = result_dtype(operands);
  const Named named("logaddexp");
  const Tensor x = expand(cast(input, dtype), shape), y = expand(cast(other, dtype), shape);
  const Tensor x_size = real(detach(x)), y_size = real(detach(y));
  const Tensor none = number(-std::numeric_limits<double>::infinity()), zero = number(0.0);
  const Tensor nothing = eq(x_size, none);
  const Tensor swaps = logical_or(nothing, lt(x_size, y_size));
  const Tensor larger = where(swaps, y, x), smaller = where(swaps, x, y);
  const Tensor alone = logical_or(nothing, eq(y_size, none));
  const Tensor from = where(alone, zero, larger), less = where(alone, zero, smaller);
  const Tensor sum = add(from, log1p(exp(sub(less, from))));
  return write_result("logaddexp", named(where(alone, larger, sum)), into, {&input, &other});
}

LIBDL_PAIR_RULE(logaddexp, sigmoid(x - y), sigmoid(y - x))
Tensor logaddexp_impl(const Tensor& input, const Tensor& other, Into into) {
  if (input.is_complex() || other.is_complex()) return logaddexp_in_plane(input, other, into);
  return pair(pair_logaddexp, rule_logaddexp, input, other, into);
}
LIBDL_PAIR(logaddexp2, sigmoid((x - y) * std::numbers::ln2), sigmoid((y - x) * std::numbers::ln2))

}  // namespace libdl
