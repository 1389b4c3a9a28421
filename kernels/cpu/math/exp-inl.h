// SPDX-License-Identifier: Apache-2.0

// Exponentials of vectors: V is Lanes<float>, Lanes<double> or Lanes<double, 24>.
#if defined(LIBDL_KERNELS_CPU_MATH_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_EXP_INL_H
#undef LIBDL_KERNELS_CPU_MATH_EXP_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_EXP_INL_H
#endif

#include <limits>

#include "kernels/cpu/math/arithmetic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// Exponentials are split: e^x = 2^n (1 + p) with p small. n is an integer or, if all bits of a
// double are wanted, a multiple of 1/8, with the powers of two from a table: p then needs half as
// many terms.
template <class V>
constexpr int kCuts = kAllBits<V> ? 8 : 1;

// n is anchored in the last bits of this plus n: with the exponent's bias where n is whole.
template <class V, int cuts = kCuts<V>>
HWY_INLINE V power_anchor() {
  if constexpr (cuts == 8) return V(0x1.8p49);
  return anchor<V>() + V(static_cast<typename V::Scalar>(V::kBias));
}

// entries[i] by the three low bits of each lane of `index`; the other bits are ignored.
template <class V>
HWY_INLINE V pick(const double (&entries)[8], typename V::Words index) {
#if HWY_TARGET == HWY_AVX3
  return typename V::Raw{_mm512_permutexvar_pd(index.raw, _mm512_load_pd(entries))};
#elif HWY_TARGET == HWY_AVX2  // halves of words by two permutations, and the third bit as a sign
  const __m256i twice = _mm256_shuffle_epi32(_mm256_slli_epi64(index.raw, 1), 0xA0);
  const __m256i half = _mm256_or_si256(twice, _mm256_set1_epi64x(int64_t{1} << 32));
  const auto* words = reinterpret_cast<const float*>(entries);
  const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(words), half);
  const __m256 high = _mm256_permutevar8x32_ps(_mm256_load_ps(words + 8), half);
  const __m256d third = _mm256_castsi256_pd(_mm256_slli_epi64(index.raw, 61));
  return typename V::Raw{_mm256_blendv_pd(_mm256_castps_pd(low), _mm256_castps_pd(high), third)};
#else
  const typename V::Tag d;
  HWY_ALIGN uint64_t at[HWY_MAX_BYTES / sizeof(uint64_t)];
  HWY_ALIGN double y[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(index, hn::ScalableTag<uint64_t>(), at);
  for (size_t i = 0; i < hn::Lanes(d); ++i) y[i] = entries[at[i] & 7];
  return hn::Load(d, y);
#endif
}

// 2^(n + offset) for n anchored; the sum must be a normal exponent.
template <class V, int cuts = kCuts<V>>
HWY_INLINE V power_of_two(V anchored, int offset) {
  auto word = anchored.bits();
  if constexpr (cuts == 8) {
    word = hn::Add(hn::ShiftLeft<V::kMantissa - 3>(word),
                   pick<V>(coefficients::kShiftedEighths, word).bits());
    if (offset != 0) word = hn::Add(word, V::word(static_cast<uint64_t>(offset) << V::kMantissa));
    return V::of_bits(word);
  } else {
    if (offset != 0) word = hn::Add(word, V::word(static_cast<typename V::Word>(offset)));
    return V::of_bits(hn::ShiftLeft<V::kMantissa>(word));
  }
}

// n nearest to x / ln 2, and anchored.
template <class V, int cuts = kCuts<V>>
HWY_INLINE V exp_whole(V x, V& anchored) {
  const V log2e(static_cast<typename V::Scalar>(0x1.71547652b82fep+0));
  anchored = fma(x, log2e, power_anchor<V, cuts>());
  return anchored - power_anchor<V, cuts>();
}
// x = n ln 2 + r: returns r, and n anchored. |x| up to 2^10.
template <class V, int cuts = kCuts<V>>
HWY_INLINE V exp_rest(V x, V& anchored) {
  V n = exp_whole<V, cuts>(x, anchored), r;
  if constexpr (!kIsDouble<V>) {
    r = fma(n, V(-coefficients::kLn2Second), fma(n, V(-coefficients::kLn2First), x));
  } else if constexpr (kAllBits<V>) {
    r = fma(n, V(-0x1.a39ef35793c76p-33), fma(n, V(-0x1.62e42feep-1), x));
  } else {
    r = fma(n, V(-0x1.62e42fefa39efp-1), x);
  }
  return r;
}
// p of e^r = 1 + p.
template <class V, int cuts = kCuts<V>>
HWY_INLINE V exp_part(V r) {
  if constexpr (cuts == 8) {
    return fma(r * r, polynomial(r, coefficients::EighthTail::c), r);
  } else {
    return fma(r * r, tail<coefficients::ExpTail>(r), r);
  }
}
// e^r of floats directly: one rounding fewer than in 1 + p.
template <class V>
HWY_INLINE V exp_alone(V r) {
  const V one(1);
  return fma(r, fma(r, tail<coefficients::ExpTail>(r), one), one);
}
// e^x = 2^n (1 + p): returns p. A float's r would lose a quarter of an ulp where p is near -0.3, so
// its first part, which is exact, joins last.
template <class V, int cuts = kCuts<V>>
HWY_INLINE V exp_parts(V x, V& anchored) {
  if constexpr (kIsDouble<V>) {
    return exp_part<V, cuts>(exp_rest<V, cuts>(x, anchored));
  } else {
    const V n = exp_whole<V, cuts>(x, anchored);
    const V first = fma(n, V(-coefficients::kLn2First), x);
    const V second = n * V(-coefficients::kLn2Second);
    const V r = first + second;
    return first + fma(r * r, tail<coefficients::ExpTail>(r), second);
  }
}

// 2^n as the product of two normal numbers, for results that may overflow or be subnormal. x has
// the sign of n.
template <class V>
HWY_INLINE V two_powers(V anchored, V x, V& second) {
  using T = typename V::Scalar;
  constexpr int shift = kIsDouble<V> ? 128 : 64;
  const V up(T(kIsDouble<V> ? 0x1p128 : 0x1p64)), down(T(kIsDouble<V> ? 0x1p-128 : 0x1p-64));
  const auto small = x < V();
  second = select(small, down, up);
  return select(small, power_of_two(anchored, shift), power_of_two(anchored, -shift));
}
// 2^n y for an integer n: in one step, with the same bits, if the processor can.
template <class V>
HWY_INLINE V scaled(V y, V anchored, [[maybe_unused]] V x) {
#if HWY_TARGET == HWY_AVX3
  const V n = anchored - power_anchor<V>();
  if constexpr (kIsDouble<V>) {
    return typename V::Raw{_mm512_scalef_pd(y.raw.raw, n.raw.raw)};
  } else {
    return typename V::Raw{_mm512_scalef_ps(y.raw.raw, n.raw.raw)};
  }
#else
  V second, first = two_powers(anchored, x, second);
  return y * first * second;
#endif
}
// 2^n (1 + p), n in eighths.
template <class V>
HWY_INLINE V scaled_eighths(V p, V anchored, V x) {
#if HWY_TARGET == HWY_AVX3  // whose instruction takes the floor of n
  const V power = pick<V>(coefficients::kEighths, anchored.bits());
  return scaled(fma(power, p, power), anchored, x);
#else
  V second, first = two_powers(anchored, x, second);
  return fma(first, p, first) * second;
#endif
}

// e^(x + low) within 0.6 ulp, for values in the range of clamp_exponent().
template <class V>
HWY_INLINE V exp_of_sum(V x, V low) {
  V anchored, n = exp_whole(x, anchored);
  const V r = fma(n, V(-0x1.62e42feep-1), x) + fma(n, V(-0x1.a39ef35793c76p-33), low);
  const auto index = anchored.bits();
  const V power = pick<V>(coefficients::kEighths, index);
  const V y = power + fma(power, exp_part(r), pick<V>(coefficients::kEighthsLow, index));
#if HWY_TARGET == HWY_AVX3  // whose instruction takes the floor of n
  return scaled(y, anchored, x);
#else
  const auto small = x < V();
  const auto whole = hn::ShiftLeft<V::kMantissa - 3>(hn::And(index, V::word(~uint64_t{7})));
  const auto shift = select(small, V(0x1p128), V(0x1p-128)).bits();
  return y * V::of_bits(hn::Add(whole, shift)) * select(small, V(0x1p-128), V(0x1p128));
#endif
}

// Beyond these limits every exponential is infinite or zero. A NaN is returned.
template <class V>
HWY_INLINE V clamp_exponent(V x) {
  const V low(typename V::Scalar(kIsDouble<V> ? -746 : -104));
  const V high(typename V::Scalar(kIsDouble<V> ? 710 : 89));
  return at_least(at_most(x, high), low);
}

template <class V>
HWY_INLINE V exp(V x) {
  V n, a = clamp_exponent(x), r = exp_rest(a, n);
  if constexpr (!kIsDouble<V>) {
    return scaled(exp_alone(r), n, a);
  } else if constexpr (kAllBits<V>) {
    return scaled_eighths(exp_part(r), n, a);
  } else {
    V p = exp_part(r), scale = power_of_two(n, 0);  // float32 makes infinities and subnormals of it
    return select(x < V(-708), V(), fma(scale, p, scale));
  }
}

template <class V>
HWY_INLINE V expm1(V x) {
  const V low(typename V::Scalar(kIsDouble<V> ? -60 : -30));
  V n, a = at_least(clamp_exponent(x), low);
  V p = exp_parts<V, 1>(a, n);         // a table's rounding would count where 2^n - 1 is small
  V half = power_of_two<V, 1>(n, -1);  // 2^1024 itself would overflow
  V y = fma(half, p, half - V(typename V::Scalar(0.5)));
  y = y + y;
  return select(abs(x) < V(typename V::Scalar(kIsDouble<V> ? 0x1p-54 : 0x1p-25)), x, y);
}

template <class V>
HWY_INLINE V exp2(V x) {
  using T = typename V::Scalar;
  const V low(T(kIsDouble<V> ? -1080 : -152)), high(T(kIsDouble<V> ? 1030 : 130));
  V a = at_least(at_most(x, high), low);
  V anchored = a + power_anchor<V>();
  V r = a - (anchored - power_anchor<V>());
  if constexpr (kIsDouble<V>) {
    const V ln2(0x1.62e42fefa39efp-1);
    V h = r * ln2, rest = fma(r, V(0x1.abc9e3b39803fp-56), fma(r, ln2, -h));
    return scaled_eighths(exp_part(h) + rest, anchored, a);
  } else {
    return scaled(fma(r, polynomial(r, coefficients::PowerTail::c), V(1)), anchored, a);
  }
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
