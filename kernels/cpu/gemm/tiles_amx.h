// SPDX-License-Identifier: Apache-2.0

// Products of bfloat16 on the processor's matrix unit (AMX), whose registers are tiles of sixteen
// rows of 64 bytes. Sums are in float32, from the lowest k up: for each 32 values of k the even and
// the odd ones are summed separately, and both are added. Numbers below 2^-126 count as zero. Where
// there are no tiles but AVX512_BF16, the same blocks are multiplied in vectors (tiles_dot.h). Call
// these only if multiplies_bfloat() (matrix_unit.h) is true.
#pragma once

#include <cstdint>

#include "kernels/cpu/gemm/tile_block.h"

namespace libdl::kernels::cpu::amx {

// Lines of bfloat16 along k: rows of a or columns of b. Strides in elements.
struct Lines {
  const uint16_t* data;
  int64_t line_stride, k_stride;
};

// Packs up to 32 lines with k values each, two tiles of sixteen lines per step, padded with zeros.
// A tile of a has one line in each row; a tile of b has in each row a pair of values of every line.
void pack_rows(char* to, const Lines& a, int64_t lines, int64_t k);
void pack_columns(char* to, const Lines& b, int64_t lines, int64_t k);

// As pack_columns for 32 lines and values of k. The lines' values of one k are adjacent, at
// data + at[k]; they count as zeros unless valid[k] has all bits of `required`.
struct Scattered {
  const uint16_t* data;
  const int64_t* at;
  const uint64_t* valid;
  uint64_t required;
};
void pack_scattered(char* to, const Scattered& x);

// The tiles are configured from begin() to end(), on one thread.
void begin();
void end();

// The sums stay in tiles until they are stored in c, so other work can overlap with them.
void multiply(const Block& block);
void store(const Block& block);

// out = alpha * c + (beta == 0 ? 0 : beta * out) + bias, rounded once. Strides in elements.
struct Result {
  uint16_t* out;
  int64_t row_stride, col_stride, rows, cols;
  float alpha, beta;
  const float* bias;  // 32, or NULL
};
void finish(const Result& result, const float* c);

}  // namespace libdl::kernels::cpu::amx
