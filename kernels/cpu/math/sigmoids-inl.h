// SPDX-License-Identifier: Apache-2.0

// Functions that saturate: tanh, the logistic sigmoid, the error function and the normal
// distribution. V is Lanes<float>, Lanes<double> or Lanes<double, 24>.
#if defined(LIBDL_KERNELS_CPU_MATH_SIGMOIDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_SIGMOIDS_INL_H
#undef LIBDL_KERNELS_CPU_MATH_SIGMOIDS_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_SIGMOIDS_INL_H
#endif

#include "kernels/cpu/math/exp-inl.h"
#include "kernels/cpu/math/pieces-inl.h"
#include "kernels/cpu/math/sixteenths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// For float, in pieces numbered by the exponent and the first bit of 2 + |x| / 0.305. From 9.1 on
// it rounds to 1.
template <class V>
HWY_INLINE V float_tanh(V x) {
  const auto& c = coefficients::TanhPieces::c;
  V a = at_most(abs(x), V(9.1f)), position = fma(a, V(2 / 0.61f), V(2));
  const auto index = hn::ShiftRight<V::kMantissa - 1>(position.bits());
  V d = from_centre(a, index, c), start = at_least(d, pick<V>(c[1], index));
  return copysign(fma(piece<V, 2>(d, index, c), d, start), x);
}
// Small x by a polynomial, because 1 - 2 / (e^2x + 1) would cancel there.
template <class V>
HWY_INLINE V double_tanh(V x) {
  const V one(1), two(2), most(22);
  V a = abs(x), z = x * x;
  V small = fma(a * z, tail<coefficients::TanhTail>(z), a);
  V n, capped = at_most(a, most);
  V p = exp_parts(capped + capped, n);
  V scale = power_of_two(n, 0);
  V large = nfma(two, reciprocal(fma(scale, p, scale + one)), one);
  return copysign(select(a < V(0.625), small, large), x);
}
template <class V>
HWY_INLINE V tanh(V x) {
  if constexpr (kIsDouble<V>) {
    return double_tanh(x);
  } else {
    return float_tanh(x);
  }
}

// The sigmoid of x is the result times `scale`: e^-|x| is kept 2^128 (2^64 for float) times larger,
// so that it is no subnormal. 1 + e^-|x| is exact in high + low.
template <class V>
HWY_INLINE V scaled_sigmoid(V x, V& rescale) {
  using T = typename V::Scalar;
  constexpr int shift = kIsDouble<V> ? 128 : 64;
  const V down(T(kIsDouble<V> ? 0x1p-128 : 0x1p-64)), one(1), most(T(kIsDouble<V> ? 760 : 112));
  V a = abs(x);
  V n, p = exp_parts(-at_most(a, most), n);
  V up = power_of_two(n, shift), scale = up * down;
  V high = fma(scale, p, scale + one);
  V low = fma(scale, p, (one - high) + scale);
  V t = fma(up, p, up);
  auto negative = x < V();
  V top = select(negative, t, one), q;
  if constexpr (kIsDouble<V> && !kAllBits<V>) {
    q = top / high;
  } else {
    V inverse = reciprocal(high);
    q = top * inverse;
    V missing = nfma(q, low, nfma(q, high, top)) + select(negative, fma(up, p, up - t), V());
    q = fma(missing, inverse, q);
  }
  rescale = select(negative, down, one);
  return q;
}
// From kNear to kFar, where nothing needs scaling. e^-x = 2^n (1 + p) with -x = n ln 2 - q, and 1 +
// e^-x is exact in high + low: of floats until the 1 lies below the last place of 2^n p.
template <class V>
constexpr typename V::Scalar kNear = kIsDouble<V> ? -700 : -16;
template <class V>
constexpr typename V::Scalar kFar = kIsDouble<V> ? 700 : 40;
template <class V>
HWY_INLINE V near_sigmoid(V x) {
  using T = typename V::Scalar;
  const V one(1);
  V anchored = fma(x, V(T(-0x1.71547652b82fep+0)), power_anchor<V>());
  V n = anchored - power_anchor<V>(), q, p;
  if constexpr (kIsDouble<V>) {
    q = fma(n, V(0x1.a39ef35793c76p-33), fma(n, V(0x1.62e42feep-1), x));
    p = hn::MulSub((q * q).raw, polynomial(q, coefficients::EighthTailNegated::c).raw, q.raw);
  } else {
    // The first part of q is exact and joins last, as in exp_parts.
    const V first = fma(n, V(coefficients::kLn2First), x);
    const V second = n * V(coefficients::kLn2Second);
    q = first + second;
    p = V(hn::MulSub((q * q).raw, tail<coefficients::ExpTailNegated>(q).raw, second.raw)) - first;
  }
  V scale = power_of_two(anchored, 0);
  V high = fma(scale, p, scale + one);
  V larger = at_least(scale, one), smaller = at_most(scale, one);
  V low = fma(scale, p, (larger - high) + smaller);
  V y = reciprocal(high);
  return fma(y, nfma(low, y, nfma(high, y, one)), y);
}
template <class V>
HWY_INLINE V far_sigmoid(V x) {
  V scale, y = scaled_sigmoid(x, scale);
  return y * scale;
}
template <class V>
HWY_INLINE V sigmoid(V x) {
  if constexpr (kIsDouble<V> && !kAllBits<V>) {
    return far_sigmoid(x);
  } else {
    const auto near = x > V(kNear<V>);
    V y = near_sigmoid(at_most(x, V(kFar<V>)));
    return any(!near) ? select(near, y, far_sigmoid(x)) : y;
  }
}
// x times its sigmoid; -0 at -infinity.
template <class V>
HWY_INLINE V far_silu(V x) {
  const V least(typename V::Scalar(kIsDouble<V> ? -760 : -112));
  x = at_least(x, least);
  V scale, y = scaled_sigmoid(x, scale);
  return x * y * scale;
}
template <class V>
HWY_INLINE V silu(V x) {
  if constexpr (kIsDouble<V> && !kAllBits<V>) {
    return far_silu(x);
  } else {
    const auto near = x > V(kNear<V>);
    V y = x * near_sigmoid(at_most(x, V(kFar<V>)));
    return any(!near) ? select(near, y, far_silu(x)) : y;
  }
}

// e^(-x^2 / 2) = exp(high + low): the square in two parts, because its rounding error is amplified
// up to 700 times.
template <class V>
HWY_INLINE V minus_half_square(V x, V& low) {
  V square = x * x;
#if !LIBDL_FUSED
  if constexpr (kIsDouble<V> == kAllBits<V>) {  // no fma: products of halves of the digits
    constexpr int half = (V::kMantissa + 2) / 2;
    V h = V::of_bits(hn::And(x.bits(), V::word(~typename V::Word{0} << half))), l = x - h;
    low = V(-0.5) * (((h * h - square) + V(2) * h * l) + l * l);
    return V(-0.5) * square;
  }
#endif
  low = V(typename V::Scalar(-0.5)) * fma(x, x, -square);
  return V(typename V::Scalar(-0.5)) * square;
}

// e^(x + low) for x of a square clamped as below: from -761 (-113 for 24 bits) to 0.
template <class V>
HWY_INLINE V exp_falling(V x, V low) {
  if constexpr (kIsDouble<V> && !kAllBits<V>) {
    V n, p = exp_parts(x, n), scale = power_of_two(n, 0);  // squares of floats are exact: no low
    return fma(scale, p, scale);
  } else {
    constexpr int shift = kIsDouble<V> ? 128 : 64;
    V n, p = exp_part(exp_rest(x, n) + low), scale = power_of_two(n, shift);
    return fma(scale, p, scale) * V(typename V::Scalar(kIsDouble<V> ? 0x1p-128 : 0x1p-64));
  }
}

// Phi(-z) e^(z^2 / 2) for z >= 0: Mills' ratio over sqrt(2 pi).
template <class V>
HWY_INLINE V normal_tail(V z) {
  V q = reciprocal(z + V(5));
  return q * tail<coefficients::NormalTail>(fma(q, V(-10), V(1)));
}

#if LIBDL_FUSED
// e^(-z^2 / 2) 2^64 for float z up to 15: what the square loses in rounding is in the rest r of
// -z^2 / 2 = n ln 2 + r, for n times the first part of ln 2 is exact.
template <class V>
HWY_INLINE V raised_bell(V z) {
  V anchored = fma(z * z, V(-0x1.715476p-1f), power_anchor<V>());
  V n = anchored - power_anchor<V>();
  V r = fma(V(-0.5f) * z, z, n * V(-coefficients::kLn2First));
  r = fma(n, V(-coefficients::kLn2Second), r);
  V p = fma(r * r, tail<coefficients::ExpTail>(r), r), scale = power_of_two(anchored, 64);
  return fma(scale, p, scale);
}
#endif

// e^(-z^2 / 2) for z from 0 to 15 (39 for all bits).
template <class V>
HWY_INLINE V bell(V z) {
#if LIBDL_FUSED
  if constexpr (!kIsDouble<V>) return raised_bell(z) * V(0x1p-64f);
#endif
  V low, exponent = minus_half_square(z, low);
  return exp_falling(exponent, low);
}
template <class V>
HWY_INLINE V bounded_size(V x) {
  const V most(typename V::Scalar(V::kBits == 24 ? 15 : 39));
  return at_most(abs(x), most);
}

// Phi(-|x|).
template <class V>
HWY_INLINE V normal_beyond(V x) {
  V z = bounded_size(x);
  return bell(z) * normal_tail(z);
}
template <class V>
HWY_INLINE V normal_cdf(V x) {
  V beyond = normal_beyond(x);
  return select(x < V(), beyond, V(1) - beyond);
}

template <class V>
HWY_INLINE V normal_density(V x) {
  return bell(bounded_size(x)) * V(typename V::Scalar(0x1.9884533d43651p-2));
}

// x Phi(x) = max(x, 0) - |x| Phi(-|x|), which preserves the digits for very negative x.
template <class V>
HWY_INLINE V float_gelu(V x) {
  const auto& c = coefficients::NormalPieces::c;
  V a = abs(x), top = at_least(x, V());
  const auto index = fma(a, V(1.5625f), anchor<V>()).bits();
  const auto near = a < V(4.8f);
  V y = nfma(a, piece<V, 1>(from_centre(a, index, c), index, c), top);
  if (!any(!near)) return y;
  V z = bounded_size(x), tail = polynomial(reciprocal(z * z), coefficients::GeluTail::c);
  return select(near, y, nfma(bell(z), tail, top));
}
template <class V>
HWY_INLINE V gelu(V x) {
  if constexpr (kIsDouble<V>) {
    return nfma(bounded_size(x), normal_beyond(x), at_least(x, V()));
  } else {
    return float_gelu(x);
  }
}

// Of float: erf(x) = 1 - e^(-x^2) t(x - 1), by a polynomial below 15/16. From 4 on it rounds to
// 1.
template <class V>
HWY_INLINE V float_erf(V x) {
  const V one(1), most(4);
  V a = abs(x), z = x * x, capped = at_most(a, most);
  V small = fma(x, tail<coefficients::ErfTail>(z), x);
  V n, p = exp_parts(-(capped * capped), n), scale = power_of_two(n, 0);
  V large = nfma(fma(scale, p, scale), polynomial(capped - one, coefficients::ErfcTail::c), one);
  return select(a < V(0.9375f), small, copysign(large, x));
}

// Of double: sixteen pieces, told apart by the leading bits of |x| + 2; from 6 on it rounds to 1.
// The linear term is added last: near 0 it dominates, so that only one rounding matters.
template <class V>
HWY_INLINE V double_erf(V x) {
  using Table = coefficients::ErfTable;
  const V a = at_most(abs(x), V(0x1.7ffffffffffffp+2));
  V c[Table::kColumns];
  take<Table>(Rows<V>(hn::ShiftRight<V::kMantissa - 3>((a + V(2)).bits())), c);
  const V d = a - c[0];
  return copysign(c[1] + fma(d, c[2], d * d * rising<3>(d, c)), x);
}
template <class V>
HWY_INLINE V erf(V x) {
  if constexpr (kIsDouble<V>) {
    return double_erf(x);
  } else {
    return float_erf(x);
  }
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
