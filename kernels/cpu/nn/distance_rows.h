// SPDX-License-Identifier: Apache-2.0

// What the kernels of distances share: rows, and panels of them with the same column of each side
// by side.
#pragma once

#include <algorithm>

#include "kernels/args.h"
#include "kernels/context.h"
#include "kernels/cpu/traverse/rooms.h"
#include "kernels/cpu/traverse/run_sum.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

constexpr int64_t kDistanceDepth = 256;               // columns at once
constexpr int64_t kDistanceGrain = int64_t{1} << 18;  // differences worth a chunk

// The number of the distance of rows i < j of n among those of pairs.
inline int64_t pair_number(int64_t n, int64_t i, int64_t j) {
  return i * (2 * n - i - 1) / 2 + j - i - 1;
}

// The offset of the distance of rows i and j, which are not equal in pairs, in a view of them.
inline int64_t distance_offset(const int64_t* strides, bool pairs, int64_t n, int64_t b, int64_t i,
                               int64_t j) {
  if (!pairs) return b * strides[0] + i * strides[1] + j * strides[2];
  return b * strides[0] + strides[1] * (i < j ? pair_number(n, i, j) : pair_number(n, j, i));
}

template <class T>
struct DistanceRows {
  T* data;
  int64_t batch, row, column;  // strides

  explicit DistanceRows(const View& v)
      : data(static_cast<T*>(v.data)),
        batch(v.strides[0]),
        row(v.strides[1]),
        column(v.strides[2]) {}
  T* at(int64_t b, int64_t i, int64_t k) const { return data + b * batch + i * row + k * column; }

  // panel[k * width + r] = the element [b, i + r, first + k]; 0 for r >= rows. In blocks whose
  // lines stay in the cache whatever the strides.
  template <class P>
  void pack(int64_t b, int64_t i, int64_t rows, int64_t first, int64_t depth, int64_t width,
            P* panel) const {
    constexpr int64_t kRows = 8, kColumns = 16;
    for (int64_t r = 0; r < width; r += kRows)
      for (int64_t k = 0; k < depth; k += kColumns) {
        const int64_t last = std::min(depth, k + kColumns), end = std::min(width, r + kRows);
        const int64_t there = std::clamp(rows, r, end);
        for (int64_t c = k; c < last; ++c) {
          P* const to = panel + c * width;
          const T* const from = at(b, i, first + c);
          for (int64_t q = r; q < there; ++q) to[q] = from[q * row];
          for (int64_t q = there; q < end; ++q) to[q] = 0;
        }
      }
  }
};

// f(room, item) for `items` that cost `each`, on all threads, with room for `elements`.
template <class T, class F>
void each_distance_item(Context& context, int64_t items, int64_t each, int64_t elements,
                        const F& f) {
  const int64_t grain = std::max<int64_t>(1, kDistanceGrain / std::max<int64_t>(1, each));
  const int64_t rooms =
      std::min<int64_t>({(items + grain - 1) / grain, context.host->threads(), Rooms<T>::kMost});
  const Scratch scratch(context, rooms * elements * int64_t{sizeof(T)});
  if (scratch.failed()) return;
  Rooms<T> free(static_cast<T*>(scratch.data()), elements, rooms);
  in_chunks(context, items, grain, [&](int64_t first, int64_t last) {
    free.with_one([&](T* room) { f(room, first, last); });
  });
}

}  // namespace libdl::kernels::cpu
