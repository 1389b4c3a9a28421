// SPDX-License-Identifier: Apache-2.0

// One row of pixels of a depthwise convolution, and of the gradient of its weights. Strides are in
// elements.
#pragma once

#include <cstdint>

#include "kernels/cpu/conv/stored.h"

namespace libdl::kernels::cpu {

template <class S>
struct DepthwiseSource {
  const S* data;           // position 0 of the first row
  int64_t size, distance;  // positions, and from one to the next; outside of them the source is 0
  int64_t step, start, dilation, taps;  // along the row; dilation > 0

  const S* under(int64_t q, int64_t tap) const {
    return data + (q * step + start + tap * dilation) * distance;
  }
};

// out[q, c] = (bias[c] +) sum over the rows of the source, in order, and the taps along each of
// source[c] w[c].
template <class S>
struct DepthwiseRow {
  struct Rows {  // the rows are those of three nested loops
    int64_t count, in_stride, w_stride;
  };
  S* out;
  int64_t pixels, out_stride, channels;
  const S* bias;  // or NULL
  DepthwiseSource<S> in;
  Rows rows[3];
  const Wide<S>* w;  // tap 0 of the first row
  int64_t tap_stride;
  int64_t group = 1, w_group_stride = 0;  // grouped_rows.h
};
// sums[row, tap, c] += sum over q of y[q, c] source[c]. sums is of whole cache lines. The order of
// a sum depends only on the sizes of the row and on what of it lies inside the source.
template <class S>
struct DepthwiseSums {
  const S* y;
  int64_t pixels, y_stride, channels;
  DepthwiseSource<S> in;
  int64_t rows, in_stride;
  Wide<S>* sums;
  int64_t row_stride, tap_stride;
  double* bias;                           // the sums of y, or NULL
  int64_t group = 1, w_group_stride = 0;  // grouped_rows.h
};

}  // namespace libdl::kernels::cpu
