// SPDX-License-Identifier: Apache-2.0

// Groups of a matrix's rows, read in place: sums, largest elements, and products with other rows.
// All matrices are contiguous and of one dtype, which is floating. What points to them and to
// their numbers is memory of the device.
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// out[r, :] = the sum of factors[p] * in[order[p], :] over p from starts[r] to starts[r + 1] - 1,
// in this order; 0 where there is none. 16-bit rows are summed in float32. dtype may be complex.
struct SumRowsArgs {
  void* out;
  const void* in;
  int64_t rows, columns;
  const int64_t *order, *starts;
  int32_t dtype;
  const void* factors = nullptr;  // of dtype; NULL: ones
  bool mean = false;              // divided by the number of terms
};

// out[r, c] = the first of the largest in[order[p], c] over the same p, and from[r, c] = its
// order[p]; 0 and -1 where there is none. A NaN is chosen only if it comes first.
struct MaxRowsArgs {
  void* out;
  int64_t* from;
  const void* in;
  int64_t rows, columns;
  const int64_t *order, *starts;
  int32_t dtype;
};

// out[p] = the sum over c of a[a_order[p], c] * b[b_order[p], c].
struct DotRowsArgs {
  void* out;
  const void *a, *b;
  int64_t count, columns;
  const int64_t *a_order, *b_order;
  int32_t dtype;
};

}  // namespace libdl::kernels
