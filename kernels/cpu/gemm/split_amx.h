// SPDX-License-Identifier: Apache-2.0

// Products of float32 on the processor's matrix unit (AMX), which multiplies bfloat16: each number
// is the exact sum of three bfloat16, the first nearest to it and the second nearest to the rest.
// Of the nine products of parts the six largest are summed, each exact in float32. What is left out
// is at most 2^-23 of a product's size, and of either sign.
//   G. Henry, P. T. P. Tang, A. Heinecke: Leveraging the bfloat16 Artificial Intelligence Datatype
//   For Higher-Precision Computations, ARITH 2019.
// Call these only if matrix_unit() (matrix_unit.h) is true, between amx::begin() and amx::end().
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/gemm/tiles_amx.h"

namespace libdl::kernels::cpu::split {

constexpr int64_t kSide = amx::kSide, kStep = amx::kStep;
constexpr int64_t kStepBytes = 3 * amx::kStepBytes;  // of 32 lines: for each part two tiles
constexpr int64_t kKBlock = 384;                     // values of k that are summed in tiles

// The magnitudes of numbers, as bits: the least but 0, less one, and the largest.
struct Range {
  uint32_t least = UINT32_MAX;
  uint32_t most = 0;
};

// Whether parts and their products are normal numbers, as the matrix unit wants them: factors are
// below 2^127 and, but for zeros, at least 2^-99, and so are their products. Those are so small
// that no sum of a block overflows, where parts are rounded up and added in another order.
inline bool fits(const Range& a, const Range& b) {
  constexpr uint32_t kInfinity = 255, kBias = 127, kLeast = 100;
  constexpr uint32_t kSums = 12;                        // exponents: 384 products below 2^2
  const uint32_t x = a.least >> 23, y = b.least >> 23;  // 511: there are zeros alone
  const uint32_t u = a.most >> 23, v = b.most >> 23;
  return std::max(u, v) < kInfinity - 1 && u + v < kInfinity + kBias - kSums &&
         std::min(x, y) > kBias - kLeast && x + y > 2 * kBias - kLeast;
}

// Lines of float32 along k: rows of a or columns of b. Strides in elements.
struct Lines {
  const float* data;
  int64_t line_stride, k_stride;
};

// Splits up to 32 lines with k values each, padded with zeros. A tile of a has one line in each
// row; a tile of b has in each row a pair of values of every line.
Range pack_rows(char* to, const Lines& a, int64_t lines, int64_t k);
Range pack_columns(char* to, const Lines& b, int64_t lines, int64_t k);

// A panel of b: for each block of k its tiles, and behind them their range.
constexpr int64_t kRangeBytes = 64;
constexpr int64_t kBlockBytes = kKBlock / kStep * kStepBytes + kRangeBytes;
inline int64_t blocks(int64_t k) { return k / kKBlock + (k % kKBlock != 0); }
inline int64_t panel_bytes(int64_t k) { return blocks(k) * kBlockBytes; }
inline Range& range_of(char* block) {
  return *reinterpret_cast<Range*>(block + kBlockBytes - kRangeBytes);
}
inline const Range& range_of(const char* block) {
  return *reinterpret_cast<const Range*>(block + kBlockBytes - kRangeBytes);
}
void pack_panel(char* to, const Lines& b, int64_t lines, int64_t k);

// The product of packed rows and columns over `steps` steps. It stays in tiles until amx::store, so
// other work can overlap. With 16 rows or columns, or fewer, the second tile is skipped.
void multiply(const char* a, const char* b, int64_t steps, int64_t rows, int64_t cols);

// out[i][j] = alpha * c[i][j] + (beta == 0 ? 0 : beta * out[i][j]) + bias[j]
struct Result {
  float* const* rows;
  int64_t count, cols;
  float alpha, beta;
  const float* bias;  // or NULL
  bool stream;        // out is written past the caches: whole lines, with beta 0
};
void finish(const Result& result, const float* c);

}  // namespace libdl::kernels::cpu::split
