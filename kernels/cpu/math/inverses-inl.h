// SPDX-License-Identifier: Apache-2.0

// Hyperbolic functions and the inverses of circular and hyperbolic ones, for V = Lanes<double, 24>:
// of floats, for results that become floats. Squares neither overflow nor lose bits.
#if defined(LIBDL_KERNELS_CPU_MATH_INVERSES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_INVERSES_INL_H
#undef LIBDL_KERNELS_CPU_MATH_INVERSES_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_INVERSES_INL_H
#endif

#include <numbers>

#include "kernels/cpu/math/exp-inl.h"
#include "kernels/cpu/math/short_log-inl.h"
#include "kernels/cpu/math/special_coefficients.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// Beyond this every float's hyperbolic sine is infinite.
constexpr double kMostHyperbolic = 100;

template <class V>
HWY_INLINE V sinh(V x) {
  const V e = expm1(at_most(abs(x), V(kMostHyperbolic)));
  return copysign(V(0.5) * fma(e, reciprocal(e + V(1)), e), x);
}
template <class V>
HWY_INLINE V cosh(V x) {
  const V e = exp(at_most(abs(x), V(kMostHyperbolic)));
  return V(0.5) * (e + reciprocal(e));
}

template <class V>
HWY_INLINE V asin_near_zero(V r, V square) {
  return fma(r * square, polynomial(square, coefficients::kAsin), r);
}
// Of |x|: asin(r) of |x| itself, or from 1/2 on of r = sqrt((1 - |x|) / 2), to be doubled.
template <class V>
HWY_INLINE V half_asin(V a, Truth<double> near) {
  const V square = select(near, a * a, V(0.5) * (V(1) - a));
  return asin_near_zero(select(near, a, sqrt(square)), square);
}
template <class V>
HWY_INLINE V asin(V x) {
  const V a = abs(x);
  const auto near = a <= V(0.5);
  const V part = half_asin(a, near);
  return copysign(select(near, part, V(std::numbers::pi / 2) - (part + part)), x);
}
template <class V>
HWY_INLINE V acos(V x) {
  const V a = abs(x);
  const auto near = a <= V(0.5);
  const V part = half_asin(a, near), twice = part + part;
  const V far = select(x < V(), V(std::numbers::pi) - twice, twice);
  return select(near, V(std::numbers::pi / 2) - copysign(part, x), far);
}

// The angle from 0 to pi / 2 of a point with coordinates from 0 to kFarthest. 0 / 0 counts as 0.
constexpr double kFarthest = 0x1p400, kNearest = 0x1p-400;
template <class V>
HWY_INLINE V angle_of(V x, V y) {
  const auto steep = y > x;
  const V low = select(steep, x, y), high = at_least(select(steep, y, x), V(kNearest));
  const auto wide = low > high * V(std::numbers::sqrt2 - 1);  // is turned by -pi / 4
  const V r = select(wide, low - high, low) * reciprocal(select(wide, low + high, high));
  const V square = r * r, near = fma(r * square, polynomial(square, coefficients::kAtan), r);
  const V angle = select(wide, V(std::numbers::pi / 4) + near, near);
  return select(steep, V(std::numbers::pi / 2) - angle, angle);
}
template <class V>
HWY_INLINE V atan(V x) {
  return copysign(angle_of(V(1), at_most(abs(x), V(kFarthest))), x);
}
template <class V>
HWY_INLINE V atan2(V y, V x) {
  const V angle = angle_of(at_most(abs(x), V(kFarthest)), at_most(abs(y), V(kFarthest)));
  const auto left = copysign(V(1), x) < V();
  return copysign(select(left, V(std::numbers::pi) - angle, angle), y);
}
template <class V>
HWY_INLINE V hypot(V x, V y) {
  const V a = abs(x), b = abs(y), inf = infinity<V>();
  return select((a == inf) | (b == inf), inf, sqrt(fma(a, a, b * b)));
}

// log1p of what is finite and not below 0, without its division: 1 + t loses the digits of a small
// t.
template <class V>
HWY_INLINE V log_of_one_and(V t) {
  const V small = fma(t * t, fma(t, V(1.0 / 3), V(-0.5)), t);
  return select(t < V(0x1p-12), small, short_log_inside(V(1) + t));
}
template <class V>
HWY_INLINE V asinh(V x) {
  const V a = abs(x), c = at_most(a, V(0x1p200)), square = c * c;
  const V y = log_of_one_and(fma(square, reciprocal(V(1) + sqrt(V(1) + square)), c));
  return copysign(select(a < infinity<V>(), y, a), x);
}
template <class V>
HWY_INLINE V acosh(V x) {
  const V above = at_most(x, V(0x1p200)) - V(1);
  const V y = log_of_one_and(above + sqrt(above * (above + V(2))));
  const V limit = select(x == infinity<V>(), x, V(std::numeric_limits<double>::quiet_NaN()));
  return select((x >= V(1)) & (x < infinity<V>()), y, limit);
}
// The logarithm of a quotient; near 0, where its rounding would count, the series.
template <class V>
HWY_INLINE V atanh(V x) {
  const V a = abs(x), one(1);
  const V far = V(0.5) * short_log_inside((one + a) * reciprocal(at_least(one - a, V(0x1p-60))));
  const V y = select(a < V(0x1p-10), fma(a * a * a, V(1.0 / 3), a), far);
  const V limit = select(a == one, infinity<V>(), V(std::numeric_limits<double>::quiet_NaN()));
  return copysign(select(a < one, y, limit), x);
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
