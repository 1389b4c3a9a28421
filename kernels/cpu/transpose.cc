// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/transpose.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace libdl::kernels::cpu {
namespace {

constexpr int64_t kSide = 64;          // elements; a tile of 4-byte ones is 16 kB
constexpr int64_t kTilesInChunk = 8;
constexpr int64_t kStreamed = 1 << 23;  // outputs beyond 8 MB would only push others out of cache

struct Bytes16 {
  uint64_t word[2];
};

// to[j][i] = from[i][j] for one square of kSquare<T>: as wide as the registers of the baseline.
template <class T>
constexpr int kSquare = 1;
template <class T>
void square(const char* from, int64_t from_stride, T* to) {
  (void)from_stride;
  std::memcpy(to, from, sizeof(T));
}
#if defined(__SSE2__)
__m128i load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
void store(void* p, __m128i x) { _mm_storeu_si128(static_cast<__m128i*>(p), x); }

template <>
constexpr int kSquare<uint64_t> = 2;
template <>
void square(const char* from, int64_t from_stride, uint64_t* to) {
  __m128i a = load(from), b = load(from + from_stride);
  store(to, _mm_unpacklo_epi64(a, b));
  store(to + kSide, _mm_unpackhi_epi64(a, b));
}
template <>
constexpr int kSquare<uint32_t> = 4;
template <>
void square(const char* from, int64_t from_stride, uint32_t* to) {
  __m128i a = load(from), b = load(from + from_stride);
  __m128i c = load(from + 2 * from_stride), d = load(from + 3 * from_stride);
  __m128i ab0 = _mm_unpacklo_epi32(a, b), ab1 = _mm_unpackhi_epi32(a, b);
  __m128i cd0 = _mm_unpacklo_epi32(c, d), cd1 = _mm_unpackhi_epi32(c, d);
  store(to, _mm_unpacklo_epi64(ab0, cd0));
  store(to + kSide, _mm_unpackhi_epi64(ab0, cd0));
  store(to + 2 * kSide, _mm_unpacklo_epi64(ab1, cd1));
  store(to + 3 * kSide, _mm_unpackhi_epi64(ab1, cd1));
}
template <>
constexpr int kSquare<uint16_t> = 8;
template <>
void square(const char* from, int64_t from_stride, uint16_t* to) {
  __m128i a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = load(from + i * from_stride);
  for (int i = 0; i < 4; ++i) {  // rows i and i + 4, then two more rounds: all eight interleave
    b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
    a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    store(to + 2 * i * kSide, _mm_unpacklo_epi16(a[i], a[i + 4]));
    store(to + (2 * i + 1) * kSide, _mm_unpackhi_epi16(a[i], a[i + 4]));
  }
}
#endif

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
  Geometry g;          // sizes of the dimensions outside the two
  int64_t rows, columns;  // of the output: columns are next to each other there
  int64_t out_row, in_column;  // strides in bytes; the input's rows are next to each other
  int64_t tiles_down, tiles_across;
  bool streamed;
};

template <class T>
void one_tile(const Launch& l, char* out, const char* in, int64_t rows, int64_t columns) {
  alignas(64) T tile[kSide * kSide];
  constexpr int step = kSquare<T>;
  const int64_t whole_rows = rows / step * step, whole_columns = columns / step * step;
  for (int64_t c = 0; c < whole_columns; c += step) {
    for (int64_t i = 0; i < step; ++i) {  // the next tile: no hardware follows 64 streams
      const char* next = in + (c + i + kSide) * l.in_column;
      for (int64_t line = 0; line < kSide * static_cast<int64_t>(sizeof(T)); line += 64) {
        __builtin_prefetch(next + line);
      }
    }
    for (int64_t r = 0; r < whole_rows; r += step) {
      square<T>(in + c * l.in_column + r * static_cast<int64_t>(sizeof(T)), l.in_column,
                tile + r * kSide + c);
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r) {
      std::memcpy(&tile[r * kSide + c], in + c * l.in_column + r * sizeof(T), sizeof(T));
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    put_row(out + r * l.out_row, tile + r * kSide, columns * sizeof(T), l.streamed);
  }
}

template <class T>
void chunks(void* arg, int64_t first, int64_t last) {
  const Launch& l = *static_cast<const Launch*>(arg);
  const int64_t tiles = l.tiles_down * l.tiles_across, all = l.g.numel * tiles;
  const int64_t end = std::min(last * kTilesInChunk, all);
  for (int64_t i = first * kTilesInChunk; i < end; ++i) {
    const Position outside = position_at(l.g, i / tiles);
    char *out = l.g.operand[0].data, *in = l.g.operand[1].data;
    for (int d = 0; d < l.g.ndim; ++d) {
      out += outside.index[d] * l.g.operand[0].stride[d];
      in += outside.index[d] * l.g.operand[1].stride[d];
    }
    const int64_t r = i % tiles / l.tiles_across * kSide, c = i % tiles % l.tiles_across * kSide;
    const int64_t bytes = sizeof(T);
    one_tile<T>(l, out + r * l.out_row + c * bytes, in + c * l.in_column + r * bytes,
                std::min(kSide, l.rows - r), std::min(kSide, l.columns - c));
  }
  if (l.streamed) fence();
}

}  // namespace

bool is_transpose(const Geometry& g, int* along) {
  const int inner = g.ndim - 1;
  const Operand &out = g.operand[0], &in = g.operand[1];
  if (g.ndim < 2 || out.stride[inner] != out.bytes || in.stride[inner] == in.bytes) return false;
  if (g.size[inner] < 8) return false;
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
  l.streamed = g.numel * g.operand[0].bytes >= kStreamed;
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
  const int64_t count = (tiles + kTilesInChunk - 1) / kTilesInChunk;
  if (count > 1 && context.parallel != nullptr) {
    context.parallel(context.pool, count, body, &l);
  } else {
    body(&l, 0, count);
  }
}

}  // namespace libdl::kernels::cpu
