// SPDX-License-Identifier: Apache-2.0

// Building blocks of the elementary functions. V is Lanes<float>, Lanes<double> or
// Lanes<double, 24>.
#if defined(LIBDL_KERNELS_CPU_MATH_ARITHMETIC_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_ARITHMETIC_INL_H
#undef LIBDL_KERNELS_CPU_MATH_ARITHMETIC_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_ARITHMETIC_INL_H
#endif

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/cpu/math/math_coefficients.h"
#include "kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

template <class V>
HWY_INLINE V abs(V x) {
  return hn::Abs(x.raw);
}
template <class V>
HWY_INLINE V copysign(V x, V y) {
  return hn::CopySign(x.raw, y.raw);
}
// Rounded once if the processor has fma; the baseline rounds twice.
template <class V>
HWY_INLINE V fma(V x, V y, V z) {
  return hn::MulAdd(x.raw, y.raw, z.raw);
}
// z - x y; fma(-x, y, z) costs the change of sign.
template <class V>
HWY_INLINE V nfma(V x, V y, V z) {
  return hn::NegMulAdd(x.raw, y.raw, z.raw);
}
#if HWY_TARGET == HWY_SCALAR  // there hn::Ceil(0) is -0
#define LIBDL_ROUNDING(name, system, Highway) \
  template <class V>                          \
  HWY_INLINE V name(V x) {                    \
    return std::system(hn::GetLane(x.raw));   \
  }
#elif defined(HWY_SSE2) && HWY_TARGET == HWY_SSE2  // rounds through integers, which have no -0
#define LIBDL_ROUNDING(name, system, Highway)       \
  template <class V>                                \
  HWY_INLINE V name(V x) {                          \
    return hn::CopySign(hn::Highway(x.raw), x.raw); \
  }
#else
#define LIBDL_ROUNDING(name, system, Highway) \
  template <class V>                          \
  HWY_INLINE V name(V x) {                    \
    return hn::Highway(x.raw);                \
  }
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
HWY_INLINE V infinity() {
  return std::numeric_limits<typename V::Scalar>::infinity();
}

// The smaller and the larger; a NaN in x is returned, as x86's instructions do for the second
// operand.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
template <class V>
HWY_INLINE V at_most(V x, V limit) {
  return hn::Min(limit.raw, x.raw);
}
template <class V>
HWY_INLINE V at_least(V x, V limit) {
  return hn::Max(limit.raw, x.raw);
}
#else
template <class V>
HWY_INLINE V at_most(V x, V limit) {
  return select(x > limit, limit, x);
}
template <class V>
HWY_INLINE V at_least(V x, V limit) {
  return select(x < limit, limit, x);
}
#endif

// Whether any lane is outside [least, limit). As integers, negative numbers, numbers too small or
// too large and NaN are all outside one range, which is compared with flipped sign bits.
template <class V>
HWY_INLINE bool any_outside(V x, V least, V limit) {
  using Signed = std::make_signed_t<typename V::Word>;
  const hn::ScalableTag<Signed> whole;
  const auto from = hn::Sub(least.bits(), V::word(typename V::Word{1} << (sizeof(Signed) * 8 - 1)));
  const auto last = hn::Sub(hn::Sub(limit.bits(), from), V::word(1));
  const auto at = hn::BitCast(whole, hn::Sub(x.bits(), from));
  return !hn::AllFalse(whole, hn::Gt(at, hn::BitCast(whole, last)));
}

// 1 / x correctly rounded, for x between 2^-60 and 2^60 (2^-1000 and 2^1000 for doubles). If
// division is slow: Newton steps, the last of them from within one ulp, which rounds correctly
// (Markstein 1990), except that for a significand of all ones it must start from above: hence the
// rounding up. tests/core/ulp_test.cc tries all floats.
#if HWY_TARGET == HWY_AVX3
template <class V>
HWY_INLINE V newton_reciprocal(V x) {
  constexpr int up = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
  if constexpr (kIsDouble<V>) {
    const __m512d one = _mm512_set1_pd(1), a = x.raw.raw;
    __m512d y = _mm512_rcp14_pd(a);
    y = _mm512_fmadd_pd(_mm512_fnmadd_pd(a, y, one), y, y);
    y = _mm512_fmadd_round_pd(_mm512_fnmadd_pd(a, y, one), y, y, up);
    return typename V::Raw{_mm512_fmadd_pd(_mm512_fnmadd_pd(a, y, one), y, y)};
  } else {
    const __m512 one = _mm512_set1_ps(1), a = x.raw.raw;
    __m512 y = _mm512_rcp14_ps(a);
    y = _mm512_fmadd_round_ps(_mm512_fnmadd_ps(a, y, one), y, y, up);
    return typename V::Raw{_mm512_fmadd_ps(_mm512_fnmadd_ps(a, y, one), y, y)};
  }
}
#endif
template <class V>
HWY_INLINE V reciprocal(V x) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (!V::kDivides) return newton_reciprocal(x);
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
// The square root, correctly rounded. If the instruction is slow: Newton steps for the root and
// half of its reciprocal, in Goldschmidt's form, and one more with the exact remainder for
// rounding. The error before rounding is 2^-104 for doubles; tests/core/ulp_test.cc tries the roots
// nearer than that to a rounding boundary.
template <class V>
HWY_INLINE V sqrt(V x) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (V::kDivides) return hn::Sqrt(x.raw);
  using T = typename V::Scalar;
  const T least(kIsDouble<V> ? 0x1p-900 : 0x1p-100);
  // Same bits wherever both apply.
  if (any_outside(x, V(least), infinity<V>())) return hn::Sqrt(x.raw);
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

// Doubles that become floats need 1 / sqrt(x) to 2^-50: from 14 bits by the series of
// (1 - e)^(-1/2), e = 1 - x y^2. tests/core/ulp_test.cc compares all floats with the other way.
template <class V>
HWY_INLINE V rsqrt(V x) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (kIsDouble<V> && !kAllBits<V>) {
    if (any_outside(x, V(0x1p-150), V(0x1p130))) return V(1) / sqrt(x);
    V y = rough_rsqrt(x), e = nfma(x * y, y, V(1));
    return fma(y * e, fma(e, fma(e, fma(e, V(0.2734375), V(0.3125)), V(0.375)), V(0.5)), y);
  }
#endif
  return V(1) / sqrt(x);
}

// Horner's rule, coefficients by increasing power.
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

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
