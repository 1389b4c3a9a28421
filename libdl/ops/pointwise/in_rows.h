// SPDX-License-Identifier: Apache-2.0

// Elementwise operators on sparse matrices (tensor/sparse_rows.h). Of what a gradient goes through
// the result is sparse again: multiplied or divided by a number, negated, and the sum or difference
// of two. Rows that are not held stay 0, whatever the number is. All other operators see matrices.
#pragma once

#include "ops/pointwise/expression.h"

namespace libdl {

// The result, computed as `compute` by `call` on the held rows, and not recorded; undefined if it
// is not sparse.
Tensor in_rows(const PointwiseOp& op, const Tensor* const* in, Dtype compute, PointwiseCall call);

// As in_rows, written to dst, whose version rises; false: nothing was done.
bool written_in_rows(const PointwiseOp& op, const Tensor* const* in, Dtype compute,
                     PointwiseCall call, const Tensor& dst);

}  // namespace libdl
