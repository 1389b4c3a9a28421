// SPDX-License-Identifier: Apache-2.0

// Tables with sixteen rows of doubles, from which each lane selects its own.
#if defined(LIBDL_KERNELS_CPU_MATH_SIXTEENTHS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_SIXTEENTHS_INL_H
#undef LIBDL_KERNELS_CPU_MATH_SIXTEENTHS_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_SIXTEENTHS_INL_H
#endif

#include "kernels/cpu/math/arithmetic-inl.h"
#include "kernels/cpu/math/math_tables.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// Columns k and up of the rows given by the four low bits of each lane of `index`; the other bits
// are ignored. AVX-512 holds a column in two registers and permutes it. The other targets read what
// a lane needs from the rows, two columns at a time.
#if HWY_TARGET == HWY_AVX3
template <class V>
struct Rows {
  __m512i index;
  HWY_INLINE explicit Rows(typename V::Words i) : index(i.raw) {}

  template <class Table, size_t k>
  HWY_INLINE V column() const {
    const __m512d low = _mm512_load_pd(Table::c[k]), high = _mm512_load_pd(Table::c[k] + 8);
    return typename V::Raw{_mm512_permutex2var_pd(low, index, high)};
  }
  template <class Table, size_t k>
  HWY_INLINE void pair(V* y) const {
    y[k] = column<Table, k>();
    if constexpr (k + 1 < Table::kColumns) y[k + 1] = column<Table, k + 1>();
  }
};
#elif HWY_TARGET == HWY_AVX2
template <class V>
struct Rows {
  size_t row[4];
  HWY_INLINE explicit Rows(typename V::Words i) {
    const __m256i at = _mm256_and_si256(i.raw, _mm256_set1_epi64x(15));
    const __m128i low = _mm256_castsi256_si128(at), high = _mm256_extracti128_si256(at, 1);
    row[0] = static_cast<size_t>(_mm_cvtsi128_si64(low));
    row[1] = static_cast<size_t>(_mm_extract_epi64(low, 1));
    row[2] = static_cast<size_t>(_mm_cvtsi128_si64(high));
    row[3] = static_cast<size_t>(_mm_extract_epi64(high, 1));
  }

  template <class Table, size_t k>
  HWY_INLINE __m256d two(int lane) const {
    const auto& rows = coefficients::kRows<Table>.c;
    const __m256d low = _mm256_castpd128_pd256(_mm_load_pd(rows[row[lane]] + k));
    return _mm256_insertf128_pd(low, _mm_load_pd(rows[row[lane + 2]] + k), 1);
  }
  template <class Table, size_t k>
  HWY_INLINE void pair(V* y) const {
    const __m256d even = two<Table, k>(0), odd = two<Table, k>(1);
    y[k] = typename V::Raw{_mm256_unpacklo_pd(even, odd)};
    if constexpr (k + 1 < Table::kColumns) {
      y[k + 1] = typename V::Raw{_mm256_unpackhi_pd(even, odd)};
    }
  }
};
#else
template <class V>
struct Rows {
  HWY_ALIGN uint64_t at[HWY_MAX_BYTES / sizeof(uint64_t)];
  HWY_INLINE explicit Rows(typename V::Words index) {
    hn::Store(index, hn::ScalableTag<uint64_t>(), at);
  }

  template <class Table, size_t k>
  HWY_INLINE V column() const {
    const typename V::Tag d;
    HWY_ALIGN double lane[HWY_MAX_BYTES / sizeof(double)];
    for (size_t i = 0; i < hn::Lanes(d); ++i) lane[i] = Table::c[k][at[i] & 15];
    return hn::Load(d, lane);
  }
  template <class Table, size_t k>
  HWY_INLINE void pair(V* y) const {
    y[k] = column<Table, k>();
    if constexpr (k + 1 < Table::kColumns) y[k + 1] = column<Table, k + 1>();
  }
};
#endif

template <class Table, size_t k = 0, class V>
HWY_INLINE void take(const Rows<V>& rows, V (&y)[Table::kColumns]) {
  rows.template pair<Table, k>(y);
  if constexpr (k + 2 < Table::kColumns) take<Table, k + 2>(rows, y);
}
// Of a column of sixteen floats the values that the three low bits of each lane of `index` name;
// AVX-512 looks at four.
constexpr bool kSixteenFloats = HWY_TARGET == HWY_AVX3;
template <class V>
HWY_INLINE V one_of_eight(const float (&column)[16], typename V::Words index) {
#if HWY_TARGET == HWY_AVX3
  return typename V::Raw{_mm512_permutexvar_ps(index.raw, _mm512_load_ps(column))};
#elif HWY_TARGET == HWY_AVX2
  return typename V::Raw{_mm256_permutevar8x32_ps(_mm256_load_ps(column), index.raw)};
#else
  constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(float);
  const typename V::Tag d;
  HWY_ALIGN uint32_t at[kLanes];
  HWY_ALIGN float lane[kLanes];
  hn::Store(index, hn::ScalableTag<uint32_t>(), at);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lane[i] = column[at[i] & 7];
  return hn::Load(d, lane);
#endif
}

// The polynomial of the lanes' own coefficients c[k] and up, by rising power.
template <size_t k, class V, size_t n>
HWY_INLINE V rising(V x, const V (&c)[n]) {
  if constexpr (k + 1 == n) {
    return c[k];
  } else {
    return fma(rising<k + 1>(x, c), x, c[k]);
  }
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
