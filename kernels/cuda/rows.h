// SPDX-License-Identifier: Apache-2.0

// Row-wise kernels: a team of threads handles each row, every thread with a few of its values in
// registers, so that a row of usual length is read only once.
#pragma once

#include <algorithm>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/merged.h"
#include "kernels/cuda/order.h"

namespace libdl::kernels::cuda {

constexpr int kHeld = 16;  // values of a row that a thread holds

// `side`: how many rows are adjacent, closer together than the values of a row; else 1.
inline Team team_for_rows(int64_t n, int64_t rows, int64_t side = 1) {
  const int64_t width = power_of_two_from(std::min<int64_t>(side, 32));
  const int64_t most = kMostTeam / width;
  const int64_t lanes =
      n <= 32 && width == 1
          ? power_of_two_from(n)
          : std::clamp<int64_t>(power_of_two_from(ceil_div(n, kHeld)), width == 1 ? 32 : 1, most);
  const int64_t team = width * lanes;
  const int64_t others =
      std::min(power_of_two_from(ceil_div(rows, width)), std::max<int64_t>(1, kThreads / team));
  return {static_cast<int32_t>(width), static_cast<int32_t>(lanes), 1,
          static_cast<int32_t>(std::max(others, 32 / std::min<int64_t>(team, 32)))};
}
inline Grid grid_for_rows(const Team& t, int64_t rows) {
  return {ceil_div(rows, int64_t{t.width} * t.others), t.threads(), 1};
}

#ifdef LIBDL_KERNELS

// The values of a row that a thread holds, as an array. Only the first address and the step stay in
// registers, where one address for each value would not fit.
template <class E>
struct Held {
  E* data;
  int64_t step;
  LIBDL_DEVICE E& operator[](int k) const { return data[k * step]; }
};

// A thread's values of its row: lane, lane + lanes, … from each multiple of `reach` on.
struct RowWalk {
  ThreadPosition at;
  int64_t row, n, reach;
  bool there;
  LIBDL_DEVICE RowWalk(const Team& t, int64_t rows, int64_t length)
      : RowWalk(t, rows, length, blockIdx.x) {}
  // `tile` counts what a block takes at a time, which is a row for each of its teams.
  LIBDL_DEVICE RowWalk(const Team& t, int64_t rows, int64_t length, int64_t tile) : at(t) {
    row = (tile * t.others + at.other) * t.width + at.x;
    there = row < rows;
    n = length;
    reach = int64_t{t.lanes} * kHeld;
  }
  LIBDL_DEVICE bool holds_all() const { return n <= reach; }
  // The thread's values of [first, first + reach), of a row that lies at `row`.
  template <class E>
  LIBDL_DEVICE Held<E> held(E* row, int64_t step, const Team& t, int64_t first) const {
    return {row + (first + at.lane) * step, step * t.lanes};
  }
  // Where the k-th of them stands in its row.
  LIBDL_DEVICE int64_t index_of(const Team& t, int64_t first, int k) const {
    return first + at.lane + int64_t{k} * t.lanes;
  }
  // Calls f(k) for each of these values that exists.
  template <class F>
  LIBDL_DEVICE void each(const Team& t, int64_t first, F&& f) const {
    const int64_t rest = n - first - at.lane;
    const int32_t left = !there ? 0 : static_cast<int32_t>(rest < reach ? rest : reach);
    LIBDL_UNROLL
    for (int k = 0; k < kHeld; ++k)
      if (k * t.lanes < left) f(k);
  }
};

// Combines all of the team's values; every thread gets the result.
template <class C, class T>
LIBDL_DEVICE T over_team(T x, const Team& t, const ThreadPosition& at) {
  return from_leader(join_team<C>(x, t, at), t, at);
}

#endif  // LIBDL_KERNELS

}  // namespace libdl::kernels::cuda
