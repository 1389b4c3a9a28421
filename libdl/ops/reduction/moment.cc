// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/exponential.h"
#include "entries/reduction.h"
#include "entries/special.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/summed.h"
#include "ops/reduction/reduce_plan.h"
#include "ops/reduction/reduction.h"
#include "runtime/float_environment.h"

namespace libdl {

// What a rule reads, in the dtype in which it computes.
static Tensor wide(const Tensor& x) { return cast(x, summed_as(x.dtype())); }

// J t = Re sum(conj(gradient(1)) t) for reductions that make one real number y of each group of x,
// where gradient(dy, x, y); dy has the reduced dimensions. The 16-bit dtypes, in which a share of
// many elements is 0, compute in float32.
template <class Gradient>
static Tensor along(const Tensor& x, const Tensor& y, const Tensor& t, const ReducedDims& r,
                    bool keepdim, Gradient gradient) {
  const Tensor measured = wide(y);
  const Tensor ones = full(r.kept_shape(), number(1.0), measured.dtype(), y.device());
  const Tensor slope = conj(gradient(ones, wide(x), measured));
  const Tensor moved = sum(mul(slope, wide(t)), Dims(r.reduced()), keepdim);
  return cast(contiguous(real(moved)), y.dtype());
}

// -- variance -----------------------------------------------------------------------------------

namespace {
struct VarAttr {
  ReducedDims dims;
  double divisor;        // n - correction; as in PyTorch below 0 too where dimensions are given
  bool endless = false;  // of all elements, and no more of them than the correction
};
}  // namespace

// In these dy has the reduced dimensions, of size 1, and may have a batch in front.
// var: dx = dy 2 (x - mean) / (n - correction); dy is real where x is complex
static Tensor var_gradient(const Tensor& dy, const Tensor& x, const VarAttr& a) {
  const DefaultFloatEnvironment environment;
  if (a.endless) {  // as in PyTorch infinite whatever the sign of x - mean, and constant
    const ModeGuard off(kModeForward);
    const Tensor still = detach(x), at_mean = eq(still, mean(still, {}, false));
    const Tensor derivative = where(at_mean, number(std::nan("")), number(INFINITY));
    return cast(mul(dy, cast(derivative, dy.dtype())), x.dtype());
  }
  const Tensor centred = sub(x, mean(x, Dims(a.dims.reduced()), true));
  return mul(mul(dy, centred), number(2 / a.divisor));
}
// std: dx = dy (x - mean) / ((n - correction) y), 0 where y is 0
static Tensor std_gradient(const Tensor& dy, const Tensor& x, const Tensor& y, const VarAttr& a) {
  const Tensor kept = a.dims.kept(y);
  const Tensor some = ne(kept, number(0.0)), Y = where(some, kept, number(1.0));
  const Tensor share = where(some, dy, number(0.0));
  if (a.endless) return mul(var_gradient(div(share, Y), x, a), number(0.5));
  const DefaultFloatEnvironment environment;
  const Tensor centred = sub(x, mean(x, Dims(a.dims.reduced()), true));
  // The distance from the mean is divided first: y may be so small that dy / y would be infinite.
  return mul(div(centred, Y), mul(share, number(1 / a.divisor)));
}
static void var_vjp(Backward& b) {
  const Tensor x = b.saved(0);
  const VarAttr& a = b.attr<VarAttr>();
  b.set_grad(0, cast(var_gradient(a.dims.kept(wide(b.dy()), b), wide(x), a), x.dtype()));
}
static void std_vjp(Backward& b) {
  const Tensor x = b.saved(0), y = wide(b.saved(1));
  const VarAttr& a = b.attr<VarAttr>();
  b.set_grad(0, cast(std_gradient(a.dims.kept(wide(b.dy()), b), wide(x), y, a), x.dtype()));
}
static const Rule kVar{.name = "var", .vjp = var_vjp, .takes_batch = true},
    kStd{.name = "std", .vjp = std_vjp, .takes_batch = true};

// Of complex numbers: the mean of |x - mean|^2, that is both parts' variances added.
static Tensor measured(const Tensor& x, const ReducedDims& r, bool keepdim, double correction,
                       bool root) {
  const auto measure = [&](const Tensor& part, bool now) {
    return reduce(kernels::Reduction::kVar, part, r, keepdim, part.dtype(), correction, now);
  };
  if (!x.is_complex()) return measure(x, root);
  if (root) return hypot(measure(real(x), true), measure(imag(x), true));
  return add(measure(real(x), false), measure(imag(x), false));
}

static Tensor spread(const char* op, const Tensor& input, std::optional<Dims> dims,
                     const Tensor* correction, bool keepdim, bool root, Into into) {
  const DefaultFloatEnvironment environment;
  Call call(op, into, {&input});
  if (!is_inexact(input.dtype()))
    call.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(input.dtype()),
             "a floating or complex dtype");
  const ReducedDims r(input.shape(), call.axes("dims", dims, input.ndim()));
  if (correction && (correction->ndim() != 0 || correction->is_complex()))
    call.bad(LIBDL_ERROR_VALUE, "correction", "is no real number", "a number");
  const double c = correction ? item_f64(*correction) : 1.0;
  const double divisor = static_cast<double>(r.count()) - c;
  const bool whole = !dims || input.ndim() == 0;
  const VarAttr attr{r, whole ? std::max(divisor, 0.0) : divisor};
  VarAttr of_gradient = attr;
  of_gradient.endless = whole && divisor <= 0;
  Tensor y = measured(input, r, keepdim, c, root);
  const auto jvp = [&](const Tensor& z) {
    const auto gradient = [&](const Tensor& ones, const Tensor& x, const Tensor& spread) {
      return root ? std_gradient(ones, x, spread, attr) : var_gradient(ones, x, attr);
    };
    return along(input, z, call.tangent(0), r, keepdim, gradient);
  };
  return root ? call.done(y, kStd, of_gradient, {saves_input(input, 0), saves_output(y, 0)}, jvp)
              : call.done(y, kVar, of_gradient, {saves_input(input, 0)}, jvp);
}

Tensor var_impl(const Tensor& input, std::optional<Dims> dims, const Tensor* correction,
                bool keepdim, Into into) {
  return spread("var", input, dims, correction, keepdim, false, into);
}
Tensor std_impl(const Tensor& input, std::optional<Dims> dims, const Tensor* correction,
                bool keepdim, Into into) {
  return spread("std", input, dims, correction, keepdim, true, into);
}

// -- norms --------------------------------------------------------------------------------------

namespace {
struct NormAttr {
  ReducedDims dims;
  double p;
};
}  // namespace

// The largest, or NaNs, of which one wins, share dy.
static Tensor shares_of_extrema(const Tensor& dy, const Tensor& x, const Tensor& y, Dims reduced) {
  Tensor found, count;
  {
    const ModeGuard off(kModeGrad | kModeForward);
    found = logical_or(eq(abs(x), y), isnan(x));
    count = cast(sum(found, reduced, true), dy.dtype());
  }
  return where(found, div(mul(dy, sign(x)), count), number(0.0));
}

// dx = dy sign(x) (|x| / y)^(p - 1), 0 where y is 0; for infinite p the largest share dy. dy as for
// the variance.
static Tensor norm_gradient(const Tensor& dy, const Tensor& x, const Tensor& y, const NormAttr& a) {
  const DefaultFloatEnvironment environment;
  const Tensor zero = number(0.0);
  const Tensor kept = a.dims.kept(y);
  // Divided by 1 where the norm is 0, so that no NaN reaches a second derivative.
  const Tensor some = ne(kept, zero), Y = where(some, kept, number(1.0));
  if (a.p == 0) {
    Shape shape(x.shape());
    if (dy.ndim() > x.ndim()) shape.insert(0, dy.size(0));
    return zeros(shape, dy.dtype(), dy.device());
  }
  if (a.p == 1) return mul(dy, sign(x));
  // In this order neither quotient nor product leaves the range before the gradient does.
  if (a.p == 2) return mul(div(x, Y), where(some, dy, zero));
  if (std::isinf(a.p)) return shares_of_extrema(dy, x, kept, Dims(a.dims.reduced()));
  // Below p = 1 the power of 0 is infinite; below 0 one x = 0 makes y = 0, which no other x
  // changes. There an infinite x changes nothing either, as long as another one is finite.
  Tensor defined = a.p < 1 ? logical_and(ne(x, zero), some) : some;
  if (a.p < 0) defined = logical_and(defined, logical_not(ne(isinf(x), isinf(kept))));
  const Tensor size = a.p < 1 ? where(defined, abs(x), number(1.0)) : abs(x);
  // Of a small power the quotient may leave the range before the power does; a large power itself
  // may.
  const bool apart = a.p > 0 && a.p < 2;
  const Tensor ratio = apart ? mul(pow(size, number(a.p - 1)), pow(Y, number(1 - a.p)))
                             : pow(div(size, Y), number(a.p - 1));
  return where(defined, mul(mul(dy, sign(x)), ratio), zero);
}
static void norm_vjp(Backward& b) {
  const Tensor x = b.saved(0), y = wide(b.saved(1));
  const NormAttr& a = b.attr<NormAttr>();
  b.set_grad(0, cast(norm_gradient(a.dims.kept(wide(b.dy()), b), wide(x), y, a), x.dtype()));
}
static const Rule kNorm{.name = "norm", .vjp = norm_vjp, .takes_batch = true};

Tensor norm_impl(const Tensor& input, const Tensor* p, std::optional<Dims> dims, bool keepdim,
                 Dtype dtype, Into into) {
  const char* const op = "norm";
  if (p && (p->ndim() != 0 || p->is_complex()))
    fail_argument(LIBDL_ERROR_VALUE, op, "p", "is no real number", "a number");
  const Dtype type = dtype == Dtype::kNone ? input.dtype() : dtype;
  if (!is_inexact(type))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(type),
                  "a floating or complex dtype, or dtype=");
  const double order = p ? item_f64(*p) : 2.0;
  // |x| has no second derivative at 0; of the sum of squares the derivative is x's own.
  const Dtype held = input.is_complex() && is_floating(type) ? complex_of(type) : type;
  const Tensor given = cast(input, held);
  const bool squares = given.is_complex() && order == 2;
  const Tensor x = given.is_complex() && !squares ? abs(given) : given;
  Call call(op, into, {&x});
  const ReducedDims r(x.shape(), call.axes("dims", dims, x.ndim()));
  const NormAttr attr{r, order};
  if (std::isnan(attr.p)) call.bad(LIBDL_ERROR_VALUE, "p", "is NaN", "a number");
  if (r.count() == 0 && (attr.p < 0 || std::isinf(attr.p)))
    call.bad(LIBDL_ERROR_SHAPE, "input", "has nothing to take that norm of", "an element");
  // One element's norm is its magnitude: its power might overflow.
  const double power = r.count() == 1 && attr.p != 0 ? 1.0 : attr.p;
  const Tensor size = squares ? abs(x) : x;
  Tensor y = reduce(kernels::Reduction::kNorm, size, r, keepdim, size.dtype(), power);
  return call.done(y, kNorm, attr, {saves_input(x, 0), saves_output(y, 0)}, [&](const Tensor& z) {
    const auto gradient = [&](const Tensor& ones, const Tensor& given, const Tensor& size) {
      return norm_gradient(ones, given, size, attr);
    };
    return along(x, z, call.tangent(0), r, keepdim, gradient);
  });
}

// -- log sum exp ----------------------------------------------------------------------------------

// dx = dy conj(w / sum(w)) with w = exp(x - y): the softmax. The sum is 1 but for y's rounding,
// which is not small beside 1 if y is large, or of 16 bits.
static Tensor logsumexp_derivative(const Tensor& x, const Tensor& y, const ReducedDims& r) {
  const Tensor weights = exp(sub(x, r.kept(y)));
  const Shape dims = r.reduced();
  const Tensor total = sum(weights, Dims(dims), true);
  return div(weights, where(isfinite(total), total, number(1.0)));
}
static void logsumexp_vjp(Backward& b) {
  const ReducedDims& r = b.attr<ReducedDims>();
  const Tensor x = b.saved(0), y = wide(b.saved(1));
  const Tensor derivative = logsumexp_derivative(wide(x), y, r);
  b.set_grad(0, cast(mul(r.kept(wide(b.dy()), b), conj(derivative)), x.dtype()));
}
static const Rule kLogsumexp{.name = "logsumexp", .vjp = logsumexp_vjp, .takes_batch = true};

// Of complex numbers, by steps: log(sum(exp(x - m))) + m, with the largest real part as m.
static Tensor logsumexp_complex(const Tensor& x, const ReducedDims& r, bool keepdim) {
  const ModeGuard off(kModeGrad | kModeForward);
  const Shape dims = r.reduced();
  if (r.count() == 0) return log(sum(x, Dims(dims), keepdim));
  const Tensor largest = amax(real(x), Dims(dims), true);
  const Tensor m = where(isfinite(largest), largest, number(0.0));
  const Tensor y = add(log(sum(exp(sub(x, m)), Dims(dims), true)), m);
  return reshape(y, r.result_shape(keepdim));
}

Tensor logsumexp_impl(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into) {
  const Tensor x =
      cast(input, term_dtype(is_inexact(input.dtype()) ? input.dtype() : default_dtype(), into));
  Call call("logsumexp", into, {&x});
  const ReducedDims r(x.shape(), call.axes("dims", dims, x.ndim()));
  Tensor y = x.is_complex() ? logsumexp_complex(x, r, keepdim)
                            : reduce(kernels::Reduction::kLogsumexp, x, r, keepdim, x.dtype());
  return call.done(y, kLogsumexp, r, {saves_input(x, 0), saves_output(y, 0)}, [&](const Tensor& z) {
    const Tensor slope = mul(logsumexp_derivative(wide(x), wide(z), r), wide(call.tangent(0)));
    return sum(slope, Dims(r.reduced()), keepdim, x.dtype());
  });
}

}  // namespace libdl
