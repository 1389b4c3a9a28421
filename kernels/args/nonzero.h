// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// The number of nonzero elements (out NULL), or their row-major coordinates, int64 [count, ndim].
// count is in host memory: the kernel waits for the device.
struct NonzeroArgs {
  View in;
  int64_t* count;
  View out;
};

}  // namespace libdl::kernels
