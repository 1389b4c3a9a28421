// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// out[r, :] = the sum of in[order[p], :] over p from starts[r] to starts[r + 1] - 1, in this order;
// there is at least one. Both are contiguous matrices, float32 or float64.
struct SumRowsArgs {
  void* out;
  const void* in;
  int64_t rows, columns;
  const int64_t *order, *starts;
  int32_t dtype;
};
void sum_rows(Context& context, const SumRowsArgs& args);

}  // namespace libdl::kernels::cpu
