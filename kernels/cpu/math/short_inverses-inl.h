// SPDX-License-Identifier: Apache-2.0

// Inverses of circular and hyperbolic functions for results of 16 bits, V = Lanes<float>: of
// float16 and bfloat16, within 2^-20.
#if defined(LIBDL_KERNELS_CPU_MATH_SHORT_INVERSES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_SHORT_INVERSES_INL_H
#undef LIBDL_KERNELS_CPU_MATH_SHORT_INVERSES_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_SHORT_INVERSES_INL_H
#endif

#include <numbers>

#include "kernels/cpu/math/log-inl.h"
#include "kernels/cpu/math/special_coefficients.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math::short_results {

constexpr float kPi = std::numbers::pi_v<float>;

// As half_asin (inverses-inl.h).
template <class V>
HWY_INLINE V half_asin(V a, Truth<float> near) {
  const V square = select(near, a * a, V(0.5f) * (V(1) - a));
  const V r = select(near, a, sqrt(square));
  return fma(r * square, polynomial(square, coefficients::kShortAsin), r);
}
template <class V>
HWY_INLINE V asin(V x) {
  const V a = abs(x);
  const auto near = a <= V(0.5f);
  const V part = half_asin(a, near);
  return copysign(select(near, part, V(kPi / 2) - (part + part)), x);
}
template <class V>
HWY_INLINE V acos(V x) {
  const V a = abs(x);
  const auto near = a <= V(0.5f);
  const V part = half_asin(a, near), twice = part + part;
  const V far = select(x < V(), V(kPi) - twice, twice);
  return select(near, V(kPi / 2) - copysign(part, x), far);
}
template <class V>
HWY_INLINE V atan(V x) {
  const V a = at_most(abs(x), V(0x1p40f)), one(1);
  const auto steep = a > one;
  const V low = select(steep, one, a), high = select(steep, a, one);
  const auto wide = low > high * V(std::numbers::sqrt2_v<float> - 1);  // is turned by -pi / 4
  const V r = select(wide, low - high, low) * reciprocal(select(wide, low + high, high));
  const V square = r * r;
  const V near = fma(r * square, polynomial(square, coefficients::kShortAtan), r);
  const V angle = select(wide, V(kPi / 4) + near, near);
  return copysign(select(steep, V(kPi / 2) - angle, angle), x);
}
// The logarithm of a quotient, which loses digits below 1/4: there the series.
template <class V>
HWY_INLINE V atanh(V x) {
  const V a = abs(x), one(1), square = a * a;
  const V far = V(0.5f) * log((one + a) * reciprocal(at_least(one - a, V(0x1p-40f))));
  constexpr float series[] = {1.0f / 3, 1.0f / 5, 1.0f / 7, 1.0f / 9, 1.0f / 11};
  const V near = fma(a * square, polynomial(square, series), a);
  const V limit = select(a == one, infinity<V>(), V(std::numeric_limits<float>::quiet_NaN()));
  return copysign(select(a < one, select(a < V(0.25f), near, far), limit), x);
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math::short_results
HWY_AFTER_NAMESPACE();

#endif
