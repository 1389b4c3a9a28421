// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "ops/creation/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/bitwise.h"
#include "ops/pointwise/comparison.h"
#include "ops/pointwise/exponential.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduction/reduce_plan.h"
#include "ops/reduction/reduction.h"
#include "ops/view/view.h"
#include "runtime/float_environment.h"

namespace libdl {

// J t = Re sum(conj(gradient(1)) t) for reductions that make one real number of each group.
template <class Gradient>
static Tensor along(const Tensor& y, const Tensor& t, const ReducedDims& r, bool keepdim,
                    Gradient gradient) {
  const Tensor ones = full(y.shape(), number(1.0), y.dtype(), y.device());
  const Tensor moved = sum(mul(conj(gradient(ones)), t), Dims(r.reduced()), keepdim);
  return contiguous(real(moved));
}

// -- variance -----------------------------------------------------------------------------------

namespace {
struct VarAttr {
  ReducedDims dims;
  double divisor;        // n - correction; as in PyTorch below 0 too where dimensions are given
  bool endless = false;  // of all elements, and no more of them than the correction
};
}  // namespace

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
  return mul(mul(a.dims.kept(dy), centred), number(2 / a.divisor));
}
// std: dx = dy (x - mean) / ((n - correction) y), 0 where y is 0
static Tensor std_gradient(const Tensor& dy, const Tensor& x, const Tensor& y, const VarAttr& a) {
  const Tensor some = ne(y, number(0.0));
  const Tensor ratio = where(some, div(dy, where(some, y, number(1.0))), number(0.0));
  return mul(var_gradient(ratio, x, a), number(0.5));
}
static void var_vjp(Backward& b) {
  b.set_grad(0, var_gradient(b.dy(), b.saved(0), b.attr<VarAttr>()));
}
static void std_vjp(Backward& b) {
  b.set_grad(0, std_gradient(b.dy(), b.saved(0), b.saved(1), b.attr<VarAttr>()));
}
static const Rule kVar{"var", var_vjp}, kStd{"std", std_vjp};

// Of complex numbers: the mean of |x - mean|^2, that is both parts' variances added.
static Tensor measured(const Tensor& x, const ReducedDims& r, bool keepdim, double correction,
                       bool root) {
  const auto measure = [&](const Tensor& part, bool now) {
    return reduce(kernels::Reduction::kVar, part, r, keepdim, part.dtype(), correction, now);
  };
  if (!x.is_complex()) return measure(x, root);
  const Tensor both = add(measure(real(x), false), measure(imag(x), false));
  return root ? sqrt(both) : both;
}

static Tensor spread(const char* op, const Tensor& input, std::optional<Dims> dims,
                     const Tensor* correction, bool keepdim, bool root, Into into) {
  const DefaultFloatEnvironment environment;
  Call call(op, into, {&input});
  if (!is_inexact(input.dtype()))
    call.bad(LIBDL_ERROR_DTYPE, 1, "input", std::string("is ") + name_of(input.dtype()),
             "a floating or complex dtype");
  const ReducedDims r(input.shape(), call.axes(2, "dims", dims, input.ndim()));
  if (correction && (correction->ndim() != 0 || correction->is_complex()))
    call.bad(LIBDL_ERROR_VALUE, 3, "correction", "is no real number", "a number");
  const double c = correction ? item_f64(*correction) : 1.0;
  const double divisor = static_cast<double>(r.count()) - c;
  const bool whole = !dims || input.ndim() == 0;
  const VarAttr attr{r, whole ? std::max(divisor, 0.0) : divisor};
  VarAttr of_gradient = attr;
  of_gradient.endless = whole && divisor <= 0;
  Tensor y = measured(input, r, keepdim, c, root);
  const auto jvp = [&](const Tensor& z) {
    return along(z, call.tangent(0), r, keepdim, [&](const Tensor& ones) {
      return root ? std_gradient(ones, input, z, attr) : var_gradient(ones, input, attr);
    });
  };
  return root ? call.done(y, kStd, of_gradient, {saves_input(input, 0), saves_output(y, 0)}, jvp)
              : call.done(y, kVar, of_gradient, {saves_input(input, 0)}, jvp);
}

Tensor var(const Tensor& input, std::optional<Dims> dims, const Tensor* correction, bool keepdim,
           Into into) {
  LIBDL_OBSERVED(var, input, dims, correction, keepdim, into);
  return spread("var", input, dims, correction, keepdim, false, into);
}
Tensor std(const Tensor& input, std::optional<Dims> dims, const Tensor* correction, bool keepdim,
           Into into) {
  LIBDL_OBSERVED(std, input, dims, correction, keepdim, into);
  return spread("std", input, dims, correction, keepdim, true, into);
}

// -- norms --------------------------------------------------------------------------------------

namespace {
struct NormAttr {
  ReducedDims dims;
  double p;
};
}  // namespace

// dx = dy sign(x) (|x| / y)^(p - 1), 0 where y is 0; for infinite p the largest share dy.
static Tensor norm_gradient(const Tensor& dy, const Tensor& x, const Tensor& y, const NormAttr& a) {
  const DefaultFloatEnvironment environment;
  const Tensor zero = number(0.0);
  const Tensor kept = a.dims.kept(y), dY = a.dims.kept(dy);
  // Divided by 1 where the norm is 0, so that no NaN reaches a second derivative.
  const Tensor some = ne(kept, zero), Y = where(some, kept, number(1.0));
  if (a.p == 0) return zeros(x.shape(), dy.dtype(), dy.device());
  if (a.p == 1) return mul(dY, sign(x));
  if (a.p == 2) return where(some, mul(x, div(dY, Y)), zero);
  if (std::isinf(a.p)) {
    Tensor share;
    {
      const ModeGuard off(kModeGrad | kModeForward);
      share = cast(eq(abs(x), kept), dy.dtype());
      share = div(share, sum(share, Dims(a.dims.reduced()), true));
    }
    return mul(mul(dY, sign(x)), share);
  }
  // Below p = 1 the power of 0 is infinite; below 0 one x = 0 makes y = 0, which no other x
  // changes. There an infinite x changes nothing either, as long as another one is finite.
  Tensor defined = a.p < 1 ? logical_and(ne(x, zero), some) : some;
  if (a.p < 0) defined = logical_and(defined, logical_not(ne(isinf(x), isinf(kept))));
  const Tensor size = a.p < 1 ? where(defined, abs(x), number(1.0)) : abs(x);
  const Tensor ratio = pow(div(size, Y), number(a.p - 1));
  return where(defined, mul(mul(dY, sign(x)), ratio), zero);
}
static void norm_vjp(Backward& b) {
  b.set_grad(0, norm_gradient(b.dy(), b.saved(0), b.saved(1), b.attr<NormAttr>()));
}
static const Rule kNorm{"norm", norm_vjp};

Tensor norm(const Tensor& input, const Tensor* p, std::optional<Dims> dims, bool keepdim,
            Dtype dtype, Into into) {
  LIBDL_OBSERVED(norm, input, p, dims, keepdim, dtype, into);
  const char* const op = "norm";
  if (p && (p->ndim() != 0 || p->is_complex()))
    fail_argument(LIBDL_ERROR_VALUE, op, 2, "p", "is no real number", "a number");
  const Dtype type = dtype == Dtype::kNone ? input.dtype() : dtype;
  if (!is_inexact(type))
    fail_argument(LIBDL_ERROR_DTYPE, op, 1, "input", std::string("is ") + name_of(type),
                  "a floating or complex dtype, or dtype=");
  const double order = p ? item_f64(*p) : 2.0;
  // |x| has no second derivative at 0; of the sum of squares the derivative is x's own.
  const Dtype wide = input.is_complex() && is_floating(type) ? complex_of(type) : type;
  const Tensor given = cast(input, wide);
  const bool squares = given.is_complex() && order == 2;
  const Tensor x = given.is_complex() && !squares ? abs(given) : given;
  Call call(op, into, {&x});
  const ReducedDims r(x.shape(), call.axes(3, "dims", dims, x.ndim()));
  const NormAttr attr{r, order};
  if (std::isnan(attr.p)) call.bad(LIBDL_ERROR_VALUE, 2, "p", "is NaN", "a number");
  if (r.count() == 0 && (attr.p < 0 || std::isinf(attr.p)))
    call.bad(LIBDL_ERROR_SHAPE, 1, "input", "has nothing to take that norm of", "an element");
  // One element's norm is its magnitude: its power might overflow.
  const double power = r.count() == 1 && attr.p != 0 ? 1.0 : attr.p;
  const Tensor size = squares ? abs(x) : x;
  Tensor y = reduce(kernels::Reduction::kNorm, size, r, keepdim, size.dtype(), power);
  return call.done(y, kNorm, attr, {saves_input(x, 0), saves_output(y, 0)}, [&](const Tensor& z) {
    return along(z, call.tangent(0), r, keepdim,
                 [&](const Tensor& ones) { return norm_gradient(ones, x, z, attr); });
  });
}

// -- log sum exp ----------------------------------------------------------------------------------

// dx = dy conj(exp(x - y)): the softmax.
static Tensor logsumexp_derivative(const Tensor& x, const Tensor& y, const ReducedDims& r) {
  return exp(sub(x, r.kept(y)));
}
static void logsumexp_vjp(Backward& b) {
  const ReducedDims& r = b.attr<ReducedDims>();
  b.set_grad(0, mul(r.kept(b.dy()), conj(logsumexp_derivative(b.saved(0), b.saved(1), r))));
}
static const Rule kLogsumexp{"logsumexp", logsumexp_vjp};

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

Tensor logsumexp(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into) {
  LIBDL_OBSERVED(logsumexp, input, dims, keepdim, into);
  const Tensor x =
      cast(input, term_dtype(is_inexact(input.dtype()) ? input.dtype() : default_dtype(), into));
  Call call("logsumexp", into, {&x});
  const ReducedDims r(x.shape(), call.axes(2, "dims", dims, x.ndim()));
  Tensor y = x.is_complex() ? logsumexp_complex(x, r, keepdim)
                            : reduce(kernels::Reduction::kLogsumexp, x, r, keepdim, x.dtype());
  return call.done(y, kLogsumexp, r, {saves_input(x, 0), saves_output(y, 0)}, [&](const Tensor& z) {
    return sum(mul(logsumexp_derivative(x, z, r), call.tangent(0)), Dims(r.reduced()), keepdim);
  });
}

}  // namespace libdl
