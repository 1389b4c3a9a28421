// SPDX-License-Identifier: Apache-2.0

// Logarithm of the gamma function and its derivative, for V = Lanes<double>: of floats, for results
// that become floats.
#if defined(LIBDL_KERNELS_CPU_MATH_GAMMA_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_GAMMA_INL_H
#undef LIBDL_KERNELS_CPU_MATH_GAMMA_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_GAMMA_INL_H
#endif

#include <cmath>
#include <numbers>

#include "kernels/cpu/math/log-inl.h"
#include "kernels/cpu/math/special_coefficients.h"
#include "kernels/cpu/math/trigonometry-inl.h"
#include "kernels/special.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// Where the digits cancel: near zeros that are no simple numbers.
template <double (*f)(double), class V>
HWY_NOINLINE V exact_where(Truth<double> where, V x, V y) {
  const typename V::Tag d;
  HWY_ALIGN double from[HWY_MAX_BYTES / sizeof(double)], to[HWY_MAX_BYTES / sizeof(double)];
  HWY_ALIGN double marked[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(x.raw, d, from);
  hn::Store(y.raw, d, to);
  hn::Store(select(where, V(1), V()).raw, d, marked);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (marked[i] != 0) to[i] = f(from[i]);
  }
  return V(hn::Load(d, to));
}

// The distance to the nearest whole number, exact.
template <class V>
HWY_INLINE V from_whole(V x) {
  return x - round(x);
}

// Up to 5/2 by a polynomial between 1 and 2 and one step of the recurrence, up to 8 by another
// polynomial, beyond by Stirling's formula.
template <class V>
HWY_INLINE V lgamma_above(V x) {
  const V one(1);
  const auto low = x<one, high = x> V(2), small = x < V(2.5), large = x >= V(8);
  const V step = select(low, x, select(high, x - one, one)), z = at_most(x, V(0x1p200));
  const V logarithm = log(select(small, step, z));
  const V in = select(low, x + one, step);
  const V inside = select(low | high, in, x);  // from 1 to 2
  const V near =
      (inside - one) * (inside - V(2)) * polynomial(inside - V(1.5), coefficients::kLogGamma);
  V y = select(low, near - logarithm, near + logarithm);
  if (!any(!small)) return y;
  y = select(small, y, polynomial(x - V(5.25), coefficients::kLogGammaMiddle));
  if (!any(large)) return y;
  const V inverse = reciprocal(at_least(z, one));
  constexpr double half_log_2pi = 0x1.d67f1c864beb5p-1;
  const V rest = inverse * polynomial(inverse * inverse, coefficients::kStirling);
  return select(large, fma(z - V(0.5), logarithm, (V(half_log_2pi) - z) + rest), y);
}
template <class V>
HWY_INLINE V lgamma(V x) {
  const V a = abs(x), above = lgamma_above(a);
  const auto negative = x < V();
  V y = above;
  if (any(negative)) {  // by reflection
    const V sine = abs(sin(V(std::numbers::pi) * from_whole(a)));
    y = select(negative, log(V(std::numbers::pi) / (sine * a)) - above, y);
    const auto near_zero = negative & (abs(y) < V(0x1p-6));
    if (any(near_zero)) y = exact_where<special::lgamma>(near_zero, x, y);
  }
  return select(a == infinity<V>(), a, y);
}

// Eight steps of the recurrence below 8, in pairs of equal sums; the asymptotic series.
template <class V>
HWY_INLINE V digamma_above(V x) {
  const V sum = fma(V(2), x, V(7)), square = x * (x + V(7));
  const V a = square, b = square + V(6), c = square + V(10), d = square + V(12);
  const V steps = sum * ((a + b) / (a * b) + (c + d) / (c * d));
  const auto shifted = x < V(8);
  const V z = at_most(select(shifted, x + V(8), x), V(0x1p200)), inverse = reciprocal(z);
  const V rest = inverse * inverse * polynomial(inverse * inverse, coefficients::kDigamma);
  const V y = log(z) - fma(V(0.5), inverse, rest);
  return select(shifted, y - steps, y);
}
template <class V>
HWY_INLINE V digamma(V x) {
  const auto negative = x < V();
  V y = digamma_above(select(negative, V(1) - x, x));
  auto cancels = abs(y) < V(0x1p-6);
  if (any(negative)) {  // by reflection
    const V part = from_whole(x);
    const V turned = y - V(std::numbers::pi) / tan(V(std::numbers::pi) * part);
    y = select(negative, turned, y);
    y = select(negative & (part == V()), V(std::numeric_limits<double>::quiet_NaN()), y);
    cancels = abs(y) < select(negative, V(0.125), V(0x1p-6));
  }
  if (any(cancels)) y = exact_where<special::digamma>(cancels, x, y);
  y = select(x == infinity<V>(), x, y);
  return select(x == V(), copysign(infinity<V>(), -x), y);
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
