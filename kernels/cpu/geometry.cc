// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/geometry.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/convert.h"

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

// The part of the walk where dimension d runs over [first, first + length).
Geometry slice(const Geometry& g, int d, int64_t first, int64_t length) {
  Geometry part = g;
  part.numel = g.numel / g.size[d] * length;
  part.size[d] = length;
  for (int k = 0; k < g.operands; ++k) {
    part.operand[k].data += first * g.operand[k].stride[d];
    describe(part, part.operand[k]);
  }
  return part;
}

char* address(const Geometry& g, const Operand& x, const Position& at) {
  char* p = x.data;
  for (int d = 0; d < g.ndim; ++d) p += at.index[d] * x.stride[d];
  return p;
}

// Calls run(pointer, stride, length) for each piece of a row in the n elements from `at`.
template <class Run>
void for_each_run(const Geometry& g, const Operand& x, const Position& at, int64_t n, Run run) {
  char* p = address(g, x, at);
  const int inner = g.ndim - 1;
  if (inner < 0) return run(p, int64_t{0}, n);
  const int64_t stride = x.stride[inner];
  int64_t first = std::min(n, g.size[inner] - at.index[inner]);
  run(p, stride, first);
  n -= first;
  if (n == 0) return;
  p -= at.index[inner] * stride;
  int64_t index[kMaxDims];
  std::copy(at.index, at.index + inner, index);
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

template <class T>
void gather_of(const Geometry& g, const Operand& x, const Position& at, int64_t n, void* to) {
  char* target = static_cast<char*>(to);
  for_each_run(g, x, at, n, [&](const char* p, int64_t stride, int64_t length) {
    if (stride == static_cast<int64_t>(sizeof(T)) && length >= 8) {
      std::memcpy(target, p, length * sizeof(T));
    } else if (stride == 0 && length >= 8) {
      repeat<T>(p, target, length);
    } else {
      for (int64_t i = 0; i < length; ++i) {
        std::memcpy(target + i * sizeof(T), p + i * stride, sizeof(T));
      }
    }
    target += length * sizeof(T);
  });
}
template <class T>
void scatter_of(const Geometry& g, const Operand& x, const Position& at, int64_t n,
                const void* from) {
  const char* source = static_cast<const char*>(from);
  for_each_run(g, x, at, n, [&](char* p, int64_t stride, int64_t length) {
    if (stride == static_cast<int64_t>(sizeof(T)) && length >= 8) {
      std::memcpy(p, source, length * sizeof(T));
    } else {
      for (int64_t i = 0; i < length; ++i) {
        std::memcpy(p + i * stride, source + i * sizeof(T), sizeof(T));
      }
    }
    source += length * sizeof(T);
  });
}

}  // namespace

void plan(Geometry& g, const View* const* views, int count) {
  const View& out = *views[0];
  g.operands = count;
  g.ndim = 0;
  g.numel = numel(out);
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

// Small launches and thin ones are not worth squares.
int crossing(const Geometry& g) {
  const int inner = g.ndim - 1;
  if (g.ndim < 2 || g.ndim + 2 > kMaxDims || g.size[inner] < kSquareSide) return -1;
  if (g.numel < 64 * 64) return -1;
  for (int k = 1; k < g.operands; ++k) {
    const int64_t* stride = g.operand[k].stride;
    if (magnitude(stride[inner]) < 64) continue;
    for (int d = 0; d < inner; ++d) {
      if (stride[d] != 0 && magnitude(stride[d]) < 64 && g.size[d] >= kSquareSide) return d;
    }
  }
  return -1;
}

int split_in_squares(const Geometry& g, int outer, Geometry* parts) {
  const int inner = g.ndim - 1;
  const int64_t rows = g.size[outer] / kSquareSide * kSquareSide;
  const int64_t columns = g.size[inner] / kSquareSide * kSquareSide;
  int count = 1;
  if (rows < g.size[outer]) {
    parts[count] = slice(g, outer, rows, g.size[outer] - rows);
    ++count;
  }
  if (columns < g.size[inner]) {
    Geometry upper = slice(g, outer, 0, rows);
    parts[count] = slice(upper, inner, columns, g.size[inner] - columns);
    ++count;
  }
  // The squares: both dimensions in two, the parts within a square last.
  Geometry& s = parts[0];
  s = slice(g, outer, 0, rows);
  s.numel = g.numel / (g.size[outer] * g.size[inner]) * rows * columns;
  s.ndim = g.ndim + 2;
  s.size[outer] = rows / kSquareSide;
  s.size[inner] = columns / kSquareSide;
  s.size[inner + 1] = s.size[inner + 2] = kSquareSide;
  for (int k = 0; k < g.operands; ++k) {
    int64_t* stride = s.operand[k].stride;
    stride[inner + 1] = stride[outer];
    stride[inner + 2] = stride[inner];
    stride[outer] *= kSquareSide;
    stride[inner] *= kSquareSide;
    describe(s, s.operand[k]);
  }
  return count;
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

int64_t tile_length(const Geometry& g, const Position& at, int64_t end, int64_t most) {
  int64_t n = std::min(most, end - at.linear);
  if (g.ndim > 1 && g.size[g.ndim - 1] >= kLongRow) {
    n = std::min(n, g.size[g.ndim - 1] - at.index[g.ndim - 1]);
  }
  return n;
}

char* piece(const Geometry& g, const Operand& x, const Position& at, int64_t n) {
  if (x.dense) return x.data + at.linear * x.bytes;
  const int inner = g.ndim - 1;
  if (x.stride[inner] != x.bytes || at.index[inner] + n > g.size[inner]) return nullptr;
  return address(g, x, at);
}

void gather(const Geometry& g, const Operand& x, const Position& at, int64_t n, void* to) {
  switch (x.bytes) {
    case 1: return gather_of<uint8_t>(g, x, at, n, to);
    case 2: return gather_of<uint16_t>(g, x, at, n, to);
    case 4: return gather_of<uint32_t>(g, x, at, n, to);
    case 8: return gather_of<uint64_t>(g, x, at, n, to);
    default: return gather_of<Bytes16>(g, x, at, n, to);
  }
}

void scatter(const Geometry& g, const Operand& x, const Position& at, int64_t n, const void* from) {
  switch (x.bytes) {
    case 1: return scatter_of<uint8_t>(g, x, at, n, from);
    case 2: return scatter_of<uint16_t>(g, x, at, n, from);
    case 4: return scatter_of<uint32_t>(g, x, at, n, from);
    case 8: return scatter_of<uint64_t>(g, x, at, n, from);
    default: return scatter_of<Bytes16>(g, x, at, n, from);
  }
}

}  // namespace libdl::kernels::cpu
