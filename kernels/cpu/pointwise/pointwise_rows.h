// SPDX-License-Identifier: Apache-2.0

// Launches whose operands consist of rows: a matrix and a row, a matrix and a column, slices of
// matrices. The tile function reads and writes each row in place.
#pragma once

#include "kernels/args.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/cpu/traverse/geometry.h"

namespace libdl::kernels::cpu {

// A tile function and how many of its inputs vary along a row; the inputs after them are single
// numbers.
struct RowFunction {
  TileFn fn;
  int32_t varying;
};

// Whether the walk consists of rows for this function, which reads the operands' dtypes: the output
// and the inputs that vary are contiguous along a row, and the others have stride 0.
bool lies_in_rows(const Geometry& g, RowFunction f);

void run_by_rows(Context& context, const Geometry& g, RowFunction f);

}  // namespace libdl::kernels::cpu
