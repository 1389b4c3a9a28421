// SPDX-License-Identifier: Apache-2.0

// A block of a product of bfloat16, as tiles or vectors multiply it (tiles_amx.h, tiles_dot.h).
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu::amx {

constexpr int64_t kSide = 32;         // rows and columns of a block of out: two tiles by two
constexpr int64_t kStep = 32;         // values of k in a tile
constexpr int64_t kStepBytes = 2048;  // of 32 lines, which are two tiles

inline int64_t steps(int64_t k) { return k / kStep + (k % kStep != 0); }
inline int64_t blocks(int64_t n) { return n / kSide + (n % kSide != 0); }

// Sums of a 32 by 32 block over `count` steps. Tiles of a are packed, or rows in place: 16 rows
// `stride` bytes apart, `second` bytes to the next sixteen, `step` to the next values of k.
struct Block {
  const char* a;
  int64_t stride, second, step;
  const char* last;  // the packed tiles of one further step, or NULL
  const char* b;
  int64_t count;
  int64_t segments = 1, segment = 0;  // a goes on `segment` bytes further after `count` steps
  float* c;                           // [32][32]
  bool add;                           // to what is in c
  int64_t rows, cols;                 // in use: with 16 or fewer the second tile is skipped
};

}  // namespace libdl::kernels::cpu::amx
