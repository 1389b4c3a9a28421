// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm/tiles_amx.h"

#if defined(__x86_64__) && !defined(LIBDL_ONE_ISA)

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "hwy/base.h"
#include "kernels/cpu/gemm/matrix_unit.h"
#include "kernels/cpu/gemm/tiles_dot.h"
#include "kernels/cpu/simd/unroll.h"

#define LIBDL_INLINE inline __attribute__((always_inline))

#ifndef __clang__  // the headers of GCC 12 begin vectors with themselves
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16,bmi2,fma")
#include "kernels/cpu/gemm/transpose_sixteen-inl.h"
namespace libdl::kernels::cpu::amx {
namespace {

// One tile of up to sixteen lines and 32 values of k. Memory holds either lines, or pairs of rows
// that are interleaved; where the tile wants the other it is transposed.
template <bool kPairs>
LIBDL_INLINE void pack_tile(char* to, const Lines& x, int64_t lines, int64_t k) {
  __m512i r[16];
  alignas(64) uint16_t copy[16][32];
  const uint16_t* from = x.data;
  int64_t stride = x.line_stride;
  const bool by_k = x.k_stride != 1 && x.line_stride == 1;
  if (by_k) {
    const __mmask16 there = static_cast<__mmask16>((1u << lines) - 1);
    LIBDL_UNROLL
    for (int p = 0; p < 16; ++p) {
      const __mmask16 even = 2 * p < k ? there : __mmask16{0};
      const __mmask16 odd = 2 * p + 1 < k ? there : __mmask16{0};
      const uint16_t* row = from + 2 * p * x.k_stride;
      const __m256i low = _mm256_maskz_loadu_epi16(even, row);
      const __m256i high = _mm256_maskz_loadu_epi16(odd, row + x.k_stride);
      r[p] = _mm512_or_si512(_mm512_cvtepu16_epi32(low),
                             _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
    }
  } else {
    if (x.k_stride != 1) {
      for (int64_t i = 0; i < lines; ++i) {
        for (int64_t s = 0; s < k; ++s) copy[i][s] = from[i * stride + s * x.k_stride];
      }
      from = copy[0], stride = 32;
    }
    const __mmask32 there = static_cast<__mmask32>((uint64_t{1} << k) - 1);
    LIBDL_UNROLL
    for (int i = 0; i < 16; ++i) {
      r[i] = _mm512_maskz_loadu_epi16(i < lines ? there : __mmask32{0}, from + i * stride);
    }
  }
  if (by_k != kPairs) transpose(r);
  LIBDL_UNROLL
  for (int i = 0; i < 16; ++i) _mm512_store_si512(to + 64 * i, r[i]);
}

// Pairs of rows, of 32 columns each.
template <class F>
LIBDL_INLINE void interleave_pairs(char* to, F row) {
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  for (int p = 0; p < 16; ++p, to += 64) {
    const __m512i even = row(2 * p), odd = row(2 * p + 1);
    const __m512i low = _mm512_unpacklo_epi16(even, odd), high = _mm512_unpackhi_epi16(even, odd);
    _mm512_store_si512(to, _mm512_permutex2var_epi64(low, first, high));
    _mm512_store_si512(to + 1024, _mm512_permutex2var_epi64(low, second, high));
  }
}

template <bool kPairs>
void pack(char* to, const Lines& x, int64_t lines, int64_t k) {
  for (int64_t k0 = 0; k0 < k; k0 += kStep, to += kStepBytes) {
    const int64_t here = std::min(kStep, k - k0);
    Lines part = {x.data + k0 * x.k_stride, x.line_stride, x.k_stride};
    if (kPairs && x.line_stride == 1 && x.k_stride != 1 && lines == kSide) {
      interleave_pairs(to, [&](int64_t r) {
        return r < here ? _mm512_loadu_si512(part.data + r * part.k_stride)
                        : _mm512_setzero_si512();
      });
      continue;
    }
    pack_tile<kPairs>(to, part, std::min<int64_t>(lines, 16), here);
    if (lines <= 16) {
      std::memset(to + 1024, 0, 1024);
      continue;
    }
    part.data += 16 * x.line_stride;
    pack_tile<kPairs>(to + 1024, part, lines - 16, here);
  }
}

// One step: tiles 4 and 5 are of a, 6 and 7 of b, 0 to 3 of c.
template <int kDown, int kAcross>
LIBDL_INLINE void step(const char* a, int64_t stride, int64_t second, const char* b) {
  _tile_loadd(4, a, stride);
  _tile_stream_loadd(6, b, 64);
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (kAcross == 2) {
    _tile_stream_loadd(7, b + 1024, 64);
    _tile_dpbf16ps(1, 4, 7);
  }
  if constexpr (kDown == 2) {
    _tile_loadd(5, a + second, stride);
    _tile_dpbf16ps(2, 5, 6);
    if constexpr (kAcross == 2) _tile_dpbf16ps(3, 5, 7);
  }
}

template <int kDown, int kAcross>
void product(const Block& t) {
  constexpr int64_t kRow = kSide * sizeof(float);
  // The compiler does not know that tiles are loaded from memory.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (t.add) {
    _tile_loadd(0, t.c, kRow);
    if constexpr (kAcross == 2) _tile_loadd(1, t.c + 16, kRow);
    if constexpr (kDown == 2) _tile_loadd(2, t.c + 16 * kSide, kRow);
    if constexpr (kDown == 2 && kAcross == 2) _tile_loadd(3, t.c + 16 * kSide + 16, kRow);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const char* b = t.b;
  for (int64_t g = 0; g < t.segments; ++g) {
    const char* a = t.a + g * t.segment;
    for (int64_t s = 0; s < t.count; ++s, a += t.step, b += kStepBytes) {
      step<kDown, kAcross>(a, t.stride, t.second, b);
    }
  }
  if (t.last != nullptr) step<kDown, kAcross>(t.last, 64, 1024, b);
}

template <int kDown, int kAcross>
void store_product(const Block& t) {
  constexpr int64_t kRow = kSide * sizeof(float);
  _tile_stored(0, t.c, kRow);
  if constexpr (kAcross == 2) _tile_stored(1, t.c + 16, kRow);
  if constexpr (kDown == 2) _tile_stored(2, t.c + 16 * kSide, kRow);
  if constexpr (kDown == 2 && kAcross == 2) _tile_stored(3, t.c + 16 * kSide + 16, kRow);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// alpha * c + beta * old + bias for sixteen columns, of which those of the mask exist.
LIBDL_INLINE __m512 scaled(const Result& r, const float* c, const uint16_t* old, __mmask16 there,
                           int64_t j) {
  __m512 z = _mm512_mul_ps(_mm512_loadu_ps(c + j), _mm512_set1_ps(r.alpha));
  if (r.beta != 0) {
    const __m256i bits = _mm256_maskz_loadu_epi16(there, old + j);
    const __m512i wide = _mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
    z = _mm512_add_ps(z, _mm512_mul_ps(_mm512_set1_ps(r.beta), _mm512_castsi512_ps(wide)));
  }
  if (r.bias != nullptr) z = _mm512_add_ps(z, _mm512_loadu_ps(r.bias + j));
  return z;
}

LIBDL_INLINE __m512i rounded(__m512 low, __m512 high) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

// Where there is nothing to scale or to add, and rows lie in memory.
void finish_direct(const Result& r, const float* c, __mmask32 there) {
  uint16_t* out = r.out;
  const int64_t rows = r.rows, stride = r.row_stride;
  if (r.cols == kSide) {
    for (int64_t i = 0; i < rows; ++i, c += kSide, out += stride) {
      _mm512_storeu_si512(out, rounded(_mm512_load_ps(c), _mm512_load_ps(c + 16)));
    }
    return;
  }
  for (int64_t i = 0; i < rows; ++i, c += kSide, out += stride) {
    _mm512_mask_storeu_epi16(out, there, rounded(_mm512_load_ps(c), _mm512_load_ps(c + 16)));
  }
}

}  // namespace

void pack_rows(char* to, const Lines& a, int64_t lines, int64_t k) { pack<false>(to, a, lines, k); }
void pack_columns(char* to, const Lines& b, int64_t lines, int64_t k) {
  pack<true>(to, b, lines, k);
}

void pack_scattered(char* to, const Scattered& x) {
  alignas(64) static constexpr uint16_t kZeros[kSide] = {};
  alignas(64) const uint16_t* rows[kStep];
  const __m512i data = _mm512_set1_epi64(reinterpret_cast<int64_t>(x.data));
  const __m512i zeros = _mm512_set1_epi64(reinterpret_cast<int64_t>(kZeros));
  const __m512i required = _mm512_set1_epi64(static_cast<int64_t>(x.required));
  LIBDL_UNROLL
  for (int k = 0; k < kStep; k += 8) {
    const __m512i valid = _mm512_and_si512(_mm512_loadu_si512(x.valid + k), required);
    const __m512i at = _mm512_slli_epi64(_mm512_loadu_si512(x.at + k), 1);
    const __mmask8 there = _mm512_cmpeq_epi64_mask(valid, required);
    _mm512_store_si512(rows + k, _mm512_mask_add_epi64(zeros, there, data, at));
  }
  interleave_pairs(to, [&](int64_t r) { return _mm512_loadu_si512(rows[r]); });
}

void begin() {
  if (!matrix_unit()) return;
  // Palette 1: eight tiles of 64 bytes a row, and their rows.
  alignas(64) static constexpr struct {
    uint8_t palette = 1, start = 0, none[14] = {};
    uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } kTiles;
  static_assert(sizeof(kTiles) == 64);
  _tile_loadconfig(&kTiles);
}
void end() {
  if (matrix_unit()) _tile_release();
}

void multiply(const Block& block) {
  if (!matrix_unit()) return;  // store() does all
  if (block.rows > 16) {
    block.cols > 16 ? product<2, 2>(block) : product<2, 1>(block);
  } else {
    block.cols > 16 ? product<1, 2>(block) : product<1, 1>(block);
  }
}
void store(const Block& block) {
  if (!matrix_unit()) return multiply_in_vectors(block);
  if (block.rows > 16) {
    block.cols > 16 ? store_product<2, 2>(block) : store_product<2, 1>(block);
  } else {
    block.cols > 16 ? store_product<1, 2>(block) : store_product<1, 1>(block);
  }
}

void finish(const Result& r, const float* c) {
  const __mmask32 there = static_cast<__mmask32>((uint64_t{1} << r.cols) - 1);
  if (r.alpha == 1 && r.beta == 0 && r.bias == nullptr && r.col_stride == 1) {
    return finish_direct(r, c, there);
  }
  const __mmask16 low = static_cast<__mmask16>(there), high = static_cast<__mmask16>(there >> 16);
  alignas(64) uint16_t copy[kSide] = {};
  uint16_t* out = r.out;
  for (int64_t i = 0; i < r.rows; ++i, c += kSide, out += r.row_stride) {
    const uint16_t* old = out;
    if (r.col_stride != 1 && r.beta != 0) {
      for (int64_t j = 0; j < r.cols; ++j) copy[j] = out[j * r.col_stride];
      old = copy;
    }
    const __m512i row = rounded(scaled(r, c, old, low, 0), scaled(r, c, old, high, 16));
    if (r.col_stride == 1) {
      _mm512_mask_storeu_epi16(out, there, row);
      continue;
    }
    _mm512_store_si512(copy, row);
    for (int64_t j = 0; j < r.cols; ++j) out[j * r.col_stride] = copy[j];
  }
}

}  // namespace libdl::kernels::cpu::amx
HWY_POP_ATTRIBUTES

#else

#include <cstdlib>

namespace libdl::kernels::cpu::amx {  // bfloat_unit() is kNone

void pack_rows(char*, const Lines&, int64_t, int64_t) { std::abort(); }
void pack_columns(char*, const Lines&, int64_t, int64_t) { std::abort(); }
void pack_scattered(char*, const Scattered&) { std::abort(); }
void begin() { std::abort(); }
void end() { std::abort(); }
void multiply(const Block&) { std::abort(); }
void store(const Block&) { std::abort(); }
void finish(const Result&, const float*) { std::abort(); }

}  // namespace libdl::kernels::cpu::amx

#endif
