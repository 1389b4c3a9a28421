// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// out[i, j] = in[index[i, j] along dim]: shapes of out and index agree, in differs along dim.
// Index values have been checked (kernel check_index) and may be negative.
struct GatherArgs {
  View out, in, index;
  int32_t dim;
};
enum class ScatterOp : int32_t { kSet, kAdd, kMul, kMax, kMin };
// out[index[i, j] along dim] op= src[i, j], in row-major order of index (so the order of sums is
// fixed).
struct ScatterArgs {
  View out, src, index;
  int32_t dim;
  int32_t op;
};

}  // namespace libdl::kernels
