// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm/split_amx.h"

#if defined(__x86_64__) && !defined(LIBDL_ONE_ISA)

#include <immintrin.h>

#include <atomic>

#include "hwy/base.h"
#include "kernels/cpu/simd/unroll.h"

#define LIBDL_INLINE inline __attribute__((always_inline))

#ifndef __clang__  // the headers of GCC 12 begin vectors with themselves
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16,bmi2,fma")
#include "kernels/cpu/gemm/transpose_sixteen-inl.h"
namespace libdl::kernels::cpu::split {
namespace {

constexpr int kParts = 3;
constexpr int64_t kTileBytes = 1024, kPartBytes = amx::kStepBytes;

// The nearest number whose lower half is 0.
LIBDL_INLINE __m512 rounded(__m512 x) {
  const __m512i bits = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
  return _mm512_castsi512_ps(
      _mm512_and_si512(bits, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
}

// Ranges of numbers, in vectors.
struct Ranges {
  __m512i least, most;

  LIBDL_INLINE Ranges() : least(_mm512_set1_epi32(-1)), most(_mm512_setzero_si512()) {}
  LIBDL_INLINE void add(__m512 x) {
    const __m512i bits = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MAX));
    least = _mm512_min_epu32(least, _mm512_add_epi32(bits, _mm512_set1_epi32(-1)));
    most = _mm512_max_epu32(most, bits);
  }
  LIBDL_INLINE Range all() const {
    return {_mm512_reduce_min_epu32(least), _mm512_reduce_max_epu32(most)};
  }
};

// Calls put(part, bits) with 32 bfloat16 for each part. The upper halves of two vectors are joined:
// one behind the other, as they lie along a line, or alternating, as they lie across two.
template <bool kAlternating, class Put>
LIBDL_INLINE void split_pair(__m512 x, __m512 y, Ranges& ranges, Put put) {
  alignas(64) static constexpr uint16_t kUpper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                      23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                      45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  ranges.add(x);
  ranges.add(y);
  const __m512i upper = _mm512_load_si512(kUpper);
  LIBDL_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const bool last = part + 1 == kParts;  // it has 8 bits
    const __m512 x0 = last ? x : rounded(x), y0 = last ? y : rounded(y);
    const __m512i u = _mm512_castps_si512(x0), v = _mm512_castps_si512(y0);
    put(part, kAlternating ? _mm512_mask_mov_epi16(_mm512_srli_epi32(u, 16), 0xaaaaaaaau, v)
                           : _mm512_permutex2var_epi16(u, upper, v));
    x = _mm512_sub_ps(x, x0);  // exact
    y = _mm512_sub_ps(y, y0);
  }
}

// The tiles, one a part, of up to sixteen lines and 32 values of k. Memory holds either lines or
// rows of one k; where the tile wants the other it is transposed.
template <bool kColumns>
LIBDL_INLINE void pack_tiles(char* to, const Lines& x, int64_t lines, int64_t k, Ranges& ranges) {
  alignas(64) float copy[16][32];
  const float* from = x.data;
  int64_t stride = x.line_stride;
  const bool by_k = x.k_stride != 1 && x.line_stride == 1;
  const auto put_all = [&](auto transposed, auto vectors) {
    alignas(64) __m512i rows[kParts][16];
    LIBDL_UNROLL
    for (int i = 0; i < 16; ++i)
      vectors(i, [&](int part, __m512i bits) {
        if constexpr (decltype(transposed)::value) {
          rows[part][i] = bits;
        } else {
          _mm512_store_si512(to + part * kPartBytes + 64 * i, bits);
        }
      });
    if constexpr (decltype(transposed)::value) {
      for (int part = 0; part < kParts; ++part) {
        amx::transpose(rows[part]);
        LIBDL_UNROLL
        for (int i = 0; i < 16; ++i)
          _mm512_store_si512(to + part * kPartBytes + 64 * i, rows[part][i]);
      }
    }
  };
  if (by_k) {
    const __mmask16 there = static_cast<__mmask16>((1u << lines) - 1);
    return put_all(std::bool_constant<!kColumns>(),
                   [&](int i, auto put) __attribute__((always_inline)) {
                     const float* row = from + 2 * i * x.k_stride;
                     const __mmask16 even = 2 * i < k ? there : __mmask16{0};
                     const __mmask16 odd = 2 * i + 1 < k ? there : __mmask16{0};
                     split_pair<true>(_mm512_maskz_loadu_ps(even, row),
                                      _mm512_maskz_loadu_ps(odd, row + x.k_stride), ranges, put);
                   });
  }
  if (x.k_stride != 1) {
    for (int64_t i = 0; i < lines; ++i)
      for (int64_t s = 0; s < k; ++s) copy[i][s] = from[i * stride + s * x.k_stride];
    from = copy[0], stride = 32;
  }
  const uint32_t there = k >= 32 ? UINT32_MAX : (1u << k) - 1;
  put_all(std::bool_constant<kColumns>(), [&](int i, auto put) __attribute__((always_inline)) {
    const uint32_t valid = i < lines ? there : 0;
    const float* line = from + i * stride;
    split_pair<false>(_mm512_maskz_loadu_ps(static_cast<__mmask16>(valid), line),
                      _mm512_maskz_loadu_ps(static_cast<__mmask16>(valid >> 16), line + 16), ranges,
                      put);
  });
}

template <bool kColumns>
Range pack(char* to, const Lines& x, int64_t lines, int64_t k) {
  Ranges ranges;
  for (int64_t k0 = 0; k0 < k; k0 += kStep, to += kStepBytes) {
    const int64_t here = std::min(kStep, k - k0);
    Lines part = {x.data + k0 * x.k_stride, x.line_stride, x.k_stride};
    pack_tiles<kColumns>(to, part, std::min<int64_t>(lines, 16), here, ranges);
    if (lines <= 16) continue;
    part.data += 16 * x.line_stride;
    pack_tiles<kColumns>(to + kTileBytes, part, lines - 16, here, ranges);
  }
  return ranges.all();
}

// Tiles 4 and 5 are of a, 6 and 7 of b, 0 to 3 of c.
template <int kDown>
LIBDL_INLINE void load_a(const char* a, int part) {
  _tile_loadd(4, a + part * kPartBytes, 64);
  if constexpr (kDown == 2) _tile_loadd(5, a + part * kPartBytes + kTileBytes, 64);
}
template <int kAcross>
LIBDL_INLINE void load_b(const char* b, int part) {
  _tile_stream_loadd(6, b + part * kPartBytes, 64);
  if constexpr (kAcross == 2) _tile_stream_loadd(7, b + part * kPartBytes + kTileBytes, 64);
}
template <int kDown, int kAcross>
LIBDL_INLINE void add_products() {
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (kAcross == 2) _tile_dpbf16ps(1, 4, 7);
  if constexpr (kDown == 2) {
    _tile_dpbf16ps(2, 5, 6);
    if constexpr (kAcross == 2) _tile_dpbf16ps(3, 5, 7);
  }
}

template <int kDown, int kAcross>
void product(const char* a, const char* b, int64_t steps) {
  // The compiler does not know that tiles are loaded from memory.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t s = 0; s < steps; ++s, a += kStepBytes, b += kStepBytes) {
    // From the smallest to the largest; each pair of parts keeps one of the pair before.
    load_a<kDown>(a, 2), load_b<kAcross>(b, 0), add_products<kDown, kAcross>();
    load_a<kDown>(a, 1), add_products<kDown, kAcross>();
    load_b<kAcross>(b, 1), add_products<kDown, kAcross>();
    load_a<kDown>(a, 0), add_products<kDown, kAcross>();
    load_b<kAcross>(b, 2), add_products<kDown, kAcross>();
    load_b<kAcross>(b, 0), add_products<kDown, kAcross>();
  }
}

}  // namespace

Range pack_rows(char* to, const Lines& a, int64_t lines, int64_t k) {
  return pack<false>(to, a, lines, k);
}
Range pack_columns(char* to, const Lines& b, int64_t lines, int64_t k) {
  return pack<true>(to, b, lines, k);
}

void pack_panel(char* to, const Lines& b, int64_t lines, int64_t k) {
  for (int64_t k0 = 0; k0 < k; k0 += kKBlock, to += kBlockBytes) {
    const Lines part = {b.data + k0 * b.k_stride, b.line_stride, b.k_stride};
    range_of(to) = pack_columns(to, part, lines, std::min(kKBlock, k - k0));
  }
}

void multiply(const char* a, const char* b, int64_t steps, int64_t rows, int64_t cols) {
  if (rows > 16) {
    cols > 16 ? product<2, 2>(a, b, steps) : product<2, 1>(a, b, steps);
  } else {
    cols > 16 ? product<1, 2>(a, b, steps) : product<1, 1>(a, b, steps);
  }
}

void finish(const Result& r, const float* c) {
  const uint32_t columns = r.cols >= 32 ? UINT32_MAX : (1u << r.cols) - 1;
  const __m512 alpha = _mm512_set1_ps(r.alpha), beta = _mm512_set1_ps(r.beta);
  for (int64_t i = 0; i < r.count; ++i, c += kSide) {
    LIBDL_UNROLL
    for (int half = 0; half < 2; ++half) {
      const __mmask16 there = static_cast<__mmask16>(columns >> (16 * half));
      float* const to = r.rows[i] + 16 * half;
      __m512 z = _mm512_mul_ps(_mm512_load_ps(c + 16 * half), alpha);
      if (r.beta != 0) {
        const __m512 old = _mm512_maskz_loadu_ps(there, to);
        z = _mm512_add_ps(z, _mm512_mul_ps(old, beta));
      }
      if (r.bias != nullptr) z = _mm512_add_ps(z, _mm512_maskz_loadu_ps(there, r.bias + 16 * half));
      if (r.stream) {
        _mm512_stream_ps(to, z);
      } else {
        _mm512_mask_storeu_ps(to, there, z);
      }
    }
  }
}

}  // namespace libdl::kernels::cpu::split
HWY_POP_ATTRIBUTES

#else

#include <cstdlib>

namespace libdl::kernels::cpu::split {  // matrix_unit() is false

Range pack_rows(char*, const Lines&, int64_t, int64_t) { std::abort(); }
Range pack_columns(char*, const Lines&, int64_t, int64_t) { std::abort(); }
void pack_panel(char*, const Lines&, int64_t, int64_t) { std::abort(); }
void multiply(const char*, const char*, int64_t, int64_t, int64_t) { std::abort(); }
void finish(const Result&, const float*) { std::abort(); }

}  // namespace libdl::kernels::cpu::split

#endif
