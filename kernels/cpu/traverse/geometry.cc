// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/traverse/geometry.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/traverse/convert.h"

namespace libdl::kernels::cpu {
namespace {

constexpr int64_t kLongRow = 128;

int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

void swap_dims(Geometry& g, int a, int b) {
  std::swap(g.size[a], g.size[b]);
  for (int k = 0; k < g.operands; ++k) {
    std::swap(g.operand[k].stride[a], g.operand[k].stride[b]);
  }
}

// Insertion sort, outermost first, by the output's strides and then the first input's.
void sort_dims(Geometry& g) {
  auto later = [&](int a, int b) {
    for (int k = 0; k < g.operands; ++k) {
      int64_t x = magnitude(g.operand[k].stride[a]), y = magnitude(g.operand[k].stride[b]);
      if (x != y) return x < y;
    }
    return false;
  };
  for (int i = 1; i < g.ndim; ++i) {
    for (int j = i; j > 0 && later(j - 1, j); --j) swap_dims(g, j - 1, j);
  }
}

bool mergeable(const Geometry& g, int outer, int inner) {
  for (int k = 0; k < g.operands; ++k) {
    const int64_t* stride = g.operand[k].stride;
    if (stride[outer] != stride[inner] * g.size[inner]) return false;
  }
  return true;
}

void merge_dims(Geometry& g) {
  int last = 0;
  for (int d = 1; d < g.ndim; ++d) {
    if (mergeable(g, last, d)) {
      g.size[last] *= g.size[d];
    } else {
      ++last;
      g.size[last] = g.size[d];
    }
    for (int k = 0; k < g.operands; ++k) g.operand[k].stride[last] = g.operand[k].stride[d];
  }
  if (g.ndim > 0) g.ndim = last + 1;
}

void describe(const Geometry& g, Operand& x) {
  int64_t expected = x.bytes;
  x.dense = x.constant = true;
  for (int d = g.ndim - 1; d >= 0; --d) {
    if (x.stride[d] != expected) x.dense = false;
    if (x.stride[d] != 0) x.constant = false;
    expected *= g.size[d];
  }
}

constexpr int64_t kThin = 16;  // thinner launches are not worth blocks

// An input and the dimension, not the innermost, along which it lies densest.
struct Crossing {
  const Operand* input;
  int dim;
};
Crossing crossing(const Geometry& g) {
  const int inner = g.ndim - 1;
  if (g.ndim < 2 || g.size[inner] < kThin || g.numel < 2 * kThin * kThin) return {nullptr, 0};
  for (int k = 1; k < g.operands; ++k) {
    const int64_t* stride = g.operand[k].stride;
    const bool apart = magnitude(stride[inner]) >= 64, near = stride[inner] == g.operand[k].bytes;
    for (int d = 0; d < inner && !near; ++d) {
      const bool along =
          stride[d] == g.operand[k].bytes || (apart && stride[d] != 0 && magnitude(stride[d]) < 64);
      if (along && g.size[d] >= kThin) {
        return {&g.operand[k], d};
      }
    }
  }
  return {nullptr, 0};
}

int64_t blocks(int64_t size, int64_t side) { return (size + side - 1) / side; }
int64_t all_blocks(const Geometry& g) {
  const int64_t rows = g.size[g.ndim - 2], columns = g.size[g.ndim - 1];
  return g.numel / (rows * columns) * blocks(rows, g.block_rows) * blocks(columns, g.block_columns);
}
int64_t chunk_blocks(const Geometry& g) {
  return std::max<int64_t>(1, kChunk / (g.block_rows * g.block_columns));
}

}  // namespace

void plan(Geometry& g, const View* const* views, int count) {
  const View& out = *views[0];
  g.operands = count;
  g.ndim = 0;
  g.numel = numel(out);
  g.block_rows = g.block_columns = 0;
  for (int k = 0; k < count; ++k) {
    Operand& x = g.operand[k];
    x.data = static_cast<char*>(views[k]->data);
    x.dtype = views[k]->dtype;
    x.bytes = dtype_bytes(x.dtype);
  }
  for (int d = 0; d < out.ndim; ++d) {
    if (out.sizes[d] == 1) continue;
    g.size[g.ndim] = out.sizes[d];
    for (int k = 0; k < count; ++k) {
      g.operand[k].stride[g.ndim] = views[k]->strides[d] * g.operand[k].bytes;
    }
    ++g.ndim;
  }
  sort_dims(g);
  merge_dims(g);
  for (int k = 0; k < count; ++k) describe(g, g.operand[k]);
}

void cut_in_blocks(Geometry& g, int64_t most) {
  const auto [input, outer] = crossing(g);
  if (input == nullptr) return;
  const int64_t rows = std::min<int64_t>(32, kBlockRowBytes / input->bytes);
  g.block_columns = std::min(kBlockColumns, most);
  g.block_rows = std::min(rows, most / g.block_columns);
  for (int d = outer; d < g.ndim - 2; ++d) swap_dims(g, d, d + 1);
  for (int k = 0; k < g.operands; ++k) g.operand[k].dense = false;
}

Position position_at(const Geometry& g, int64_t linear) {
  Position at;
  at.linear = linear;
  for (int d = g.ndim - 1; d >= 0; --d) {
    at.index[d] = linear % g.size[d];
    linear /= g.size[d];
  }
  return at;
}

void advance(const Geometry& g, Position& at, int64_t n) {
  at.linear += n;
  for (int d = g.ndim - 1; d >= 0 && n > 0; --d) {
    int64_t moved = at.index[d] + n;
    n = 0;
    if (moved >= g.size[d]) {
      n = moved / g.size[d];
      moved -= n * g.size[d];
    }
    at.index[d] = moved;
  }
}

int64_t chunks(const Geometry& g) {
  return g.block_rows == 0 ? blocks(g.numel, kChunk) : blocks(all_blocks(g), chunk_blocks(g));
}

TileWalk::TileWalk(const Geometry& g, int64_t first, int64_t last, int64_t most)
    : geometry_(g), most_(most) {
  if (g.block_rows == 0) {
    end_ = std::min(last * kChunk, g.numel);
    static_cast<Position&>(tile_) = position_at(g, first * kChunk);
  } else {
    end_ = std::min(last * chunk_blocks(g), all_blocks(g));
    tile_.linear = first * chunk_blocks(g);
    int64_t rest = tile_.linear;
    for (int d = g.ndim - 1; d >= 0; --d) {
      const int64_t side = d == g.ndim - 1 ? g.block_columns : d == g.ndim - 2 ? g.block_rows : 1;
      const int64_t count = blocks(g.size[d], side);
      tile_.index[d] = rest % count * side;
      rest /= count;
    }
  }
  if (more()) measure();
}

void TileWalk::next() {
  const Geometry& g = geometry_;
  if (g.block_rows == 0) {
    advance(g, tile_, tile_.n);
  } else {
    ++tile_.linear;
    for (int d = g.ndim - 1; d >= 0; --d) {
      tile_.index[d] += d == g.ndim - 1 ? g.block_columns : d == g.ndim - 2 ? g.block_rows : 1;
      if (tile_.index[d] < g.size[d]) break;
      tile_.index[d] = 0;
    }
  }
  if (more()) measure();
}

void TileWalk::measure() {
  const Geometry& g = geometry_;
  const int inner = g.ndim - 1;
  if (g.block_rows == 0) {
    tile_.rows = 1;
    tile_.n = std::min(most_, end_ - tile_.linear);
    if (inner > 0 && g.size[inner] >= kLongRow) {
      tile_.n = std::min(tile_.n, g.size[inner] - tile_.index[inner]);
    }
  } else {
    tile_.rows = std::min(g.block_rows, g.size[inner - 1] - tile_.index[inner - 1]);
    tile_.n = tile_.rows * std::min(g.block_columns, g.size[inner] - tile_.index[inner]);
  }
}

}  // namespace libdl::kernels::cpu
