// SPDX-License-Identifier: Apache-2.0

// Up to 32 rows times panels of b, one block of k, by split products (split_amx.h). Where numbers
// do not fit those, plain products are computed instead.
#pragma once

#include "kernels/cpu/gemm/split_amx.h"

namespace libdl::kernels::cpu::split {

// For the tiles of a row.
struct Workspace {
  char a[kKBlock / kStep * kStepBytes];
};

// b: the block of the first of `panels` panels, which lie `panel` bytes apart; the last has
// `last_cols` columns. Calls finished(n, c) with the sums of panel n, or plain(n).
struct Row {
  const char* a;
  Range range;
  int64_t rows, k;
  const char* b;
  int64_t panel, panels, last_cols;
};
template <class Finished, class Fallback>
void multiply_row(const Row& r, Finished finished, Fallback fallback) {
  alignas(64) float c[2][kSide * kSide];
  amx::Block block{};
  block.rows = r.rows;
  int64_t before = -1;  // finished while the next is computed
  const auto finish_before = [&] {
    if (before >= 0) finished(before, c[before % 2]);
    before = -1;
  };
  for (int64_t n = 0; n < r.panels; ++n) {
    const char* const b = r.b + n * r.panel;
    if (!fits(r.range, range_of(b))) {
      finish_before();
      fallback(n);
      continue;
    }
    block.cols = n + 1 == r.panels ? r.last_cols : kSide, block.c = c[n % 2];
    multiply(r.a, b, amx::steps(r.k), block.rows, block.cols);
    finish_before();
    amx::store(block);
    before = n;
  }
  finish_before();
}

}  // namespace libdl::kernels::cpu::split
