// SPDX-License-Identifier: Apache-2.0

// A matrix of which few rows are not zero, as the gradient of a table is, in a form that holds
// these alone (Layout::kSparseRows). To whoever asks for the plain bytes it is a matrix like
// others.
#pragma once

#include "tensor/forms.h"

namespace libdl {

struct SparseRows {
  int64_t count = 0;           // of the rows that are held
  int64_t* numbers = nullptr;  // theirs, ascending, each once
  void* elements = nullptr;    // [count, columns], contiguous
};

// A new matrix in this form; the caller writes numbers and elements before anyone else sees it.
// 0 < count <= rows, and at least one column. Throws OVERFLOW, OUT_OF_MEMORY.
Tensor empty_sparse_rows(Dims shape, Dtype dtype, int64_t count, SparseRows& rows);

// The form, if x has it and no plain bytes; empty otherwise.
PackedReader sparse_rows_of(const Tensor& x);
SparseRows rows_in(const PackedReader& form);

// Writes all plain bytes of a matrix in this form.
void spread_rows(Dims shape, Dtype dtype, void* form, void* plain);

}  // namespace libdl
