// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/traverse/moves.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/traverse/strided.h"
#include "kernels/cpu/traverse/transposition.h"

namespace libdl::kernels::cpu {
namespace {

// Calls run(pointer, stride, length) for each piece of a row in the tile.
template <class Run>
void for_each_run(const Geometry& g, const Operand& x, const Tile& tile, Run run) {
  char* p = address(g, x, tile);
  const int inner = g.ndim - 1;
  int64_t n = tile.n;
  if (inner < 0) return run(p, int64_t{0}, n);
  const int64_t stride = x.stride[inner];
  if (tile.rows > 1) {
    for (int64_t r = 0; r < tile.rows; ++r) run(p + r * x.stride[inner - 1], stride, n / tile.rows);
    return;
  }
  int64_t first = std::min(n, g.size[inner] - tile.index[inner]);
  run(p, stride, first);
  n -= first;
  if (n == 0) return;
  p -= tile.index[inner] * stride;
  int64_t index[kMaxDims];
  std::copy(tile.index, tile.index + inner, index);
  while (n > 0) {
    for (int d = inner - 1; d >= 0; --d) {
      p += x.stride[d];
      if (++index[d] < g.size[d]) break;
      p -= g.size[d] * x.stride[d];
      index[d] = 0;
    }
    int64_t length = std::min(n, g.size[inner]);
    run(p, stride, length);
    n -= length;
  }
}

struct Bytes16 {
  uint64_t word[2];
};

// Rows of a block are too short for a call of memcpy.
inline void copy_run(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kPiece = 64;
  if (bytes > 8 * kPiece) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  int64_t i = 0;
  for (; i + kPiece <= bytes; i += kPiece) std::memcpy(to + i, from + i, kPiece);
  if (i < bytes) std::memcpy(to + i, from + i, static_cast<size_t>(bytes - i));
}

// One value `n` times, in pieces that the compiler turns into vectors.
template <class T>
void repeat(const char* value, char* to, int64_t n) {
  constexpr int64_t kPiece = 16;
  T piece[kPiece];
  for (int64_t i = 0; i < kPiece; ++i) std::memcpy(piece + i, value, sizeof(T));
  int64_t i = 0;
  for (; i + kPiece <= n; i += kPiece) std::memcpy(to + i * sizeof(T), piece, sizeof(piece));
  std::memcpy(to + i * sizeof(T), piece, static_cast<size_t>(n - i) * sizeof(T));
}

// The walk's next block, of an input as gather_transposed takes it: no hardware follows so many
// streams. Beyond the input may lie what another thread writes, so that is not touched.
void prefetch_next(const Geometry& g, const Operand& x, const Tile& tile, const char* from) {
  const int outer = g.ndim - 2, inner = g.ndim - 1;
  int64_t row = tile.index[outer], column = tile.index[inner] + g.block_columns;
  if (column >= g.size[inner]) row += g.block_rows, column = 0;
  if (row >= g.size[outer]) return;
  const int64_t stride = x.stride[inner];
  const char* next =
      from + (row - tile.index[outer]) * x.bytes + (column - tile.index[inner]) * stride;
  const int64_t rows = std::min(g.block_rows, g.size[outer] - row);
  const int64_t columns = std::min(g.block_columns, g.size[inner] - column);
  for (int64_t c = 0; c < columns; ++c) {
    __builtin_prefetch(next + c * stride);
    __builtin_prefetch(next + c * stride + (rows - 1) * x.bytes);
  }
}

// A block whose rows are next to each other in memory.
void gather_transposed(const Geometry& g, const Operand& x, const Tile& tile, void* to) {
  const int64_t stride = x.stride[g.ndim - 1], columns = tile.n / tile.rows;
  const char* from = address(g, x, tile);
  prefetch_next(g, x, tile, from);
  transposer(x.bytes)(from, stride, columns, tile.rows, to, columns);
}

// Each of `n` elements kTimes, or `times` where that is 0.
template <class T, int64_t kTimes>
char* each_again(const char* p, int64_t stride, int64_t n, int64_t times, char* to) {
  constexpr int64_t bytes = sizeof(T);
  if constexpr (kTimes != 0) times = kTimes;
  for (int64_t i = 0; i < n; ++i, p += stride) {
    T one;
    std::memcpy(&one, p, bytes);
    for (int64_t k = 0; k < times; ++k, to += bytes) std::memcpy(to, &one, bytes);
  }
  return to;
}
// Whether a tile is whole short rows of one value each: what repeat_interleave reads.
bool is_each_again(const Geometry& g, const Operand& x, const Tile& tile) {
  const int inner = g.ndim - 1;
  return inner > 0 && tile.rows == 1 && x.stride[inner] == 0 && g.size[inner] < 8 &&
         tile.index[inner] == 0 && tile.n % g.size[inner] == 0;
}
template <class T>
void gather_each_again(const Geometry& g, const Operand& x, const Tile& tile, char* to) {
  Geometry outer = g;
  Tile values = tile;
  const int64_t times = g.size[--outer.ndim];
  values.n /= times;
  for_each_run(outer, x, values, [&](const char* p, int64_t stride, int64_t n) {
    to = times == 2   ? each_again<T, 2>(p, stride, n, 2, to)
         : times == 3 ? each_again<T, 3>(p, stride, n, 3, to)
         : times == 4 ? each_again<T, 4>(p, stride, n, 4, to)
                      : each_again<T, 0>(p, stride, n, times, to);
  });
}

template <class T>
void gather_of(const Geometry& g, const Operand& x, const Tile& tile, void* to) {
  constexpr int64_t bytes = sizeof(T);
  char* target = static_cast<char*>(to);
  if (is_each_again(g, x, tile)) return gather_each_again<T>(g, x, tile, target);
  for_each_run(g, x, tile, [&](const char* p, int64_t stride, int64_t length) {
    if (stride == bytes && length >= 8) {
      copy_run(target, p, length * bytes);
    } else if (stride == 0 && length >= 32) {
      repeat_value(p, bytes, length, target);
    } else if (stride == 0 && length >= 8) {
      repeat<T>(p, target, length);
    } else if (length >= 32) {
      gather_strided(p, stride, bytes, length, target);
    } else {
      for (int64_t i = 0; i < length; ++i) std::memcpy(target + i * bytes, p + i * stride, bytes);
    }
    target += length * bytes;
  });
}
template <class T>
void scatter_of(const Geometry& g, const Operand& x, const Tile& tile, const void* from) {
  constexpr int64_t bytes = sizeof(T);
  const char* source = static_cast<const char*>(from);
  for_each_run(g, x, tile, [&](char* p, int64_t stride, int64_t length) {
    if (stride == bytes && length >= 8) {
      copy_run(p, source, length * bytes);
    } else {
      for (int64_t i = 0; i < length; ++i) std::memcpy(p + i * stride, source + i * bytes, bytes);
    }
    source += length * bytes;
  });
}

}  // namespace

char* address(const Geometry& g, const Operand& x, const Position& at) {
  char* p = x.data;
  for (int d = 0; d < g.ndim; ++d) p += at.index[d] * x.stride[d];
  return p;
}

char* piece(const Geometry& g, const Operand& x, const Tile& tile) {
  if (x.dense) return x.data + tile.linear * x.bytes;
  const int inner = g.ndim - 1;
  if (tile.rows > 1 || x.stride[inner] != x.bytes) return nullptr;
  if (tile.index[inner] + tile.n > g.size[inner]) return nullptr;
  return address(g, x, tile);
}

void gather(const Geometry& g, const Operand& x, const Tile& tile, void* to) {
  if (tile.rows > 1 && x.stride[g.ndim - 2] == x.bytes && x.stride[g.ndim - 1] != x.bytes) {
    return gather_transposed(g, x, tile, to);
  }
  switch (x.bytes) {
    case 1: return gather_of<uint8_t>(g, x, tile, to);
    case 2: return gather_of<uint16_t>(g, x, tile, to);
    case 4: return gather_of<uint32_t>(g, x, tile, to);
    case 8: return gather_of<uint64_t>(g, x, tile, to);
    default: return gather_of<Bytes16>(g, x, tile, to);
  }
}

void scatter(const Geometry& g, const Operand& x, const Tile& tile, const void* from) {
  switch (x.bytes) {
    case 1: return scatter_of<uint8_t>(g, x, tile, from);
    case 2: return scatter_of<uint16_t>(g, x, tile, from);
    case 4: return scatter_of<uint32_t>(g, x, tile, from);
    case 8: return scatter_of<uint64_t>(g, x, tile, from);
    default: return scatter_of<Bytes16>(g, x, tile, from);
  }
}

}  // namespace libdl::kernels::cpu
