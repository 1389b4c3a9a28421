// SPDX-License-Identifier: Apache-2.0

// Brings tiles of an operand into the compute class and back, in buffers that stay in cache.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/convert.h"
#include "kernels/cpu/geometry.h"

namespace libdl::kernels::cpu {

// Elements a chunk: the unit of the pool, small enough to share 10^5 elements evenly.
constexpr int64_t kChunk = 4096;
// Launches up to so many elements run on the caller at once: a helper that sleeps costs 3 us.
constexpr int64_t kAlone = 32768;
// Elements a tile, of any class and dtype: 4 to 16 kB.
constexpr int64_t kTile = 1024;
constexpr int64_t kTileBytes = kTile * 8;  // a tile of the widest class holds half as many
constexpr int64_t kRawBytes = kTile * 16;

constexpr int64_t tile_elements(Class c) { return c == Class::kC128 ? kTile / 2 : kTile; }

// One input of one chunk.
class Source {
 public:
  // buffer: a tile of the class; raw: a tile of 16-byte elements, which sources may share.
  void open(const Geometry& g, const Operand& x, Class compute, void* buffer, void* raw) {
    buffer_ = buffer;
    raw_ = raw;
    geometry_ = &g;
    x_ = &x;
    convert_ = convert_to_class(x.dtype, compute);
    held_ = nullptr;
    held_n_ = 0;
  }

  // The n elements from `at` in the compute class: in the operand's own memory or in the buffer.
  const void* load(const Position& at, int64_t n) {
    const Operand& x = *x_;
    const char* there = piece(*geometry_, x, at, n);
    if (there != nullptr && convert_ == nullptr) return there;
    if (there == nullptr && repeats(at, n)) {
      const char* p = x.data;
      for (int d = 0; d < geometry_->ndim; ++d) p += at.index[d] * x.stride[d];
      if (p == held_ && n <= held_n_) return buffer_;
      held_ = p;
      held_n_ = n;
    } else {
      held_ = nullptr;
    }
    if (there == nullptr) {
      void* to = convert_ != nullptr ? raw_ : buffer_;
      gather(*geometry_, x, at, n, to);
      there = static_cast<const char*>(raw_);
    }
    if (convert_ != nullptr) convert_(there, buffer_, n);
    return buffer_;
  }

 private:
  // One element n times, which the next tiles may ask for again.
  bool repeats(const Position& at, int64_t n) const {
    if (x_->constant) return true;
    const int inner = geometry_->ndim - 1;
    return x_->stride[inner] == 0 && at.index[inner] + n <= geometry_->size[inner];
  }

  const Geometry* geometry_;
  const Operand* x_;
  ConvertFn convert_;
  void* buffer_;
  void* raw_;
  const char* held_;  // what the buffer repeats, and how often
  int64_t held_n_;
};

// The output of one chunk.
class Sink {
 public:
  void open(const Geometry& g, const Operand& x, Class result, void* buffer, void* raw) {
    buffer_ = buffer;
    raw_ = raw;
    geometry_ = &g;
    x_ = &x;
    convert_ = convert_from_class(result, x.dtype);
  }

  // Where to compute n elements, and what to call when they are there.
  void* place(const Position& at, int64_t n) {
    if (convert_ == nullptr) {
      char* there = piece(*geometry_, *x_, at, n);
      if (there != nullptr) return there;
    }
    return buffer_;
  }
  void finish(const void* from, const Position& at, int64_t n) {
    if (from == buffer_) put(from, at, n);
  }
  // Stores n elements of the result's class from elsewhere.
  void put(const void* from, const Position& at, int64_t n) {
    if (convert_ != nullptr) {
      char* there = piece(*geometry_, *x_, at, n);
      if (there != nullptr) return convert_(from, there, n);
      convert_(from, raw_, n);
      from = raw_;
    }
    scatter(*geometry_, *x_, at, n, from);
  }

 private:
  const Geometry* geometry_;
  const Operand* x_;
  ConvertFn convert_;
  void* buffer_;
  void* raw_;
};

// Runs body(arg, first, last) over the chunks of n elements, on the pool where there are several.
inline void run_chunks(Context& context, int64_t n, void (*body)(void*, int64_t, int64_t),
                       void* arg) {
  int64_t chunks = (n + kChunk - 1) / kChunk;
  if (n > kAlone && context.parallel != nullptr) {
    context.parallel(context.pool, chunks, body, arg);
  } else {
    body(arg, 0, chunks);
  }
}

template <class Launch>
__attribute__((noinline)) void run_squares(Context& context, Launch& launch, int outer,
                                           void (*body)(void*, int64_t, int64_t)) {
  Geometry parts[kMaxParts];
  const int n = split_in_squares(launch.geometry, outer, parts);
  for (int i = 0; i < n; ++i) {
    launch.geometry = parts[i];
    run_chunks(context, launch.geometry.numel, body, &launch);
  }
}

// Plans the walk over the views into launch.geometry and runs it, in squares where that helps.
template <class Launch>
void run_parts(Context& context, Launch& launch, const View* const* views, int count,
               void (*body)(void*, int64_t, int64_t)) {
  plan(launch.geometry, views, count);
  const int outer = crossing(launch.geometry);
  if (outer >= 0) return run_squares(context, launch, outer, body);
  run_chunks(context, launch.geometry.numel, body, &launch);
}

}  // namespace libdl::kernels::cpu
