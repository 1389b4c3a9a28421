// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm/tiles_dot.h"

#if defined(__x86_64__) && !defined(LIBDL_ONE_ISA)

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hwy/base.h"
#include "kernels/cpu/simd/unroll.h"

#ifndef __clang__  // the headers of GCC 12 begin vectors with themselves
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,bmi2,fma")
namespace libdl::kernels::cpu::amx {
namespace {

// Rows whose sums are in registers at a time: a divisor of a tile's sixteen. An instruction's
// result is there six cycles after it began; of eight rows and two vectors one begins in each.
constexpr int64_t kRows = 8;
constexpr int64_t kPairs = kStep / 2;

// Sums of R rows and 16 V columns.
template <int R, int V>
struct Sums {
  __m512 at[R][V];

  inline __attribute__((always_inline)) void begin(const float* c, bool add) {
    LIBDL_UNROLL
    for (int r = 0; r < R; ++r) {
      LIBDL_UNROLL
      for (int v = 0; v < V; ++v)
        at[r][v] = add ? _mm512_load_ps(c + r * kSide + v * 16) : _mm512_setzero_ps();
    }
  }
  inline __attribute__((always_inline)) void add_step(const char* a, int64_t stride,
                                                      const char* b) {
    LIBDL_UNROLL_TWICE
    for (int64_t p = 0; p < kPairs; ++p, a += 4, b += 64) {
      __m512bh y[V];
      LIBDL_UNROLL
      for (int v = 0; v < V; ++v)
        y[v] = reinterpret_cast<__m512bh>(_mm512_load_si512(b + v * 1024));
      LIBDL_UNROLL
      for (int r = 0; r < R; ++r) {
        int pair;
        std::memcpy(&pair, a + r * stride, sizeof(pair));
        const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
        LIBDL_UNROLL
        for (int v = 0; v < V; ++v) at[r][v] = _mm512_dpbf16_ps(at[r][v], x, y[v]);
      }
    }
  }
  inline __attribute__((always_inline)) void end(float* c) const {
    LIBDL_UNROLL
    for (int r = 0; r < R; ++r) {
      LIBDL_UNROLL
      for (int v = 0; v < V; ++v) _mm512_store_ps(c + r * kSide + v * 16, at[r][v]);
    }
  }
};

// Rows [first, first + R) of the block, all of one tile.
template <int R, int V>
__attribute__((noinline)) void multiply_rows(const Block& t, int64_t first) {
  const int64_t tile = first / 16, row = first % 16;
  float* const c = t.c + first * kSide;
  Sums<R, V> sums;
  sums.begin(c, t.add);
  const char* b = t.b;
  for (int64_t g = 0; g < t.segments; ++g) {
    const char* a = t.a + tile * t.second + row * t.stride + g * t.segment;
    for (int64_t s = 0; s < t.count; ++s, a += t.step, b += kStepBytes)
      sums.add_step(a, t.stride, b);
  }
  if (t.last != nullptr) sums.add_step(t.last + tile * 1024 + row * 64, 64, b);
  sums.end(c);
}

template <int V, int... R>
void multiply_rows(const Block& t, int64_t first, int64_t rows, std::integer_sequence<int, R...>) {
  static constexpr void (*kOf[])(const Block&, int64_t) = {multiply_rows<R + 1, V>...};
  kOf[rows - 1](t, first);
}

}  // namespace

void multiply_in_vectors(const Block& block) {
  constexpr auto kHeights = std::make_integer_sequence<int, static_cast<int>(kRows)>();
  for (int64_t r = 0; r < block.rows; r += kRows) {
    const int64_t rows = std::min(kRows, block.rows - r);
    block.cols > 16 ? multiply_rows<2>(block, r, rows, kHeights)
                    : multiply_rows<1>(block, r, rows, kHeights);
  }
}

}  // namespace libdl::kernels::cpu::amx
HWY_POP_ATTRIBUTES

#else

#include <cstdlib>

namespace libdl::kernels::cpu::amx {  // bfloat_unit() is kNone

void multiply_in_vectors(const Block&) { std::abort(); }

}  // namespace libdl::kernels::cpu::amx

#endif
