// SPDX-License-Identifier: Apache-2.0

// A range of dimensions that several views share, merged where the strides of all of them allow.
#pragma once

#include <initializer_list>

#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

template <int kViews>
struct Merged {
  int32_t ndim = 0;  // 0: one element
  int64_t sizes[kMaxDims];
  int64_t strides[kViews][kMaxDims];

  // Dimensions [first, last) of the views; those whose data is NULL are left out.
  Merged(const View* const (&views)[kViews], int32_t first, int32_t last) {
    const View& shape = *views[0];
    for (int32_t d = first; d < last; ++d) {
      if (shape.sizes[d] == 1) continue;
      bool joins = ndim > 0;
      for (int k = 0; k < kViews && joins; ++k)
        joins = !views[k]->data || strides[k][ndim - 1] == shape.sizes[d] * views[k]->strides[d];
      if (!joins) sizes[ndim++] = 1;
      sizes[ndim - 1] *= shape.sizes[d];
      for (int k = 0; k < kViews; ++k)
        strides[k][ndim - 1] = views[k]->data ? views[k]->strides[d] : 0;
    }
  }
  Merged(const Merged&) = delete;
  Merged& operator=(const Merged&) = delete;

  int64_t count() const {
    int64_t n = 1;
    for (int32_t d = 0; d < ndim; ++d) n *= sizes[d];
    return n;
  }
  int64_t inner_size() const { return ndim == 0 ? 1 : sizes[ndim - 1]; }
  int64_t inner_stride(int k) const { return ndim == 0 ? 1 : strides[k][ndim - 1]; }
  View view(int k, const View& of) const { return {of.data, sizes, strides[k], ndim, of.dtype}; }
};

inline int64_t power_of_two_from(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}
inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A row-major array of scratch memory in the shape of a view's first dimensions.
struct DenseLike {
  int64_t strides[kMaxDims];
  View view;
  DenseLike(void* data, const View& like, int32_t ndim, int32_t dtype)
      : view{data, like.sizes, strides, ndim, dtype} {
    int64_t step = 1;
    for (int32_t d = ndim; d-- > 0;) {
      strides[d] = step;
      step *= like.sizes[d];
    }
  }
  DenseLike(const DenseLike&) = delete;
  DenseLike& operator=(const DenseLike&) = delete;
};

}  // namespace libdl::kernels::cuda
