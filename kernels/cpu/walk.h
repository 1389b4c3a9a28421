// SPDX-License-Identifier: Apache-2.0

// How the indexing kernels go over memory: fixed chunks of a range, and a walk over several views
// of one shape in row-major order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// Runs body(first, last) over [0, count) cut every `grain`: the cuts depend on sizes only, so bits
// do not depend on the number of threads. False if the host interrupted.
template <class Body>
bool in_chunks(Context& context, int64_t count, int64_t grain, const Body& body) {
  if (count <= grain) {
    if (count > 0) body(int64_t{0}, count);
    return true;
  }
  struct Job {
    const Body& body;
    int64_t count, grain;
  } job{body, count, grain};
  return context.parallel(
      context.pool, (count - 1) / grain + 1,
      [](void* arg, int64_t first, int64_t last) {
        const Job& job = *static_cast<const Job*>(arg);
        for (int64_t chunk = first; chunk < last; ++chunk) {
          const int64_t begin = chunk * job.grain;
          job.body(begin, std::min(job.count, begin + job.grain));
        }
      },
      &job);
}

inline int64_t element_count(const View& view) {
  int64_t count = 1;
  for (int32_t d = 0; d < view.ndim; ++d) count *= view.sizes[d];
  return count;
}

// N views of one shape, dimensions merged where all of them allow it.
template <int N>
class Walk {
 public:
  using Strides = std::array<int64_t, N>;

  // Adds a dimension inside the ones before.
  void push(int64_t size, const Strides& strides) {
    if (size == 1) return;
    if (ndim_ > 0 && continues(size, strides)) {
      sizes_[ndim_ - 1] *= size;
      strides_[ndim_ - 1] = strides;
      return;
    }
    sizes_[ndim_] = size;
    strides_[ndim_++] = strides;
  }

  // The stride of view k inside a piece.
  int64_t inner(int k) const { return ndim_ == 0 ? 1 : strides_[ndim_ - 1][k]; }

  bool is_point() const { return ndim_ == 0; }
  bool is_line() const { return ndim_ <= 1; }

  // Calls piece(offsets, count) for the elements [first, last) of the row-major order.
  template <class Piece>
  void run(int64_t first, int64_t last, const Piece& piece) const {
    Strides offset{};
    if (ndim_ == 0) {
      if (first < last) piece(offset, int64_t{1});
      return;
    }
    const int inside = ndim_ - 1;
    if (inside == 0) {
      if (first >= last) return;
      move(offset, 0, first);
      piece(offset, last - first);
      return;
    }
    int64_t at[kMaxDims];  // outside the innermost dimension; offset is the start of its row
    int64_t rest = first / sizes_[inside], start = first % sizes_[inside];
    for (int d = inside - 1; d >= 0; --d) {
      at[d] = rest % sizes_[d];
      rest /= sizes_[d];
      move(offset, d, at[d]);
    }
    while (first < last) {
      const int64_t count = std::min(sizes_[inside] - start, last - first);
      Strides here = offset;
      if (start > 0) move(here, inside, start);
      start = 0;
      piece(here, count);
      first += count;
      for (int d = inside - 1; d >= 0; --d) {
        move(offset, d, 1);
        if (++at[d] < sizes_[d]) break;
        at[d] = 0;
        move(offset, d, -sizes_[d]);
      }
    }
  }

 private:
  bool continues(int64_t size, const Strides& strides) const {
    for (int k = 0; k < N; ++k)
      if (strides_[ndim_ - 1][k] != strides[k] * size) return false;
    return true;
  }
  void move(Strides& offset, int d, int64_t steps) const {
    for (int k = 0; k < N; ++k) offset[k] += strides_[d][k] * steps;
  }

  int ndim_ = 0;
  int64_t sizes_[kMaxDims];
  Strides strides_[kMaxDims];
};

}  // namespace libdl::kernels::cpu
