// SPDX-License-Identifier: Apache-2.0

// Products of bfloat16 on the processor's matrix unit (AMX), whose registers are tiles of sixteen
// rows of 64 bytes. Sums are of float32 and begin with the lowest k: for each 32 values of k the
// even ones are summed, the odd ones, and both are added. Numbers under 2^-126 count as zero.
// To be called where matrix_unit() (matrix_unit.h) is true.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu::amx {

constexpr int64_t kSide = 32;         // rows and columns of a block of out: two tiles by two
constexpr int64_t kStep = 32;         // values of k in a tile
constexpr int64_t kStepBytes = 2048;  // of 32 lines, which are two tiles

inline int64_t steps(int64_t k) { return (k + kStep - 1) / kStep; }

// Lines of bfloat16: rows of a or columns of b, along k. Strides in elements.
struct Lines {
  const uint16_t* data;
  int64_t line_stride, k_stride;
};

// Up to 32 lines and k values of each, for every step two tiles of sixteen lines; what is missing
// of them is zero. A tile of a has a line in each row, one of b a pair of values of all lines.
void pack_rows(char* to, const Lines& a, int64_t lines, int64_t k);
void pack_columns(char* to, const Lines& b, int64_t lines, int64_t k);

// The tiles are configured from begin() to end(), on one thread.
void begin();
void end();

// Sums of 32 by 32, for `count` steps. Tiles of a are packed, or rows where they lie: 16 rows
// `stride` bytes apart, `second` bytes to the next sixteen, `step` to the next values of k.
struct Block {
  const char* a;
  int64_t stride, second, step;
  const char* last;  // the packed tiles of one step more, or NULL
  const char* b;
  int64_t count;
  float* c;            // [32][32]
  bool add;            // to what is in c
  int64_t rows, cols;  // that matter: of 16 and less the second tile is left out
};
// The sums stay in tiles until they are stored in c: what lies between is done while they are made.
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
