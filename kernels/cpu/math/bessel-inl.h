// SPDX-License-Identifier: Apache-2.0

// Modified Bessel functions of the first kind, of the orders 0 and 1, for V = Lanes<double, 24>: of
// floats, for results that become floats.
#if defined(LIBDL_KERNELS_CPU_MATH_BESSEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_BESSEL_INL_H
#undef LIBDL_KERNELS_CPU_MATH_BESSEL_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_BESSEL_INL_H
#endif

#include "kernels/cpu/math/exp-inl.h"
#include "kernels/cpu/math/special_coefficients.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// exp(-x) I(x) of what is not below 0: one polynomial up to 8, times x for the order 1, and one of
// the reciprocal beyond.
template <int kOrder, class V, size_t kNear, size_t kFar>
HWY_INLINE V bessel_above(V x, const double (&near)[kNear], const double (&far)[kFar]) {
  const auto beyond = x > V(8);
  V y = polynomial(x - V(4), near);
  if constexpr (kOrder == 1) y = x * y;
  if (!any(beyond)) return y;
  const V inverse = V(1) / x;
  return select(beyond, polynomial(inverse, far) * sqrt(inverse), y);
}
template <class V>
HWY_INLINE V i0e(V x) {
  return bessel_above<0>(abs(x), coefficients::kBessel0Near, coefficients::kBessel0Far);
}
template <class V>
HWY_INLINE V i1e(V x) {
  const V y = bessel_above<1>(abs(x), coefficients::kBessel1Near, coefficients::kBessel1Far);
  return select(x < V(), -y, y);
}
template <class V>
HWY_INLINE V unscaled(V scaled, V x) {
  const V a = abs(x), y = scaled * exp(at_most(a, V(700)));
  return select(a == infinity<V>(), copysign(a, scaled), y);
}
template <class V>
HWY_INLINE V i0(V x) {
  return unscaled(i0e(x), x);
}
template <class V>
HWY_INLINE V i1(V x) {
  return unscaled(i1e(x), x);
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
