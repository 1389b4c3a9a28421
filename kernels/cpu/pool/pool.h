// SPDX-License-Identifier: Apache-2.0

// What the pooling kernels share: ranges that are computed once for a launch, and rows of pixels.
#pragma once

#include <algorithm>

#include "kernels/args.h"
#include "kernels/context.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

constexpr int64_t kPoolGrain = 1 << 13;  // elements worth a chunk

// f(dimension, index) for every index below a dimension's size.
template <class V>
class PoolTable {
 public:
  template <class F>
  PoolTable(Context& context, const int64_t (&sizes)[3], F f)
      : scratch_(context, (sizes[0] + sizes[1] + sizes[2]) * int64_t{sizeof(V)}) {
    if (scratch_.failed()) return;
    auto* place = static_cast<V*>(scratch_.data());
    for (int d = 0; d < 3; ++d) {
      rows_[d] = place;
      for (int64_t i = 0; i < sizes[d]; ++i) *place++ = f(d, i);
    }
  }
  bool failed() const { return scratch_.failed(); }
  const V& at(int d, int64_t i) const { return rows_[d][i]; }

 private:
  Scratch scratch_;
  const V* rows_[3] = {};
};
using PoolRanges = PoolTable<PoolRange>;

// The positions of each window, and the windows over each position.
inline PoolRanges positions_of(Context& context, const PoolWindows& w) {
  return {context, w.out, [&](int d, int64_t o) { return pool_positions(w, d, o); }};
}
inline PoolRanges windows_over(Context& context, const PoolWindows& w) {
  return {context, w.in, [&](int d, int64_t i) { return pool_windows_over(w, d, i); }};
}

// By what the sum of a window is divided.
class PoolDivisors {
 public:
  PoolDivisors(Context& context, const PoolWindows& w, int64_t divisor, bool with_padding)
      : divisor_(divisor), counts_(context, w.out, [&](int d, int64_t o) {
          return pool_counted(w, d, o, with_padding);
        }) {}
  bool failed() const { return counts_.failed(); }
  int64_t at(int64_t i, int64_t j, int64_t k) const {
    return divisor_ ? divisor_ : counts_.at(0, i) * counts_.at(1, j) * counts_.at(2, k);
  }

 private:
  int64_t divisor_;
  PoolTable<int64_t> counts_;
};

// The number of the element [i, j, k] behind the channels.
inline int64_t pool_offset(const View& v, int64_t i, int64_t j, int64_t k) {
  return i * v.strides[2] + j * v.strides[3] + k * v.strides[4];
}

// f(n, i, j, first channel, channels) for rows [n, :, i, j, :] of an image, on all threads; `each`
// elements are read for one that is written. Few rows are cut by channels, as much as `block`.
template <class F>
void each_deep_row(Context& context, const View& image, int64_t each, int64_t block, F f) {
  const int64_t c = image.sizes[1], h = image.sizes[3], w = image.sizes[4];
  const int64_t rows = image.sizes[0] * image.sizes[2] * h;
  const int64_t width = rows < 64 ? block : c, blocks = (c + width - 1) / width;
  const int64_t cost = std::max<int64_t>(1, std::min(width, c) * w * each);
  in_chunks(context, rows * blocks, std::max<int64_t>(1, kPoolGrain / cost),
            [&](int64_t first, int64_t last) {
              for (int64_t part = first; part < last; ++part) {
                const int64_t row = part / blocks, channel = part % blocks * width;
                f(row / h / image.sizes[2], row / h % image.sizes[2], row % h, channel,
                  std::min(width, c - channel));
              }
            });
}

// f(n, channel, i, j) for rows [n, channel, i, j, :].
template <class F>
void each_row(Context& context, const View& image, int64_t each, F f) {
  const int64_t c = image.sizes[1], d = image.sizes[2], h = image.sizes[3];
  const int64_t cost = std::max<int64_t>(1, image.sizes[4] * each);
  in_chunks(context, image.sizes[0] * c * d * h, std::max<int64_t>(1, kPoolGrain / cost),
            [&](int64_t first, int64_t last) {
              for (int64_t row = first; row < last; ++row)
                f(row / h / d / c, row / h / d % c, row / h % d, row % h);
            });
}

// Whether kernels that go by channels serve: adjacent ones, of a dtype that vectors hold.
inline bool goes_by_channels(std::initializer_list<const View*> images) {
  for (const View* v : images)
    if (v->data && (v->strides[1] != 1 || v->sizes[1] < 2)) return false;
  return true;
}
inline bool is_floating(int32_t dtype) {
  return dtype == LIBDL_DTYPE_FLOAT16 || dtype == LIBDL_DTYPE_BFLOAT16 ||
         dtype == LIBDL_DTYPE_FLOAT32 || dtype == LIBDL_DTYPE_FLOAT64;
}

// Whether the pixels of a channel are row-major without gaps.
inline bool has_whole_planes(const View& v) {
  return (v.sizes[4] == 1 || v.strides[4] == 1) &&
         (v.sizes[3] == 1 || v.strides[3] == v.sizes[4]) &&
         (v.sizes[2] == 1 || v.strides[2] == v.sizes[3] * v.sizes[4]);
}

inline int64_t pool_plane(const PoolWindows& w) { return w.in[0] * w.in[1] * w.in[2]; }

// How many elements a window reads, about; more than a chunk's worth make no difference.
inline int64_t pool_cost(const PoolWindows& w) {
  int64_t cost = 1;
  for (int d = 0; d < 3; ++d) {
    const int64_t n = w.adaptive ? w.in[d] / w.out[d] + 1 : std::min(w.window[d], w.in[d]);
    cost = std::min(cost * std::min(n, kPoolGrain), kPoolGrain);
  }
  return cost;
}

}  // namespace libdl::kernels::cpu
