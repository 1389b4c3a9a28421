// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// Normalises over the last dimension; the leading ones, any number with any strides, are the rows.
// out may be in, dx may be dy.
struct LayerNormArgs {
  View out, mean, rstd;   // mean and rstd: the leading dimensions, float32 or float64, or data NULL
  View in, weight, bias;  // weight and bias: [cols], or data NULL
  double eps;
};
struct LayerNormBackwardArgs {
  View dx, dweight, dbias;  // data NULL where not wanted; dweight and dbias are [cols]
  View dy, in, mean, rstd, weight;
};
// How many rows' contributions to dweight and dbias are summed together. It depends on sizes only,
// so that the bits do not depend on the number of threads.
inline int64_t layer_norm_backward_block(int64_t rows) {
  return rows > 32 * 16 ? (rows + 31) / 32 : 16;
}

}  // namespace libdl::kernels
