// SPDX-License-Identifier: Apache-2.0

// Powers and floating-point remainders of vectors of double: Lanes<double> and Lanes<double, 24>.
#if defined(LIBDL_KERNELS_CPU_MATH_POWERS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_POWERS_INL_H
#undef LIBDL_KERNELS_CPU_MATH_POWERS_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_POWERS_INL_H
#endif

#include <cmath>

#include "kernels/cpu/math/exp-inl.h"
#include "kernels/cpu/math/log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// f of each lane, computed by the system's library.
template <double (*f)(double, double), class V>
HWY_INLINE V each(V x, V y) {
  HWY_ALIGN double a[HWY_MAX_BYTES / sizeof(double)], b[HWY_MAX_BYTES / sizeof(double)];
  typename V::Tag d;
  hn::Store(x.raw, d, a);
  hn::Store(y.raw, d, b);
  for (size_t i = 0; i < hn::Lanes(d); ++i) a[i] = f(a[i], b[i]);
  return hn::Load(d, a);
}

// Exact where the quotient is below 2^52 and products are fused; else by the library.
template <class V>
HWY_INLINE V fmod(V x, V y) {
#if !LIBDL_FUSED
  return each<std::fmod>(x, y);
#else
  V a = abs(x), b = abs(y), quotient = a / b;
  V r = fma(-trunc(quotient), b, a);
  r = select(r < V(), r + b, r);  // the quotient may have been rounded up
  auto simple = (quotient < V(0x1p52)) & (b < infinity<V>());
  if (any(!simple)) {
    // For zero, infinity and NaN the steps above are right, except if only b is infinite.
    const auto finite = a < infinity<V>();
    if (any((quotient >= V(0x1p52)) & finite & (b > V()))) return each<std::fmod>(x, y);
    r = select(finite & (b == infinity<V>()), a, r);
  }
  return copysign(r, x);
#endif
}

// e^(y log a) for positive finite a, or its limits at 0 and infinity.
template <class V>
HWY_INLINE V pow_of_positive(V a, V y, [[maybe_unused]] Truth<double> inside) {
  if constexpr (!kAllBits<V>) {
    return exp(y * log(a));
  } else {
    V low, whole = log_in_two(a, low);
    if (any(!inside)) {
      whole = select(inside, whole, select(a == V(), -infinity<V>(), a));
      low = select(inside, low, V());
    }
    const V x = y * whole, x_low = fma(y, low, fma(y, whole, -x));
    return exp_of_sum(clamp_exponent(x), select(abs(x) < V(1024), x_low, V()));
  }
}
template <class V>
HWY_INLINE V general_pow(V x, V y) {
#if !LIBDL_FUSED
  if constexpr (kAllBits<V>) return each<std::pow>(x, y);
#endif
  V a = abs(x), one(1);
  const auto inside = (a > V()) & (a < infinity<V>());
  V r = pow_of_positive(a, y, inside);
  if constexpr (kAllBits<V>) {
    if (!any(!(inside & (x > V()) & (abs(y) < infinity<V>())))) return r;
  }
  // The cases of C99's annex F, and the sign of odd powers.
  r = select((a == one) | (y == V()), one, r);
  auto whole = trunc(y) == y;
  V half = y * V(0.5);
  auto odd = whole & (trunc(half) != half);
  auto negative = copysign(one, x) < V();
  r = select(negative & odd, -r, r);
  r = select((x < V()) & !whole & (a < infinity<V>()), V(std::numeric_limits<double>::quiet_NaN()),
             r);
  r = select((x != x) | (y != y), x + y, r);
  return select((x == one) | (y == V()), one, r);
}
// Squares and cubes are products, lane by lane; if there is nothing else, nothing else is computed.
template <class V>
HWY_INLINE V pow(V x, V y) {
  const auto two = y == V(2), product = two | (y == V(3));
  V square = x * x, r = select(two, square, square * x);
  return any(!product) ? select(product, r, general_pow(x, y)) : r;
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
