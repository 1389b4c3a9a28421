// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

constexpr int64_t kGrain = 1 << 13;  // elements of the input worth a chunk
constexpr int64_t kBlock = 64;  // channels at once, of which the largest so far are in registers

// The elements of a window along one dimension that lie inside: begin, begin + dilation, ... below
// end.
struct Inside {
  int64_t begin, end;
  Inside(const MaxPool2dArgs& a, int k, int64_t o) {
    const int64_t start = o * a.stride[k] - a.padding[k];
    const int64_t missed = start < 0 ? (-start + a.dilation[k] - 1) / a.dilation[k] : 0;
    begin = start + missed * a.dilation[k];
    end = std::min(a.in.sizes[2 + k], start + a.window[k] * a.dilation[k]);
  }
};

template <class T>
bool takes_over(T x, T largest) {
  return x > largest || x != x;
}

// One window of one channel.
template <class E>
void pool_window(const MaxPool2dArgs& a, const E* plane, Inside y, Inside x, E* out,
                 int64_t* index) {
  const int64_t down = a.in.strides[2], right = a.in.strides[3], width = a.in.sizes[3];
  auto largest = plane[y.begin * down + x.begin * right].load();
  int64_t at = y.begin * width + x.begin;
  for (int64_t i = y.begin; i < y.end; i += a.dilation[0]) {
    for (int64_t j = x.begin; j < x.end; j += a.dilation[1]) {
      const auto value = plane[i * down + j * right].load();
      if (takes_over(value, largest)) largest = value, at = i * width + j;
    }
  }
  *out = E::store(largest);
  if (index) *index = at;
}

// Rows of windows, numbered through batches and channels.
template <class E>
void pool_rows(const MaxPool2dArgs& a, int64_t first, int64_t last) {
  const int64_t c = a.in.sizes[1], h = a.out.sizes[2], w = a.out.sizes[3];
  for (int64_t row = first; row < last; ++row) {
    const int64_t b = row / h / c, channel = row / h % c, o = row % h;
    const E* const plane =
        static_cast<const E*>(a.in.data) + b * a.in.strides[0] + channel * a.in.strides[1];
    E* const out = static_cast<E*>(a.out.data) + b * a.out.strides[0] + channel * a.out.strides[1] +
                   o * a.out.strides[2];
    int64_t* const index = a.indices.data
                               ? static_cast<int64_t*>(a.indices.data) + b * a.indices.strides[0] +
                                     channel * a.indices.strides[1] + o * a.indices.strides[2]
                               : nullptr;
    const Inside y(a, 0, o);
    for (int64_t p = 0; p < w; ++p)
      pool_window(a, plane, y, Inside(a, 1, p), out + p * a.out.strides[3],
                  index ? index + p * a.indices.strides[3] : nullptr);
  }
}

// One window of up to kBlock channels that are adjacent. Position is wide enough for h * w.
template <class E, class Position>
void pool_channels(const MaxPool2dArgs& a, const E* in, Inside y, Inside x, int64_t channels,
                   E* out, int64_t* index) {
  typename E::Compute largest[kBlock];
  Position at[kBlock];
  const int64_t down = a.in.strides[2], right = a.in.strides[3], width = a.in.sizes[3];
  for (int64_t c = 0; c < channels; ++c) {
    largest[c] = in[y.begin * down + x.begin * right + c].load();
    at[c] = static_cast<Position>(y.begin * width + x.begin);
  }
  for (int64_t i = y.begin; i < y.end; i += a.dilation[0]) {
    for (int64_t j = x.begin; j < x.end; j += a.dilation[1]) {
      const E* const from = in + i * down + j * right;
      const auto here = static_cast<Position>(i * width + j);
      for (int64_t c = 0; c < channels; ++c) {
        const auto value = from[c].load();
        const bool taken = takes_over(value, largest[c]);
        largest[c] = taken ? value : largest[c];
        at[c] = taken ? here : at[c];
      }
    }
  }
  for (int64_t c = 0; c < channels; ++c) out[c] = E::store(largest[c]);
  if (index) std::copy_n(at, channels, index);
}

// Rows of windows, numbered through batches, for when the channels are adjacent in memory.
template <class E, class Position>
void pool_deep_rows(const MaxPool2dArgs& a, int64_t first, int64_t last) {
  const int64_t c = a.in.sizes[1], h = a.out.sizes[2], w = a.out.sizes[3];
  for (int64_t row = first; row < last; ++row) {
    const int64_t b = row / h, o = row % h;
    const E* const in = static_cast<const E*>(a.in.data) + b * a.in.strides[0];
    const Inside y(a, 0, o);
    for (int64_t p = 0; p < w; ++p) {
      E* const out = static_cast<E*>(a.out.data) + b * a.out.strides[0] + o * a.out.strides[2] +
                     p * a.out.strides[3];
      int64_t* const index =
          a.indices.data ? static_cast<int64_t*>(a.indices.data) + b * a.indices.strides[0] +
                               o * a.indices.strides[2] + p * a.indices.strides[3]
                         : nullptr;
      const Inside x(a, 1, p);
      for (int64_t k = 0; k < c; k += kBlock)
        pool_channels<E, Position>(a, in + k, y, x, std::min(kBlock, c - k), out + k,
                                   index ? index + k : nullptr);
    }
  }
}

bool is_deep(const View& x) { return x.strides[1] == 1; }

}  // namespace

void max_pool2d(Context& context, const MaxPool2dArgs& a) {
  const int64_t c = a.in.sizes[1], h = a.out.sizes[2], w = a.out.sizes[3];
  const bool deep =
      c >= 4 && is_deep(a.in) && is_deep(a.out) && (!a.indices.data || is_deep(a.indices));
  const bool wide = a.in.sizes[2] * a.in.sizes[3] > std::numeric_limits<int32_t>::max();
  const int64_t rows = a.in.sizes[0] * h * (deep ? 1 : c);
  const int64_t each = w * a.window[0] * a.window[1] * (deep ? c : 1);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, each));
  with_element(a.in.dtype, [&]<class E>(E) {
    if constexpr (!kIsComplex<typename E::Compute>) {
      in_chunks(context, rows, grain, [&](int64_t first, int64_t last) {
        if (!deep) return pool_rows<E>(a, first, last);
        if (wide) return pool_deep_rows<E, int64_t>(a, first, last);
        pool_deep_rows<E, int32_t>(a, first, last);
      });
    }
  });
}

}  // namespace libdl::kernels::cpu
