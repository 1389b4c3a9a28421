// SPDX-License-Identifier: Apache-2.0

// A range of a view's dimensions, merged where strides allow, and the offset of its k-th element.
#pragma once

#include <cstdlib>

#include "kernels/args.h"
#include "kernels/cpu/traverse/load_store.h"

namespace libdl::kernels::cpu {

struct Dims {
  int32_t ndim = 0;  // 0: one element
  int64_t sizes[kMaxDims];
  int64_t strides[kMaxDims];

  // Dimensions [first, last) of v.
  Dims(const View& v, int32_t first, int32_t last) {
    for (int32_t d = first; d < last; ++d) push(v.sizes[d], v.strides[d]);
  }
  // The same, with the largest strides outermost: for when the order does not matter.
  static Dims by_stride(const View& v, int32_t first, int32_t last) {
    int32_t order[kMaxDims], count = 0;
    for (int32_t d = first; d < last; ++d) {
      int32_t i = count++;
      for (; i > 0 && std::abs(v.strides[order[i - 1]]) < std::abs(v.strides[d]); --i) {
        order[i] = order[i - 1];
      }
      order[i] = d;
    }
    Dims sorted(v, first, first);
    for (int32_t i = 0; i < count; ++i) sorted.push(v.sizes[order[i]], v.strides[order[i]]);
    return sorted;
  }

  // Adds an innermost dimension.
  void push(int64_t size, int64_t stride) {
    if (size == 1) return;
    if (ndim > 0 && strides[ndim - 1] == size * stride) {
      sizes[ndim - 1] *= size;
      strides[ndim - 1] = stride;
    } else {
      sizes[ndim] = size;
      strides[ndim++] = stride;
    }
  }

  int64_t count() const {
    int64_t n = 1;
    for (int32_t d = 0; d < ndim; ++d) n *= sizes[d];
    return n;
  }
  int64_t inner_size() const { return ndim == 0 ? 1 : sizes[ndim - 1]; }
  int64_t inner_stride() const { return ndim == 0 ? 1 : strides[ndim - 1]; }

  // The offset, in elements, of the k-th element in row-major order.
  int64_t offset(int64_t k) const {
    int64_t sum = 0;
    for (int32_t d = ndim - 1; d > 0; --d) {
      sum += k % sizes[d] * strides[d];
      k /= sizes[d];
    }
    return ndim == 0 ? 0 : sum + k * strides[0];
  }
};

inline const char* at(const View& v, int64_t offset, int64_t element_bytes) {
  return static_cast<const char*>(v.data) + offset * element_bytes;
}

// Elements [first, first + n) of the dims of an array at `data`, in row-major order.
template <class T>
void load_range(T* tile, const char* data, int32_t dtype, int64_t element_bytes, const Dims& dims,
                int64_t first, int64_t n) {
  const int64_t inner = dims.inner_size();
  while (n > 0) {
    const int64_t left = inner - first % inner;
    const int64_t run = n < left ? n : left;
    load_tile(tile, data + dims.offset(first) * element_bytes, dtype, dims.inner_stride(), run);
    tile += run;
    first += run;
    n -= run;
  }
}

template <class T>
void store_range(const T* tile, char* data, int32_t dtype, int64_t element_bytes, const Dims& dims,
                 int64_t first, int64_t n) {
  const int64_t inner = dims.inner_size();
  while (n > 0) {
    const int64_t left = inner - first % inner;
    const int64_t run = n < left ? n : left;
    store_tile(data + dims.offset(first) * element_bytes, dtype, dims.inner_stride(), tile, run);
    tile += run;
    first += run;
    n -= run;
  }
}

// Calls f(k, offset, run) for the runs of the dims' elements first + k, k below n, that are evenly
// spaced: `run` of them from the offset on.
template <class F>
void each_run(const Dims& dims, int64_t first, int64_t n, const F& f) {
  const int64_t inner = dims.inner_size();
  for (int64_t k = 0; k < n;) {
    const int64_t left = inner - (first + k) % inner;
    const int64_t run = n - k < left ? n - k : left;
    f(k, dims.offset(first + k), run);
    k += run;
  }
}

}  // namespace libdl::kernels::cpu
