// SPDX-License-Identifier: Apache-2.0

// The complement of the error function, its relatives and its inverse, for V = Lanes<double, 24>:
// of floats, for results that become floats. Squares are exact.
#if defined(LIBDL_KERNELS_CPU_MATH_NORMAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_NORMAL_INL_H
#undef LIBDL_KERNELS_CPU_MATH_NORMAL_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_NORMAL_INL_H
#endif

#include <numbers>

#include "kernels/cpu/math/exp-inl.h"
#include "kernels/cpu/math/short_log-inl.h"
#include "kernels/cpu/math/special_coefficients.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// exp(x^2) erfc(x) of what is not below 0. One reciprocal serves both quotients.
template <class V>
HWY_INLINE V erfcx_above(V x) {
  const V middle(coefficients::kErfcxMiddle), c = at_most(x, V(0x1p200));
  const V up = c + middle, twice = fma(V(2), c, V(1)), inverse = reciprocal(up * twice);
  const V t = (c - middle) * twice * inverse;
  return polynomial(t, coefficients::kErfcx) * up * inverse;
}
// exp(-x^2 / 2^kHalves); 0 where floats are.
template <int kHalves, class V>
HWY_INLINE V falling(V x) {
  const V c = at_most(abs(x), V(40));
  return exp(c * c * V(kHalves ? -0.5 : -1));
}

template <class V>
HWY_INLINE V erfc(V x) {
  const V beyond = falling<0>(x) * erfcx_above(abs(x));
  return select(x < V(), V(2) - beyond, beyond);
}
template <class V>
HWY_INLINE V erfcx(V x) {
  const V above = erfcx_above(abs(x)), c = at_least(x, V(-25));  // a float overflows from -9.4 on
  return select(x < V(), V(2) * exp(c * c) - above, above);
}

// exp(x^2 / 2) Phi(-|x|).
template <class V>
HWY_INLINE V normal_beyond_scaled(V x) {
  return V(0.5) * erfcx_above(abs(x) * V(std::numbers::sqrt2 / 2));
}
template <class V>
HWY_INLINE V ndtr(V x) {
  const V beyond = falling<1>(x) * normal_beyond_scaled(x);
  return select(x < V(), beyond, V(1) - beyond);
}
template <class V>
HWY_INLINE V log_ndtr(V x) {
  const V scaled = normal_beyond_scaled(x);
  const V below = fma(x * x, V(-0.5), short_log(scaled)), above = log1p(-(scaled * falling<1>(x)));
  return select(x < V(), below, above);
}

// erf^-1(x) / x of w = -short_log(1 - x^2).
template <bool kWhole, class V>
HWY_INLINE V erfinv_factor(V w) {
  V y = polynomial(w - V(2.5), coefficients::kErfinvNear);
  const auto far = w > V(5);
  if (!any(far)) return y;
  const V root = sqrt(w);
  y = select(far, polynomial(root - V(3.25), coefficients::kErfinvFar), y);
  if constexpr (!kWhole) return y;
  const auto beyond = root > V(4.2);
  if (!any(beyond)) return y;
  return select(beyond, polynomial(root - V(7.25), coefficients::kErfinvTail), y);
}
template <class V>
HWY_INLINE V erfinv(V x) {
  const V w = -short_log((V(1) - x) * (V(1) + x));
  const V y = x * erfinv_factor<false>(w);
  return select(w == infinity<V>(), copysign(w, x), y);
}
// Between 0 and 1 of floats w goes up to 103.
template <class V>
HWY_INLINE V ndtri(V p) {
  const V x = fma(V(2), p, V(-1)), w = -short_log(V(4) * p * (V(1) - p));
  const V y = V(std::numbers::sqrt2) * x * erfinv_factor<true>(w);
  return select(w == infinity<V>(), copysign(w, x), y);
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
