// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/pointwise/pointwise_rows.h"

#include <algorithm>

#include "kernels/cpu/traverse/stage.h"

namespace libdl::kernels::cpu {
namespace {

// Shorter rows are better gathered into tiles. Of longer ones there must be enough for all threads.
constexpr int64_t kShortRow = 16, kLongRow = 1 << 16, kManyRows = 64;

struct RowsLaunch {
  TileFn fn;
  int64_t rows, per_chunk;
  const Geometry& geometry;
};

// Where row r of each operand begins, and its indices outside the rows.
struct Place {
  int64_t index[kMaxDims];
  char* out;
  const void* in[kMaxInputs];

  Place(const Geometry& g, int64_t r) : out(g.operand[0].data) {
    for (int k = 1; k < g.operands; ++k) in[k - 1] = g.operand[k].data;
    for (int d = g.ndim - 2; d >= 0; --d) {
      index[d] = r % g.size[d];
      r /= g.size[d];
      move(g, d, index[d]);
    }
  }
  void move(const Geometry& g, int d, int64_t steps) {
    out += g.operand[0].stride[d] * steps;
    for (int k = 1; k < g.operands; ++k) {
      in[k - 1] = static_cast<const char*>(in[k - 1]) + g.operand[k].stride[d] * steps;
    }
  }
  // From the end of the innermost dimension of rows to what follows it.
  void carry(const Geometry& g) {
    for (int d = g.ndim - 2; d >= 0 && index[d] == g.size[d]; --d) {
      move(g, d, -index[d]);
      index[d] = 0;
      if (d == 0) return;
      ++index[d - 1];
      move(g, d - 1, 1);
    }
  }
};

void row_chunks(void* arg, int64_t first, int64_t last) {
  const RowsLaunch& launch = *static_cast<const RowsLaunch*>(arg);
  const Geometry& g = launch.geometry;
  const int inner = g.ndim - 1;
  int64_t r = first * launch.per_chunk;
  const int64_t end = std::min(last * launch.per_chunk, launch.rows);
  Place at(g, r);
  while (r < end) {
    const int64_t run = std::min(end - r, g.size[inner - 1] - at.index[inner - 1]);
    for (int64_t i = 0; i < run; ++i, at.move(g, inner - 1, 1)) {
      launch.fn(at.in, at.out, g.size[inner]);
    }
    r += run;
    at.index[inner - 1] += run;
    at.carry(g);
  }
}

}  // namespace

bool lies_in_rows(const Geometry& g, RowFunction f) {
  if (f.fn == nullptr || g.ndim < 2 || g.operands > kMaxInputs + 1) return false;
  const int inner = g.ndim - 1;
  const int64_t width = g.size[inner];
  if (width < kShortRow || (width > kLongRow && g.numel / width < kManyRows)) return false;
  for (int k = 0; k < g.operands; ++k) {
    const Operand& x = g.operand[k];
    if (x.stride[inner] != (k <= f.varying ? x.bytes : 0)) return false;
  }
  return true;
}

void run_by_rows(Context& context, const Geometry& g, RowFunction f) {
  const int64_t width = g.size[g.ndim - 1], rows = g.numel / width;
  const int64_t per_chunk = std::max<int64_t>(1, kChunk / width);
  RowsLaunch launch{f.fn, rows, per_chunk, g};
  run_chunks(context, g.numel, (rows + per_chunk - 1) / per_chunk, row_chunks, &launch);
}

}  // namespace libdl::kernels::cpu
