// SPDX-License-Identifier: Apache-2.0

// Exponentials and logarithms of vectors: V is Lanes<float>, Lanes<double> or Lanes<double, 24>.
#if defined(LIBDL_KERNELS_CPU_EXP_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_EXP_LOG_INL_H_
#undef LIBDL_KERNELS_CPU_EXP_LOG_INL_H_
#else
#define LIBDL_KERNELS_CPU_EXP_LOG_INL_H_
#endif

#include <cmath>
#include <limits>

#include "kernels/cpu/lanes-inl.h"
#include "kernels/cpu/math_coefficients.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

template <class V>
HWY_INLINE V abs(V x) { return hn::Abs(x.raw); }
template <class V>
HWY_INLINE V copysign(V x, V y) { return hn::CopySign(x.raw, y.raw); }
// Rounded once where the processor can; the baseline rounds twice.
template <class V>
HWY_INLINE V fma(V x, V y, V z) { return hn::MulAdd(x.raw, y.raw, z.raw); }
// z - x y; fma(-x, y, z) costs the change of sign.
template <class V>
HWY_INLINE V nfma(V x, V y, V z) { return hn::NegMulAdd(x.raw, y.raw, z.raw); }
#if HWY_TARGET == HWY_SCALAR  // there hn::Ceil(0) is -0
#define LIBDL_ROUNDING(name, system, Highway) \
  template <class V>                          \
  HWY_INLINE V name(V x) { return std::system(hn::GetLane(x.raw)); }
#elif defined(HWY_SSE2) && HWY_TARGET == HWY_SSE2  // rounds through integers, which have no -0
#define LIBDL_ROUNDING(name, system, Highway) \
  template <class V>                          \
  HWY_INLINE V name(V x) { return hn::CopySign(hn::Highway(x.raw), x.raw); }
#else
#define LIBDL_ROUNDING(name, system, Highway) \
  template <class V>                          \
  HWY_INLINE V name(V x) { return hn::Highway(x.raw); }
#endif
LIBDL_ROUNDING(floor, floor, Floor)
LIBDL_ROUNDING(ceil, ceil, Ceil)
LIBDL_ROUNDING(round, nearbyint, Round)  // half to even
LIBDL_ROUNDING(trunc, trunc, Trunc)
#undef LIBDL_ROUNDING

template <class V>
constexpr bool kIsDouble = sizeof(typename V::Scalar) == 8;
template <class V>
constexpr bool kAllBits = V::kBits == 53;
template <class V>
HWY_INLINE V infinity() { return std::numeric_limits<typename V::Scalar>::infinity(); }

// The smaller and the larger; a NaN in x passes, as x86's instructions do with the second operand.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
template <class V>
HWY_INLINE V at_most(V x, V limit) { return hn::Min(limit.raw, x.raw); }
template <class V>
HWY_INLINE V at_least(V x, V limit) { return hn::Max(limit.raw, x.raw); }
#else
template <class V>
HWY_INLINE V at_most(V x, V limit) { return select(x > limit, limit, x); }
template <class V>
HWY_INLINE V at_least(V x, V limit) { return select(x < limit, limit, x); }
#endif

// 1 / x correctly rounded, for x between 2^-60 and 2^60. Where division is slow: Newton's steps, the
// last of them from within one place, which rounds correctly (Markstein 1990), for the significand
// of ones alone only from above: hence the rounding up. tests/core/ulp_test.cc tries them all.
template <class V>
HWY_INLINE V reciprocal(V x) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (!kIsDouble<V> && !V::kDivides) {
    const __m512 one = _mm512_set1_ps(1), y = _mm512_rcp14_ps(x.raw.raw);
    const __m512 above = _mm512_fmadd_round_ps(_mm512_fnmadd_ps(x.raw.raw, y, one), y, y,
                                               _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    return typename V::Raw{_mm512_fmadd_ps(_mm512_fnmadd_ps(x.raw.raw, above, one), above, above)};
  }
#endif
  return V(1) / x;
}

#if HWY_TARGET == HWY_AVX3
template <class V>
HWY_INLINE V rough_rsqrt(V x) {  // to 14 bits
  if constexpr (kIsDouble<V>) {
    return typename V::Raw{_mm512_rsqrt14_pd(x.raw.raw)};
  } else {
    return typename V::Raw{_mm512_rsqrt14_ps(x.raw.raw)};
  }
}
#endif
// Correctly rounded. Where the instruction is slow: Newton's steps to the root and half of its
// reciprocal, in the order of Goldschmidt, and for rounding one more with the exact remainder. That
// leaves 2^-104 of doubles' roots; tests/core/ulp_test.cc tries those nearer than that to a middle.
template <class V>
HWY_INLINE V sqrt(V x) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (V::kDivides && !kIsDouble<V>) return hn::Sqrt(x.raw);
  using T = typename V::Scalar;
  const auto simple = (x >= V(T(kIsDouble<V> ? 0x1p-900 : 0x1p-100))) & (x < infinity<V>());
  if (any(!simple)) return hn::Sqrt(x.raw);  // the same bits where both serve
  const V half(T(0.5));
  V y = rough_rsqrt(x), root = x * y, inverse = half * y;
  for (int i = 0; i < (kIsDouble<V> ? 2 : 1); ++i) {
    V missing = nfma(root, inverse, half);
    root = fma(root, missing, root);
    inverse = fma(inverse, missing, inverse);
  }
  return fma(nfma(root, root, x), inverse, root);
#else
  return hn::Sqrt(x.raw);
#endif
}

// Horner's rule, coefficients by rising power.
template <class V, size_t k = 0, size_t n>
HWY_INLINE V polynomial(V x, const typename V::Scalar (&c)[n]) {
  if constexpr (k + 1 == n) {
    return V(c[k]);
  } else {
    return fma(polynomial<V, k + 1>(x, c), x, V(c[k]));
  }
}
template <template <class, int> class Coefficients, class V>
HWY_INLINE V tail(V x) {
  return polynomial(x, Coefficients<typename V::Scalar, V::kBits>::c);
}

// A whole number n in the last bits of 1.5 * 2^kMantissa + n; adding it to a float rounds to whole.
template <class V>
HWY_INLINE V anchor() {
  return V(kIsDouble<V> ? typename V::Scalar(0x1.8p52) : typename V::Scalar(0x1.8p23));
}
// The same with the exponent's bias, for powers of two.
template <class V>
HWY_INLINE V biased_anchor() {
  return anchor<V>() + V(static_cast<typename V::Scalar>(V::kBias));
}
// 2^(n + offset) for n anchored with the bias; the sum must be a normal exponent.
template <class V>
HWY_INLINE V power_of_two(V anchored, int offset) {
  auto word = anchored.bits();
  if (offset != 0) word = hn::Add(word, V::word(static_cast<typename V::Word>(offset)));
  return V::of_bits(hn::ShiftLeft<V::kMantissa>(word));
}

// x = n ln 2 + r: returns r, and n anchored. |x| up to 2^10.
template <class V>
HWY_INLINE V exp_rest(V x, V& anchored) {
  const V log2e(static_cast<typename V::Scalar>(0x1.71547652b82fep+0));
  anchored = fma(x, log2e, biased_anchor<V>());
  V n = anchored - biased_anchor<V>(), r;
  if constexpr (!kIsDouble<V>) {
    r = fma(n, V(-0x1.90bfbep-11f), fma(n, V(-0x1.628p-1f), x));
  } else if constexpr (kAllBits<V>) {
    r = fma(n, V(-0x1.a39ef35793c76p-33), fma(n, V(-0x1.62e42feep-1), x));
  } else {
    r = fma(n, V(-0x1.62e42fefa39efp-1), x);
  }
  return r;
}
// e^(x + low) = 2^n (1 + p): returns p.
template <class V>
HWY_INLINE V exp_parts(V x, V low, V& anchored) {
  V r = exp_rest(x, anchored) + low;
  return fma(r * r, tail<coefficients::ExpTail>(r), r);
}
template <class V>
HWY_INLINE V exp_parts(V x, V& anchored) {
  V r = exp_rest(x, anchored);
  return fma(r * r, tail<coefficients::ExpTail>(r), r);
}

// 2^n (1 + p) where the result may overflow or be subnormal: scaled in two steps, and in one, to the
// same bits, where the processor can.
template <class V>
HWY_INLINE V scaled(V p, V anchored, [[maybe_unused]] Truth<typename V::Scalar> small) {
#if HWY_TARGET == HWY_AVX3
  const V y = p + V(1), n = anchored - biased_anchor<V>();
  if constexpr (kIsDouble<V>) {
    return typename V::Raw{_mm512_scalef_pd(y.raw.raw, n.raw.raw)};
  } else {
    return typename V::Raw{_mm512_scalef_ps(y.raw.raw, n.raw.raw)};
  }
#else
  constexpr int shift = kIsDouble<V> ? 128 : 64;
  const V up(typename V::Scalar(kIsDouble<V> ? 0x1p128 : 0x1p64));
  const V down(typename V::Scalar(kIsDouble<V> ? 0x1p-128 : 0x1p-64));
  V scale = select(small, power_of_two(anchored, shift), power_of_two(anchored, -shift));
  return fma(scale, p, scale) * select(small, down, up);
#endif
}

// Beyond these limits every exponential is infinite or zero. A NaN passes.
template <class V>
HWY_INLINE V clamp_exponent(V x) {
  const V low(typename V::Scalar(kIsDouble<V> ? -746 : -104));
  const V high(typename V::Scalar(kIsDouble<V> ? 710 : 89));
  return at_least(at_most(x, high), low);
}

// e^(x + low), |low| tiny.
template <class V>
HWY_INLINE V exp(V x, V low) {
  V n, a = clamp_exponent(x);
  V p = exp_parts(a, low, n);
  return scaled(p, n, a < V());
}
template <class V>
HWY_INLINE V exp(V x) {
  V n, a = clamp_exponent(x);
  V p = exp_parts(a, n);
  if constexpr (kIsDouble<V> && !kAllBits<V>) {
    V scale = power_of_two(n, 0);  // rounding to float32 makes infinities and subnormals
    a = select(x < V(-708), V(-708), a);
    return select(x < V(-708), V(), fma(scale, p, scale));
  } else {
    return scaled(p, n, a < V());
  }
}

template <class V>
HWY_INLINE V expm1(V x) {
  const V low(typename V::Scalar(kIsDouble<V> ? -60 : -30));
  V n, a = at_least(clamp_exponent(x), low);
  V p = exp_parts(a, n);
  V half = power_of_two(n, -1);  // 2^1024 itself would overflow
  V y = fma(half, p, half - V(typename V::Scalar(0.5)));
  y = y + y;
  return select(abs(x) < V(typename V::Scalar(kIsDouble<V> ? 0x1p-54 : 0x1p-25)), x, y);
}

template <class V>
HWY_INLINE V exp2(V x) {
  using T = typename V::Scalar;
  const V low(T(-1080)), high(T(1030));
  V a = at_least(at_most(x, high), low);
  V anchored = a + biased_anchor<V>();
  V r = a - (anchored - biased_anchor<V>());
  const V ln2(0x1.62e42fefa39efp-1);
  V h = r * ln2, p;
  if constexpr (kAllBits<V>) {
    V l = fma(r, V(0x1.abc9e3b39803fp-56), fma(r, ln2, -h));
    p = fma(h * h, tail<coefficients::ExpTail>(h), l) + h;
  } else {
    p = fma(h * h, tail<coefficients::ExpTail>(h), h);
  }
  return scaled(p, anchored, a < V());
}

// x = 2^k (1 + f) with 1 + f between the roots of 1/2 and 2; for positive finite x.
template <class V>
HWY_INLINE V log_parts(V x, V& k) {
  using W = typename V::Word;
  constexpr W root = kIsDouble<V> ? W(0x3FE6A09E667F3BCD) : W(0x3F3504F3);
  constexpr W one = V::kBias << V::kMantissa;
  constexpr W magic = (V::kBias + V::kMantissa) << V::kMantissa;  // the bits of 2^kMantissa
  V shift;
  if constexpr (kIsDouble<V> == kAllBits<V>) {  // a float is no subnormal double
    auto subnormal = x < V(std::numeric_limits<typename V::Scalar>::min());
    x = select(subnormal, x * V(typename V::Scalar(kIsDouble<V> ? 0x1p54 : 0x1p25)), x);
    shift = select(subnormal, V(typename V::Scalar(kIsDouble<V> ? 54 : 25)), V());
  }
  auto distance = hn::Add(x.bits(), V::word(one - root));
  auto exponent = hn::ShiftRight<V::kMantissa>(distance);
  k = V::of_bits(hn::Or(exponent, V::word(magic))) - V::of_bits(V::word(magic | V::kBias)) - shift;
  auto mantissa = hn::And(distance, V::word((W(1) << V::kMantissa) - 1));
  return V::of_bits(hn::Add(mantissa, V::word(root))) - V(1);
}

// log(0), and of negative numbers, infinity and NaN.
template <class V>
HWY_INLINE V log_limits(V x, V y) {
  y = select(x == infinity<V>(), x, y);
  y = select(x == V(), -infinity<V>(), y);
  return select(x >= V(), y, V(std::numeric_limits<typename V::Scalar>::quiet_NaN()));
}

// log(1 + f) = f - bend: returns bend.
template <class V>
HWY_INLINE V log_bend(V f) {
  V half(typename V::Scalar(0.5));
  if constexpr (kAllBits<V>) {
    V s = f / (f + V(2)), z = s * s, h = half * f * f;
    return h - s * fma(z, tail<coefficients::LogSeries>(z), h);
  } else {
    return f * f * nfma(f, tail<coefficients::LogTail>(f), half);
  }
}

// ln 2 in two parts, k times the first of which is exact.
template <class V>
HWY_INLINE V ln2_high() {
  return V(typename V::Scalar(kIsDouble<V> ? 0x1.62e42feep-1 : 0x1.628p-1));
}
template <class V>
HWY_INLINE V ln2_low() {
  return V(typename V::Scalar(kIsDouble<V> ? 0x1.a39ef35793c76p-33 : 0x1.90bfbep-11));
}

template <class V>
HWY_INLINE V log_inside(V x) {
  V k, f = log_parts(x, k);
  V rest = fma(k, ln2_low<V>(), -log_bend(f)) + f;
  return fma(k, ln2_high<V>(), rest);
}
// For finite float x that is no subnormal.
template <class V>
HWY_INLINE V near_log(V x) {
  const hn::RebindToSigned<typename V::Tag> whole;
  constexpr uint32_t root = 0x3f3504f3;  // of 1/2, as in log_parts
  auto distance = hn::BitCast(whole, hn::Sub(x.bits(), V::word(root)));
  auto exponent = hn::ShiftRight<V::kMantissa>(distance);
  V k = hn::ConvertTo(typename V::Tag(), exponent);
  auto mantissa = hn::Sub(hn::BitCast(whole, x.bits()), hn::ShiftLeft<V::kMantissa>(exponent));
  V f = V(hn::BitCast(typename V::Tag(), mantissa)) - V(1);
  V rest = f * f * nfma(f, tail<coefficients::LogTail>(f), V(0.5f));
  rest = V(hn::MulSub(k.raw, ln2_low<V>().raw, rest.raw)) + f;
  return fma(k, ln2_high<V>(), rest);
}
template <class V>
HWY_INLINE V log(V x) {
  if constexpr (kIsDouble<V>) {
    return log_limits(x, log_inside(x));
  } else {
    const auto near = (x >= V(std::numeric_limits<float>::min())) & (x < infinity<V>());
    V y = near_log(x);
    return any(!near) ? select(near, y, log_limits(x, log_inside(x))) : y;
  }
}

// The rounding error of 1 + x is put back: log(u + c) = log(u) + c / u.
template <class V>
HWY_INLINE V log1p(V x) {
  V one(1), u = one + x, b = u - one;
  V c = ((one - (u - b)) + (x - b)) / u;
  c = select(abs(c) <= one, c, V());  // u = 0 or infinite
  V k, f = log_parts(u, k);
  V low = fma(k, ln2_low<V>(), c) - log_bend(f);
  V y = log_limits(u, fma(k, ln2_high<V>(), f + low));
  return select(abs(x) < V(typename V::Scalar(kIsDouble<V> ? 0x1p-54 : 0x1p-25)), x, y);
}

// The logarithm to another base: k * unit + log(1 + f) * ratio, products in two parts.
template <class V>
HWY_INLINE V log_base(V x, V unit_high, V unit_low, V ratio_high, V ratio_low) {
  V k, f = log_parts(x, k), bend = log_bend(f);
  if constexpr (!kAllBits<V>) {
    return log_limits(x, fma(k, unit_high, (f - bend) * ratio_high));
  } else {
    V h = f - bend, l = (f - h) - bend;
    V high = h * ratio_high;
    V low = fma(h, ratio_high, -high) + fma(l, ratio_high, h * ratio_low);
    V whole = k * unit_high, sum = whole + high;
    V lost = (whole - sum) + high;  // |whole| is 0 or the larger
    return log_limits(x, sum + (lost + fma(k, unit_low, low)));
  }
}
template <class V>
HWY_INLINE V log2(V x) {
  return log_base(x, V(1), V(), V(0x1.71547652b82fep+0), V(0x1.777d0ffda0d24p-56));
}
template <class V>
HWY_INLINE V log10(V x) {
  return log_base(x, V(0x1.34413509f6p-2), V(0x1.9fef311f12b36p-42), V(0x1.bcb7b1526e50ep-2),
                  V(0x1.95355baaafad3p-57));
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
