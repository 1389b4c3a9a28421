// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/traverse/transposed_copy.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/traverse/stage.h"
#include "kernels/cpu/traverse/transposition.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace libdl::kernels::cpu {
namespace {

constexpr int64_t kSide = 64;           // elements; a tile of 4-byte ones is 16 kB
constexpr int64_t kStreamed = 1 << 23;  // outputs beyond 8 MB would only push others out of cache

struct Bytes16 {
  uint64_t word[2];
};

// A row of the finished tile to its place. Streamed lines bypass the cache; fence afterwards.
void put_row(char* to, const void* from, int64_t bytes, bool streamed) {
#if defined(__SSE2__)
  if (streamed && bytes % 64 == 0 && reinterpret_cast<uintptr_t>(to) % 64 == 0) {
    const __m128i* source = static_cast<const __m128i*>(from);
    __m128i* target = reinterpret_cast<__m128i*>(to);
    for (int64_t i = 0; i < bytes / 16; ++i) _mm_stream_si128(target + i, source[i]);
    return;
  }
#endif
  (void)streamed;
  std::memcpy(to, from, bytes);
}
void fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

struct Launch {
  Geometry g;                  // sizes of the dimensions outside the two
  int64_t rows, columns;       // of the output: columns are next to each other there
  int64_t out_row, in_column;  // strides in bytes; the input's rows are next to each other
  int64_t tiles_down, tiles_across, tiles_in_chunk;
  TransposeFn fn;
  bool streamed;
};

// A tile's place in the matrix and its size.
struct TilePosition {
  int64_t row, column, rows, columns;
};
TilePosition position_of(const Launch& l, int64_t i) {
  const int64_t r = i / l.tiles_across * kSide, c = i % l.tiles_across * kSide;
  return {r, c, std::min(kSide, l.rows - r), std::min(kSide, l.columns - c)};
}
const char* input_of(const Launch& l, const char* matrix, const TilePosition& t) {
  return matrix + t.column * l.in_column + t.row * l.g.operand[1].bytes;
}

// Columns [first, last) of the tile, as far as it has them: no hardware follows 64 streams.
template <class T>
void prefetch(const Launch& l, const char* in, const TilePosition& t, int64_t first, int64_t last) {
  const auto lines_of = [](const char* column, int64_t rows) {
    const int64_t length = rows * static_cast<int64_t>(sizeof(T));
    for (int64_t byte = 0; byte < length; byte += 64) __builtin_prefetch(column + byte);
  };
  last = std::min(last, t.columns);
  const bool whole = t.rows == kSide;  // then the loop over lines is unrolled
  for (int64_t c = first; c < last; ++c) lines_of(in + c * l.in_column, whole ? kSide : t.rows);
}

// Tile i of the matrix at `in`. The next one is fetched meanwhile, but not what lies behind the
// last: there another thread may write.
template <class T>
void one_tile(const Launch& l, char* out, const char* in, int64_t i) {
  alignas(64) T tile[kSide * kSide];
  constexpr int64_t step = std::max<int64_t>(32 / sizeof(T), 4), bytes = sizeof(T);
  const TilePosition t = position_of(l, i);
  const bool last = i + 1 == l.tiles_down * l.tiles_across;
  const TilePosition next = last ? TilePosition{} : position_of(l, i + 1);
  const char *from = input_of(l, in, t), *ahead = input_of(l, in, next);
  for (int64_t c = 0; c < t.columns; c += step) {
    c = std::max<int64_t>(0, std::min(c, t.columns - step));  // so that squares are whole
    prefetch<T>(l, ahead, next, c, c + step);
    l.fn(from + c * l.in_column, l.in_column, std::min(step, t.columns - c), t.rows, tile + c,
         kSide);
  }
  char* to = out + t.row * l.out_row + t.column * bytes;
  for (int64_t r = 0; r < t.rows; ++r) {
    put_row(to + r * l.out_row, tile + r * kSide, t.columns * bytes, l.streamed);
  }
}

template <class T>
void chunks(void* arg, int64_t first, int64_t last) {
  const Launch& l = *static_cast<const Launch*>(arg);
  const int64_t tiles = l.tiles_down * l.tiles_across, all = l.g.numel * tiles;
  const int64_t end = std::min(last * l.tiles_in_chunk, all);
  for (int64_t i = first * l.tiles_in_chunk; i < end; ++i) {
    const Position outside = position_at(l.g, i / tiles);
    char *out = l.g.operand[0].data, *in = l.g.operand[1].data;
    for (int d = 0; d < l.g.ndim; ++d) {
      out += outside.index[d] * l.g.operand[0].stride[d];
      in += outside.index[d] * l.g.operand[1].stride[d];
    }
    one_tile<T>(l, out, in, i % tiles);
  }
  if (l.streamed) fence();
}

}  // namespace

bool is_transposed_copy(const Geometry& g, int* along) {
  const int inner = g.ndim - 1;
  const Operand &out = g.operand[0], &in = g.operand[1];
  if (g.ndim < 2 || out.stride[inner] != out.bytes || in.stride[inner] == in.bytes) return false;
  if (g.size[inner] < 8) return false;
  if (in.stride[inner] == 0 && g.size[inner] >= 128) return false;  // a value for each row
  for (int d = 0; d < inner; ++d) {
    if (in.stride[d] == in.bytes && g.size[d] >= 8) {
      *along = d;
      return true;
    }
  }
  return false;
}

void transpose(Context& context, const Geometry& g, int along) {
  Launch l;
  const int inner = g.ndim - 1;
  l.rows = g.size[along];
  l.columns = g.size[inner];
  l.out_row = g.operand[0].stride[along];
  l.in_column = g.operand[1].stride[inner];
  l.tiles_down = (l.rows + kSide - 1) / kSide;
  l.tiles_across = (l.columns + kSide - 1) / kSide;
  l.fn = transposer(g.operand[0].bytes);
  l.streamed = g.numel * g.operand[0].bytes >= kStreamed;
  l.tiles_in_chunk = l.streamed ? 8 : 2;  // a fence ends a streamed chunk, and costs a microsecond
  l.g = g;
  l.g.ndim = 0;
  l.g.numel = 1;
  for (int d = 0; d < inner; ++d) {
    if (d == along) continue;
    l.g.size[l.g.ndim] = g.size[d];
    l.g.numel *= g.size[d];
    for (int k = 0; k < 2; ++k) l.g.operand[k].stride[l.g.ndim] = g.operand[k].stride[d];
    ++l.g.ndim;
  }
  void (*body)(void*, int64_t, int64_t) = nullptr;
  switch (g.operand[0].bytes) {
    case 1: body = chunks<uint8_t>; break;
    case 2: body = chunks<uint16_t>; break;
    case 4: body = chunks<uint32_t>; break;
    case 8: body = chunks<uint64_t>; break;
    default: body = chunks<Bytes16>; break;
  }
  const int64_t tiles = l.g.numel * l.tiles_down * l.tiles_across;
  const int64_t count = (tiles + l.tiles_in_chunk - 1) / l.tiles_in_chunk;
  run_chunks(context, g.numel, count, body, &l);
}

}  // namespace libdl::kernels::cpu
