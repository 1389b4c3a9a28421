// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/traverse/transposition.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/traverse/transposition.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// A register holds 16 bytes of kStacked rows that lie 16 / bytes rows apart.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define LIBDL_UNPACK(half, bits) _mm256_unpack##half##_epi##bits
using Rows = __m256i;
constexpr int64_t kStacked = 2;
HWY_INLINE Rows load_rows(const char* from, int64_t apart) {
  const auto at = [=](int64_t i) HWY_ATTR {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * apart));
  };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(at(0)), at(1), 1);
}
HWY_INLINE void store_rows(void* to, Rows x) { _mm256_storeu_si256(static_cast<__m256i*>(to), x); }
#elif defined(__SSE2__)
#define LIBDL_UNPACK(half, bits) _mm_unpack##half##_epi##bits
using Rows = __m128i;
constexpr int64_t kStacked = 1;
HWY_INLINE Rows load_rows(const char* from, int64_t) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
HWY_INLINE void store_rows(void* to, Rows x) { _mm_storeu_si128(static_cast<__m128i*>(to), x); }
#endif

#ifdef LIBDL_UNPACK
template <int bytes>
HWY_INLINE Rows lower(Rows a, Rows b) {
  if constexpr (bytes == 1) return LIBDL_UNPACK(lo, 8)(a, b);
  if constexpr (bytes == 2) return LIBDL_UNPACK(lo, 16)(a, b);
  if constexpr (bytes == 4) return LIBDL_UNPACK(lo, 32)(a, b);
  return LIBDL_UNPACK(lo, 64)(a, b);
}
template <int bytes>
HWY_INLINE Rows upper(Rows a, Rows b) {
  if constexpr (bytes == 1) return LIBDL_UNPACK(hi, 8)(a, b);
  if constexpr (bytes == 2) return LIBDL_UNPACK(hi, 16)(a, b);
  if constexpr (bytes == 4) return LIBDL_UNPACK(hi, 32)(a, b);
  return LIBDL_UNPACK(hi, 64)(a, b);
}
#undef LIBDL_UNPACK

// 16 bytes of kStacked * 16 / bytes rows. Rows i and i + half are interleaved until all are.
template <int bytes>
HWY_INLINE void square(const char* from, int64_t from_stride, char* to, int64_t to_stride) {
  constexpr int kSide = 16 / bytes, kHalf = kSide / 2;
  Rows x[kSide], y[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) x[i] = load_rows(from + i * from_stride, kSide * from_stride);
#pragma GCC unroll 4
  for (int round = 1; round < kSide; round *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kHalf; ++i) {
      y[2 * i] = lower<bytes>(x[i], x[i + kHalf]);
      y[2 * i + 1] = upper<bytes>(x[i], x[i + kHalf]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) x[i] = y[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) store_rows(to + i * to_stride * bytes, x[i]);
}
#endif

// The last square of a line begins so early that it is whole: it writes again what is there.
template <int bytes>
void transpose_rows(const char* from, int64_t from_stride, int64_t rows, int64_t columns, void* to,
                    int64_t to_stride) {
  char* target = static_cast<char*>(to);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || defined(__SSE2__)
  constexpr int64_t kColumns = 16 / bytes, kRows = kStacked * kColumns;
  if (bytes < 16 && rows >= kRows && columns >= kColumns) {
    for (int64_t r = 0; r < rows; r += kRows) {
      r = std::min(r, rows - kRows);
      for (int64_t c = 0; c < columns; c += kColumns) {
        c = std::min(c, columns - kColumns);
        square<std::min(bytes, 8)>(from + r * from_stride + c * bytes, from_stride,
                                   target + (c * to_stride + r) * bytes, to_stride);
      }
    }
    return;
  }
#endif
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      std::memcpy(target + (c * to_stride + r) * bytes, from + r * from_stride + c * bytes, bytes);
    }
  }
}

TransposeFn transposer_on(int bytes) {
  switch (bytes) {
    case 1: return transpose_rows<1>;
    case 2: return transpose_rows<2>;
    case 4: return transpose_rows<4>;
    case 8: return transpose_rows<8>;
    default: return transpose_rows<16>;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

TransposeFn transposer(int bytes) {
  static constexpr decltype(&HWY_STATIC_DISPATCH(transposer_on)) kOn[] =
      LIBDL_FOR_EACH_ISA(transposer_on);
  return kOn[static_cast<int>(isa())](bytes);
}

}  // namespace libdl::kernels::cpu
#endif
