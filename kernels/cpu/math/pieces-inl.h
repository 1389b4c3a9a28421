// SPDX-License-Identifier: Apache-2.0

// Functions of float by piecewise polynomials with eight pieces. Each coefficient of a lane's piece
// comes from one permutation of a register, so that no branch or select is needed.
#if defined(LIBDL_KERNELS_CPU_MATH_PIECES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_PIECES_INL_H
#undef LIBDL_KERNELS_CPU_MATH_PIECES_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_PIECES_INL_H
#endif

#include "kernels/cpu/math/arithmetic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// The entries given by the three low bits of each lane of `index`; the other bits are ignored.
template <class V>
HWY_INLINE V pick(const float (&entries)[8], typename V::Words index) {
#if HWY_TARGET == HWY_AVX3
  const __m512 twice = _mm512_broadcast_f32x8(_mm256_load_ps(entries));
  return typename V::Raw{_mm512_permutexvar_ps(index.raw, twice)};
#elif HWY_TARGET == HWY_AVX2
  return typename V::Raw{_mm256_permutevar8x32_ps(_mm256_load_ps(entries), index.raw)};
#else
  const typename V::Tag d;
  HWY_ALIGN uint32_t at[HWY_MAX_BYTES / sizeof(uint32_t)];
  HWY_ALIGN float y[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(index, hn::ScalableTag<uint32_t>(), at);
  for (size_t i = 0; i < hn::Lanes(d); ++i) y[i] = entries[at[i] & 7];
  return hn::Load(d, y);
#endif
}

// Tables have a row of centres, and rows of coefficients by increasing power of the distance to
// them.
template <class V, size_t rows>
HWY_INLINE V from_centre(V x, typename V::Words index, const float (&table)[rows][8]) {
  return x - pick<V>(table[0], index);
}
// The polynomial of rows `row` to the last.
template <class V, size_t row, size_t rows>
HWY_INLINE V piece(V distance, typename V::Words index, const float (&table)[rows][8]) {
  const V c = pick<V>(table[row], index);
  if constexpr (row + 1 == rows) {
    return c;
  } else {
    return fma(piece<V, row + 1>(distance, index, table), distance, c);
  }
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
