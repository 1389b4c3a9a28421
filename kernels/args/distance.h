// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

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

}  // namespace libdl::kernels
