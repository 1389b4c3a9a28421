// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"

namespace libdl::kernels {

// The largest element of each window of [n, c, h, w]: rows y stride[0] - padding[0] + k dilation[0]
// for k < window[0], columns likewise; positions outside do not count. Of equal elements the first
// is taken; if there are NaNs, the last of them. indices (int64: row * w + column) is not written
// if its data is NULL. Every window has at least one element inside.
struct MaxPool2dArgs {
  View out;
  View indices;
  View in;
  int64_t window[2], stride[2], padding[2], dilation[2];
};

}  // namespace libdl::kernels
