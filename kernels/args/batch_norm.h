// SPDX-License-Identifier: Apache-2.0
#pragma once

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
// How many pixels' sums are made in the compute type, before they are added in double. It depends
// on nothing, so that the bits do not depend on the number of threads.
inline constexpr int64_t kBatchNormRun = 64;

}  // namespace libdl::kernels
