// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/matrix_unit/tile_steps.h"

#include <algorithm>

#include "kernels/cpu/gemm/tiles_amx.h"

namespace libdl::kernels::cpu {

using namespace amx;

Patches<uint16_t> bits_of(const Patches<Bfloat>& p) {
  Patches<uint16_t> b{};
  b.data = reinterpret_cast<const uint16_t*>(p.data), b.channels = p.channels;
  std::copy_n(p.strides, 4, b.strides);
  for (int d = 0; d < 3; ++d) {
    b.sizes[d] = p.sizes[d], b.step[d] = p.step[d], b.start[d] = p.start[d];
    b.taps[d] = p.taps[d], b.dilation[d] = p.dilation[d];
  }
  b.lattice = p.lattice;
  return b;
}

void finish_block(const float* sums, Bfloat* const* rows, int64_t count, int64_t columns,
                  const float* bias) {
  if (count == 0) return;
  const bool even =
      count < 2 || std::all_of(
                       rows + 1, rows + count,
                       [&](Bfloat* const& row) { return row - (&row)[-1] == rows[1] - rows[0]; });
  amx::Result r{};
  r.col_stride = 1, r.alpha = 1, r.bias = bias, r.cols = columns;
  if (even) {
    r.out = reinterpret_cast<uint16_t*>(rows[0]);
    r.row_stride = count > 1 ? rows[1] - rows[0] : 0, r.rows = count;
    return amx::finish(r, sums);
  }
  r.rows = 1;
  for (int64_t i = 0; i < count; ++i) {
    r.out = reinterpret_cast<uint16_t*>(rows[i]);
    amx::finish(r, sums + i * kSide);
  }
}

}  // namespace libdl::kernels::cpu
