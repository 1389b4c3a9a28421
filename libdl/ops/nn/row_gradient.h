// SPDX-License-Identifier: Apache-2.0

// The gradient of a table whose rows were read, as embedding and embedding_bag read them.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// row: which row each reading read, int64 or int32 of any shape, negative ones from the end.
struct Readings {
  Dims table;       // the table's shape
  int64_t padding;  // the row without a gradient, or -1
  bool sparse;      // the caller wants a sparse gradient (tensor/sparse_rows.h)
  Tensor row;
  Tensor from;  // int64, which row of dy a reading takes; undefined: its own
  // For each reading, of dy's dtype or, unless sparse, of the one in which such elements are
  // summed: an inverse count is not to be rounded before it is used. Undefined: 1.
  Tensor factor;
};

// d table[r] = the sum of factor * dy[from] over the readings of row r, in their order. dy:
// [..., columns]. differentiated: the result has a history.
Tensor row_gradient(const Readings& readings, const Tensor& dy, bool differentiated);

// One over how often each reading's row was read: [row's shape].
Tensor inverse_frequencies(const Tensor& row, int64_t rows, Dtype dtype);

// Throws UNSUPPORTED where sparse gradients are not made: elsewhere than on the CPU.
void check_sparse(const char* op, bool sparse, const Tensor& weight);

}  // namespace libdl
