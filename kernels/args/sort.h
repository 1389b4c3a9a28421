// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// Sorts along the last dimension; values and indices are contiguous outputs. NaN counts as the
// largest. k < 0: all; else the first k (topk). Always stable.
struct SortArgs {
  View values, indices, in;
  int64_t k;
  bool descending;
};

}  // namespace libdl::kernels
