// SPDX-License-Identifier: Apache-2.0

// Launches whose operands lie in rows: a matrix and a row, a matrix and a column, slices of
// matrices. A tile function takes each row where it lies.
#pragma once

#include "kernels/args.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/cpu/traverse/geometry.h"

namespace libdl::kernels::cpu {

// A tile function and how many of its inputs vary along a row; those after them are one number.
struct RowFunction {
  TileFn fn;
  int32_t varying;
};

// Whether the walk is one of rows for this function, which reads the operands' dtypes: the output
// and what varies lie in order along a row; what does not vary stays where it is.
bool lies_in_rows(const Geometry& g, RowFunction f);

void run_by_rows(Context& context, const Geometry& g, RowFunction f);

}  // namespace libdl::kernels::cpu
