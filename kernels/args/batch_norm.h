// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// Normalisation of each channel over all other dimensions. Images are [n, c, d, h, w] with any
// strides; on the CPU they are fastest with the channels innermost, or as they lie in a contiguous
// tensor, if all of them do. What belongs to a channel is [c], contiguous, float64 for images of
// float64 and float32 for others.
struct BatchStatisticsArgs {
  View in;
  View mean, rstd;  // rstd: 1 / sqrt(sum of squares / count + eps)
  View variance;    // sum of squares / (count - 1)
  double eps;
};
struct BatchNormArgs {  // out = (in - mean) rstd weight + bias; out may be in
  View out, in, mean, rstd;
  View weight, bias;  // or data NULL
};
// trained: mean and rstd are those of `in`, and depend on it.
struct BatchNormBackwardArgs {
  View dx, dweight, dbias;  // data NULL where not wanted
  View dy, in, mean, rstd;
  View weight;  // or data NULL
  bool trained;
};
// The same with what stands behind it, in one pass: out = relu(normalised in + added), the latter
// two where wanted. out may be `added`. The bits are those of one operator after the other.
struct BatchNormAddReluArgs {
  BatchNormArgs norm;
  View added;  // or data NULL
  bool relu;
};
// norm.dy is the gradient of relu(normalised in): it counts only where that is above 0 or a NaN.
// dx may be dy.
struct BatchNormReluBackwardArgs {
  BatchNormBackwardArgs norm;
  View bias;  // or data NULL
};
// dx[i] = y[i] <= 0 ? 0 : dy[i], where y is relu's result; contiguous, of float32 or float64.
struct ReluBackwardArgs {
  void* dx;
  const void *dy, *y;
  int64_t count;
  int32_t dtype;
};
// How many pixels' sums are made in the compute type, before they are added in double. It depends
// on nothing, so that the bits do not depend on the number of threads.
inline constexpr int64_t kBatchNormRun = 64;

}  // namespace libdl::kernels
