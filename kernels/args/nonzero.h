// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// Number of nonzero elements (out NULL) or their row-major coordinates, int64 [count, ndim]. count
// is in the host's memory: a device is waited for.
struct NonzeroArgs {
  View in;
  int64_t* count;
  View out;
};

}  // namespace libdl::kernels
