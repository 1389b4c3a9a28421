// SPDX-License-Identifier: Apache-2.0

// For files whose functions have AVX-512, after they say so.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/simd/unroll.h"

namespace libdl::kernels::cpu::amx {

// Sixteen rows of sixteen 32-bit values, columns for rows.
inline __attribute__((always_inline)) void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  LIBDL_UNROLL
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  LIBDL_UNROLL
  for (int i = 0; i < 16; i += 4) {  // r[i + c]: columns c, c + 4, c + 8, c + 12 of four rows
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  LIBDL_UNROLL
  for (int c = 0; c < 4; ++c) {
    const __m512i a = _mm512_shuffle_i32x4(r[c], r[c + 4], 0x88);
    const __m512i b = _mm512_shuffle_i32x4(r[c + 8], r[c + 12], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(r[c], r[c + 4], 0xdd);
    const __m512i e = _mm512_shuffle_i32x4(r[c + 8], r[c + 12], 0xdd);
    r[c] = _mm512_shuffle_i32x4(a, b, 0x88);
    r[c + 8] = _mm512_shuffle_i32x4(a, b, 0xdd);
    r[c + 4] = _mm512_shuffle_i32x4(d, e, 0x88);
    r[c + 12] = _mm512_shuffle_i32x4(d, e, 0xdd);
  }
}

}  // namespace libdl::kernels::cpu::amx
