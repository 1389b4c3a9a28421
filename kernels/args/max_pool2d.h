// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"

namespace libdl::kernels {

// The largest element of each window of [n, c, h, w]: rows y stride[0] - padding[0] + k dilation[0]
// for k < window[0], columns likewise; what lies outside does not count. The first of equals is
// taken, and the last NaN before all. indices, int64 and where it is (row * w + column), is left
// out where its data is NULL. Every window has an element inside.
struct MaxPool2dArgs {
  View out;
  View indices;
  View in;
  int64_t window[2], stride[2], padding[2], dilation[2];
};

}  // namespace libdl::kernels
