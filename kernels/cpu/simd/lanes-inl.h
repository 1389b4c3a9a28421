// SPDX-License-Identifier: Apache-2.0

// A vector of T as a value type with operators, for kernels/expressions.h. Compiled once for each
// of Highway's targets.
#if defined(LIBDL_KERNELS_CPU_SIMD_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_SIMD_LANES_INL_H
#undef LIBDL_KERNELS_CPU_SIMD_LANES_INL_H
#else
#define LIBDL_KERNELS_CPU_SIMD_LANES_INL_H
#endif

#include <cstdint>
#include <limits>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/cpu/simd/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One truth value per lane.
template <class T>
struct Truth {
  hn::Mask<hn::ScalableTag<T>> raw;

  friend HWY_INLINE Truth operator&(Truth a, Truth b) { return {hn::And(a.raw, b.raw)}; }
  friend HWY_INLINE Truth operator|(Truth a, Truth b) { return {hn::Or(a.raw, b.raw)}; }
  friend HWY_INLINE Truth operator^(Truth a, Truth b) { return {hn::Xor(a.raw, b.raw)}; }
  friend HWY_INLINE Truth operator!(Truth a) { return {hn::Not(a.raw)}; }
};

// kDigits is the number of significant bits that elementary functions must deliver: 24 for doubles
// that become float32 results. Of two vectors in flight the second has kDivides: it uses the slow
// divide and square-root unit, while the first takes Newton steps to the same bits (AVX-512).
template <class T, int kDigits = std::numeric_limits<T>::digits, bool kSecond = false>
struct Lanes {
  using Scalar = T;
  using Tag = hn::ScalableTag<T>;
  using Raw = hn::Vec<Tag>;
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  using Words = hn::Vec<hn::ScalableTag<Word>>;
  using Second = Lanes<T, kDigits, true>;
  static constexpr int kBits = kDigits;
  static constexpr bool kDivides = kSecond;
  static constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
  static constexpr Word kBias = std::numeric_limits<T>::max_exponent - 1;
  Raw raw;

  HWY_INLINE Lanes() : raw(hn::Zero(Tag())) {}
  HWY_INLINE Lanes(T x) : raw(hn::Set(Tag(), x)) {}
  HWY_INLINE Lanes(Raw x) : raw(x) {}

  static HWY_INLINE Lanes of_bits(Words x) { return hn::BitCast(Tag(), x); }
  HWY_INLINE Words bits() const { return hn::BitCast(hn::ScalableTag<Word>(), raw); }
  static HWY_INLINE Words word(Word x) { return hn::Set(hn::ScalableTag<Word>(), x); }

  friend HWY_INLINE Lanes operator+(Lanes a, Lanes b) { return hn::Add(a.raw, b.raw); }
  friend HWY_INLINE Lanes operator-(Lanes a, Lanes b) { return hn::Sub(a.raw, b.raw); }
  friend HWY_INLINE Lanes operator*(Lanes a, Lanes b) { return hn::Mul(a.raw, b.raw); }
  friend HWY_INLINE Lanes operator/(Lanes a, Lanes b) { return hn::Div(a.raw, b.raw); }
  friend HWY_INLINE Lanes operator-(Lanes a) { return hn::Neg(a.raw); }
  friend HWY_INLINE Truth<T> operator==(Lanes a, Lanes b) { return {hn::Eq(a.raw, b.raw)}; }
  // Not hn::Ne, which is false for a NaN on AVX2 and AVX-512.
  friend HWY_INLINE Truth<T> operator!=(Lanes a, Lanes b) { return !(a == b); }
  friend HWY_INLINE Truth<T> operator<(Lanes a, Lanes b) { return {hn::Lt(a.raw, b.raw)}; }
  friend HWY_INLINE Truth<T> operator<=(Lanes a, Lanes b) { return {hn::Le(a.raw, b.raw)}; }
  friend HWY_INLINE Truth<T> operator>(Lanes a, Lanes b) { return {hn::Gt(a.raw, b.raw)}; }
  friend HWY_INLINE Truth<T> operator>=(Lanes a, Lanes b) { return {hn::Ge(a.raw, b.raw)}; }
  friend HWY_INLINE Lanes select(Truth<T> which, Lanes x, Lanes y) {
    return hn::IfThenElse(which.raw, x.raw, y.raw);
  }
};

template <class T>
HWY_INLINE bool any(Truth<T> which) {
  return !hn::AllFalse(hn::ScalableTag<T>(), which.raw);
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
