// SPDX-License-Identifier: Apache-2.0

// How the indexing kernels traverse memory: fixed chunks of a range, and a walk over several views
// of one shape in row-major order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// Runs body(first, last) over [0, count) in pieces of `grain`: the cuts depend on sizes only, so
// the bits do not depend on the number of threads. False if the host interrupted.
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
  return context.parallel((count - 1) / grain + 1,
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

  // Adds an innermost dimension.
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

  // The stride of view k from one row of run_rows to the next.
  int64_t outer(int k) const { return ndim_ < 2 ? 0 : strides_[ndim_ - 2][k]; }

  // Calls piece(offsets, count) for the elements [first, last) of the row-major order.
  template <class Piece>
  void run(int64_t first, int64_t last, const Piece& piece) const {
    run_rows(first, last, [&](Strides offset, int64_t rows, int64_t count) {
      for (piece(offset, count); --rows > 0; piece(offset, count)) move(offset, ndim_ - 2, 1);
    });
  }

  // The same with several consecutive rows of equal length at once: rows(offsets, rows, count).
  template <class Rows>
  void run_rows(int64_t first, int64_t last, const Rows& rows) const {
    Strides offset{};
    if (first >= last) return;
    if (ndim_ == 0) return rows(offset, int64_t{1}, int64_t{1});
    const int inside = ndim_ - 1, outside = ndim_ - 2;
    if (inside == 0) {
      move(offset, 0, first);
      return rows(offset, int64_t{1}, last - first);
    }
    const int64_t width = sizes_[inside];
    int64_t at[kMaxDims];  // indices of all but the innermost dimension; offset: start of the row
    int64_t rest = first / width, start = first % width;
    for (int d = outside; d >= 0; --d) {
      at[d] = rest % sizes_[d];
      rest /= sizes_[d];
      move(offset, d, at[d]);
    }
    while (first < last) {
      const int64_t count = std::min(width - start, last - first);
      const int64_t n =
          count < width ? 1 : std::min(sizes_[outside] - at[outside], (last - first) / width);
      Strides here = offset;
      if (start > 0) move(here, inside, start);
      start = 0;
      rows(here, n, count);
      first += n * count;
      at[outside] += n;
      move(offset, outside, n);
      for (int d = outside; d > 0 && at[d] == sizes_[d]; --d) {
        at[d] = 0;
        move(offset, d, -sizes_[d]);
        ++at[d - 1];
        move(offset, d - 1, 1);
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
