// SPDX-License-Identifier: Apache-2.0

// A matrix of which few rows are not zero, as the gradient of a table is, in a form that holds
// these alone (Layout::kSparseRows). To whoever asks for the plain bytes it is a matrix like
// others.
//
// The form is a cache: it comes and goes unseen. Where a caller asked for it (sparse=True) the
// storage also keeps the numbers of the rows that are held, whatever form the elements have, until
// the plain bytes are written: such a matrix is called sparse, and answers which rows it holds.
#pragma once

#include <memory>
#include <vector>

#include "tensor/forms.h"
#include "tensor/held_rows.h"

namespace libdl {

struct SparseRows {
  int64_t count = 0;           // of the rows that are held
  int64_t* numbers = nullptr;  // theirs, ascending, each once
  void* elements = nullptr;    // [count, columns], contiguous
};

// A new matrix in this form; the caller writes numbers and elements before anyone else sees it.
// 0 <= count <= rows. Throws OVERFLOW, OUT_OF_MEMORY.
Tensor empty_sparse_rows(Dims shape, Dtype dtype, int64_t count, SparseRows& rows);

// The form, if x has it and no plain bytes; empty otherwise.
PackedReader sparse_rows_of(const Tensor& x);
SparseRows rows_in(const PackedReader& form);

// -- sparse matrices ------------------------------------------------------------------------------

// The numbers of the rows that x holds; NULL unless x is sparse. Valid until x is written.
const std::vector<int64_t>* held_rows(const Tensor& x);
inline bool is_sparse(const Tensor& x) { return held_rows(x) != nullptr; }

// Makes a matrix in this form, which nobody else has seen, sparse.
void declare_sparse(const Tensor& x);

// A sparse matrix of these rows. values: [count, columns], contiguous, on the CPU.
Tensor sparse_matrix(Dims shape, const std::vector<int64_t>& numbers, const Tensor& values);

// A copy of the rows that a sparse x holds: [count, columns].
Tensor held_values(const Tensor& x);

// Writes a sparse x, which then holds the rows of `fresh`, a sparse matrix of its shape that nobody
// else has; raises its version.
void take_rows(const Tensor& x, const Tensor& fresh, const char* op) noexcept;

}  // namespace libdl
