// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/context.h"
#include "kernels/view.h"

namespace libdl::kernels::cpu {

// Distances of all rows: out[b, i, j] = the p-norm of x[b, i, :] - y[b, j, :], for p = 1 or 2, of
// float32 or float64. In `pairs` x and y are the same rows, and out[b, :] has those of i < j, row
// by row. Squares that leave the range of the dtype do not matter.
struct DistanceArgs {
  View out;   // [b, n, m], or [b, n (n - 1) / 2] in pairs; without gaps
  View x, y;  // [b, n, d] and [b, m, d]
  double p;
  bool pairs;
};

// The gradient of x where that of out is dout: the sums over j of dout sign(x - y), or of
// dout (x - y) / out, 0 where out is. In pairs it is that of x as both operands.
struct DistanceBackwardArgs {
  View dx;         // like x
  View dout, out;  // as in DistanceArgs, with any strides
  View x, y;
  double p;
  bool pairs;
};

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

void distance(Context& context, const DistanceArgs& a);
void distance_backward(Context& context, const DistanceBackwardArgs& a);

}  // namespace libdl::kernels::cpu
