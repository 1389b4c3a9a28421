// SPDX-License-Identifier: Apache-2.0

// Converts tiles of an operand to the compute class and back, in buffers that stay in cache.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/traverse/convert.h"
#include "kernels/cpu/traverse/geometry.h"
#include "kernels/cpu/traverse/moves.h"
#include "kernels/cpu/traverse/strided.h"

namespace libdl::kernels::cpu {

// Launches of up to this many elements run on the calling thread alone: waking a helper costs 3 us.
constexpr int64_t kAlone = 32768;
constexpr int64_t kTileBytes = kTile * 8;  // a tile of the widest class holds half as many
constexpr int64_t kRawBytes = kTile * 16;

constexpr int64_t tile_elements(Class c) { return c == Class::kC128 ? kTile / 2 : kTile; }

// The rows of a tile, `step` bytes apart.
template <class Char>
struct TileRows {
  Char* first;
  int64_t step;
  bool joined;  // there are no gaps between them

  TileRows(Char* p, int64_t distance, int64_t row_bytes)
      : first(p), step(distance), joined(distance == row_bytes) {}
};

// One input of one chunk.
class Source {
 public:
  // buffer: a tile of the class; raw: a tile of 16-byte elements, which sources may share.
  void open(const Geometry& g, const Operand& x, Class compute, void* buffer, void* raw) {
    open(g, x, convert_to_class(x.dtype, compute), dtype_bytes(class_dtype(compute)), buffer, raw);
  }
  // Elements without conversion.
  void open(const Geometry& g, const Operand& x, void* buffer) {
    open(g, x, nullptr, x.bytes, buffer, nullptr);
  }

  // The tile in the compute class, in the operand's own memory or in the buffer.
  const void* load(const Tile& tile) {
    const char* there = piece(*geometry_, *x_, tile);
    if (there != nullptr && convert_ == nullptr) return there;
    if (there == nullptr && repeats(tile)) {
      const char* p = address(*geometry_, *x_, tile);
      if (p == held_ && tile.n <= held_n_) return buffer_;
      held_ = p;
      held_n_ = tile.n;
      alignas(16) char one[16];
      if (convert_ != nullptr) convert_(p, one, 1);
      repeat_value(convert_ != nullptr ? one : p, bytes_, tile.n, static_cast<char*>(buffer_));
      return buffer_;
    }
    held_ = nullptr;
    if (there == nullptr) {
      gather(*geometry_, *x_, tile, convert_ != nullptr ? raw_ : buffer_);
      there = static_cast<const char*>(raw_);
    }
    if (convert_ != nullptr) convert_(there, buffer_, tile.n);
    return buffer_;
  }

  // The same for a tile of several rows: where they start, how far apart they are.
  TileRows<const char> rows(const Tile& tile) {
    const int inner = geometry_->ndim - 1;
    const int64_t row_bytes = tile.n / tile.rows * bytes_;
    if (convert_ == nullptr && x_->stride[inner] == x_->bytes) {
      return {address(*geometry_, *x_, tile), x_->stride[inner - 1], row_bytes};
    }
    return {static_cast<const char*>(load(tile)), row_bytes, row_bytes};
  }

 private:
  void open(const Geometry& g, const Operand& x, ConvertFn convert, int64_t bytes, void* buffer,
            void* raw) {
    buffer_ = buffer;
    raw_ = raw;
    geometry_ = &g;
    x_ = &x;
    bytes_ = bytes;
    convert_ = convert;
    held_ = nullptr;
    held_n_ = 0;
  }

  // Whether the tile is one element n times; the buffer is then kept for the next tiles.
  bool repeats(const Tile& tile) const {
    if (x_->constant) return true;
    const int inner = geometry_->ndim - 1;
    return tile.rows == 1 && x_->stride[inner] == 0 &&
           tile.index[inner] + tile.n <= geometry_->size[inner];
  }

  const Geometry* geometry_;
  const Operand* x_;
  int64_t bytes_;  // of an element in the class
  ConvertFn convert_;
  void* buffer_;
  void* raw_;
  const char* held_;  // the element that the buffer repeats, and how often
  int64_t held_n_;
};

// The output of one chunk.
class Sink {
 public:
  void open(const Geometry& g, const Operand& x, Class result, void* buffer, void* raw) {
    open(g, x, buffer);
    raw_ = raw;
    bytes_ = dtype_bytes(class_dtype(result));
    convert_ = convert_from_class(result, x.dtype);
  }
  // Elements without conversion.
  void open(const Geometry& g, const Operand& x, void* buffer) {
    buffer_ = buffer;
    raw_ = nullptr;
    geometry_ = &g;
    x_ = &x;
    bytes_ = x.bytes;
    convert_ = nullptr;
  }

  // Where to compute the tile; call finish() with this address when it is done.
  void* buffer_for(const Tile& tile) {
    if (convert_ == nullptr) {
      char* there = piece(*geometry_, *x_, tile);
      if (there != nullptr) return there;
    }
    return buffer_;
  }
  TileRows<char> rows(const Tile& tile) {
    const int inner = geometry_->ndim - 1;
    const int64_t row_bytes = tile.n / tile.rows * bytes_;
    if (convert_ == nullptr && x_->stride[inner] == x_->bytes) {
      return {address(*geometry_, *x_, tile), x_->stride[inner - 1], row_bytes};
    }
    return {static_cast<char*>(buffer_), row_bytes, row_bytes};
  }
  void finish(const void* from, const Tile& tile) {
    if (from == buffer_) put(from, tile);
  }
  // Stores a tile of the result's class from other memory.
  void put(const void* from, const Tile& tile) {
    if (convert_ != nullptr) {
      char* there = piece(*geometry_, *x_, tile);
      if (there != nullptr) return convert_(from, there, tile.n);
      convert_(from, raw_, tile.n);
      from = raw_;
    }
    scatter(*geometry_, *x_, tile, from);
  }

 private:
  const Geometry* geometry_;
  const Operand* x_;
  int64_t bytes_;  // of an element in the class
  ConvertFn convert_;
  void* buffer_;
  void* raw_;
};

// Runs body(arg, first, last) over the chunks of n elements, on the pool if there are several.
inline void run_chunks(Context& context, int64_t n, int64_t chunks,
                       void (*body)(void*, int64_t, int64_t), void* arg) {
  if (n > kAlone) {
    context.parallel(chunks, body, arg);
  } else {
    body(arg, 0, chunks);
  }
}
inline void run_chunks(Context& context, int64_t n, void (*body)(void*, int64_t, int64_t),
                       void* arg) {
  run_chunks(context, n, (n + kChunk - 1) / kChunk, body, arg);
}

// Runs the walk of launch.geometry in tiles of at most `most`.
template <class Launch>
void run_planned(Context& context, Launch& launch, int64_t most,
                 void (*body)(void*, int64_t, int64_t)) {
  cut_in_blocks(launch.geometry, most);
  run_chunks(context, launch.geometry.numel, chunks(launch.geometry), body, &launch);
}
// The same, planned over the views first.
template <class Launch>
void run_tiles(Context& context, Launch& launch, const View* const* views, int count, int64_t most,
               void (*body)(void*, int64_t, int64_t)) {
  plan(launch.geometry, views, count);
  run_planned(context, launch, most, body);
}

}  // namespace libdl::kernels::cpu
