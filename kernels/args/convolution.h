// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"

namespace libdl::kernels {

// Three tensors of which one is computed from the other two:
//
//   y[n, k, o] = bias[k] + sum over c and t of x[n, c, o stride - before + t dilation] w[k, c, t]
//
// where positions outside x count as 0 and both channels are cut into `groups` equal parts: part g
// of y's is computed from part g of x's. x and w are computed as the gradients of sum(y g) for a g
// that is passed as y; with w, bias becomes that of the bias. o and t have three dimensions. No
// tensor is empty; on the CPU what is wanted is dense, but for its order of dimensions.
struct ConvolutionArgs {
  enum Computed : int32_t { kInput, kWeight, kOutput };
  Computed computed;
  View x;     // [n, c, ...]; the channels of a group are adjacent in memory
  View w;     // [k, c / groups, ...]; if it is wanted, dense with c innermost
  View y;     // [n, k, ...]; the channels of a group are adjacent in memory
  View bias;  // [k], or data NULL
  int64_t groups, stride[3], before[3], dilation[3];
};

}  // namespace libdl::kernels
