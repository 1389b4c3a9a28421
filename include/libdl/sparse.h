/* SPDX-License-Identifier: Apache-2.0 */

/** Operators on sparse matrices, which hold few rows and are 0 in all others: what
 *  libdl_tensor_is_sparse tells of. They are made by libdl_embedding and libdl_embedding_bag, as
 *  gradients, and by libdl_sparse_from_rows, on the CPU. */
#ifndef LIBDL_SPARSE_H
#define LIBDL_SPARSE_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** The rows that a sparse matrix holds.
 *
 *  input    sparse, [rows, columns]
 *  indices  new, int64, [n]: the numbers of the rows, ascending, each once
 *  values   new, [n, columns]: a copy of these rows
 *
 *  Gradient: none; of an input that requires grad AUTOGRAD is raised if it is needed.
 *  Errors: VALUE (input is not sparse), AUTOGRAD.
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sparse_rows(const libdl_tensor *input,
                                                         LIBDL_NEW libdl_tensor **indices,
                                                         LIBDL_NEW libdl_tensor **values);

/** A sparse matrix of given rows; rows that are given several times are added up.
 *
 *  indices  int64 or int32, [n]: the numbers of the rows, in any order; negative ones count from
 *           the end
 *  values   floating or complex, [n, columns]
 *  rows     how many rows the matrix has
 *  out      new, sparse, [rows, columns], values' dtype
 *
 *  Gradient: none; of values that require grad AUTOGRAD is raised if it is needed.
 *  Errors: SHAPE (indices or values), DTYPE (indices or values), INDEX (a number out of range),
 *  VALUE (rows is negative), AUTOGRAD, UNSUPPORTED (not on the CPU).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sparse_from_rows(const libdl_tensor *indices,
                                                              const libdl_tensor *values,
                                                              int64_t rows,
                                                              LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
