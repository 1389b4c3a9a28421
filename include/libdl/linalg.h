/* SPDX-License-Identifier: Apache-2.0 */

/** Products of matrices and vectors.
 *
 *  Operands have the same dtype; integers and bool are multiplied exactly (bool: the or of ands).
 *  Products of float16 and bfloat16 are accumulated in float32. */
#ifndef LIBDL_LINALG_H
#define LIBDL_LINALG_H

#include <libdl/abi.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Matrix product over the last two dimensions; the others broadcast together.
 *
 *  input  [..., n, k], or [k]: a row, which is removed from the result
 *  other  [..., k, m], or [k]: a column, which is removed from the result
 *  out    new, [..., n, m]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (0-d, inner sizes differ, or the others do not broadcast), DTYPE (differing
 *  dtypes).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: matmul(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_matmul(const libdl_tensor *input,
                                                    const libdl_tensor *other,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_matmul into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_matmul_into(const libdl_tensor *input,
                                                         const libdl_tensor *other,
                                                         libdl_tensor *dst);

/** Product of two matrices: y = input @ mat2.
 *
 *  input  [n, k]
 *  mat2   [k, m], of input's dtype
 *  out    new, [n, m]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not matrices, or inner sizes differ), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: mm(input, mat2) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mm(const libdl_tensor *input, const libdl_tensor *mat2,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_mm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mm_into(const libdl_tensor *input,
                                                     const libdl_tensor *mat2, libdl_tensor *dst);

/** Products of two batches of matrices: y[i] = input[i] @ mat2[i].
 *
 *  input  [b, n, k]
 *  mat2   [b, k, m], of input's dtype
 *  out    new, [b, n, m]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not 3-d, or sizes differ), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: bmm(input, mat2) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bmm(const libdl_tensor *input,
                                                 const libdl_tensor *mat2,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_bmm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bmm_into(const libdl_tensor *input,
                                                      const libdl_tensor *mat2, libdl_tensor *dst);

/** Product of a matrix and a vector: y = input @ vec.
 *
 *  input  [n, k]
 *  vec    [k], of input's dtype
 *  out    new, [n]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the wrong number of dimensions, or sizes differ), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Python: mv(input, vec) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mv(const libdl_tensor *input, const libdl_tensor *vec,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_mv into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mv_into(const libdl_tensor *input,
                                                     const libdl_tensor *vec, libdl_tensor *dst);

/** Sum of the products of two vectors' elements; complex numbers are not conjugated.
 *
 *  input   [k]
 *  tensor  [k], of input's dtype
 *  out     new, 0-d
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not vectors, or sizes differ), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Python: dot(input, tensor) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dot(const libdl_tensor *input,
                                                 const libdl_tensor *tensor,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_dot into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dot_into(const libdl_tensor *input,
                                                      const libdl_tensor *tensor,
                                                      libdl_tensor *dst);

/** Matrix product added to a tensor: y = beta * input + alpha * (mat1 @ mat2).
 *
 *  input  what broadcasts to [n, m]; where beta is 0 it is not read, NaN included
 *  mat1   [n, k]
 *  mat2   [k, m]
 *  beta   a number; NULL: 1
 *  alpha  a number; NULL: 1
 *  out    new, [n, m]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not matrices, inner sizes differ, or input does not broadcast), DTYPE (differing
 *  dtypes, or a number that they cannot hold).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: addmm(input, mat1, mat2, *, beta=1, alpha=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addmm(
    const libdl_tensor *input, const libdl_tensor *mat1, const libdl_tensor *mat2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, LIBDL_NEW libdl_tensor **out);

/** libdl_addmm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addmm_into(
    const libdl_tensor *input, const libdl_tensor *mat1, const libdl_tensor *mat2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, libdl_tensor *dst);

/** Einstein's summation: products of elements, summed over the subscripts that the result lacks.
 *
 *  equation  e.g. "bij,bjk->bik": letters name the dimensions of each tensor and, after ->, those
 *            of the result; "..." stands for further dimensions, which broadcast; a letter twice in
 *            a tensor means its diagonal. Without ->: the letters that occur once, in order
 *  tensors   at least one, of one dtype; sizes of a letter agree, or are 1
 *  out       new; pairs are multiplied from left to right
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (the equation is malformed, or does not fit the number of tensors), SHAPE (it does
 *  not fit their dimensions, or sizes differ), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: einsum(equation, tensors) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_einsum(const char *equation, int64_t equation_length,
                                                    const libdl_tensor *const *tensors,
                                                    int64_t count, LIBDL_NEW libdl_tensor **out);

/** Kronecker's product: blocks of other, each times one element of input.
 *
 *  input  [n_1, ..., n_k]; the one of fewer dimensions gets ones in front
 *  other  [m_1, ..., m_k], any dtype
 *  out    new, [n_1 m_1, ..., n_k m_k], of the common dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: LIMIT (more than 32 dimensions).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: kron(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_kron(const libdl_tensor *input,
                                                  const libdl_tensor *other,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_kron into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_kron_into(const libdl_tensor *input,
                                                       const libdl_tensor *other,
                                                       libdl_tensor *dst);

/** Products of all pairs of elements of two vectors.
 *
 *  input  [n], any dtype
 *  vec2   [m]
 *  out    new, [n, m], of the common dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not vectors).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: outer(input, vec2) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_outer(const libdl_tensor *input,
                                                   const libdl_tensor *vec2,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_outer into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_outer_into(const libdl_tensor *input,
                                                        const libdl_tensor *vec2,
                                                        libdl_tensor *dst);

/** Products summed over the last dimensions of both; complex numbers are not conjugated.
 *
 *  input  [..., k], or 0-d: a factor of other
 *  other  [..., k], of input's dtype, or 0-d
 *  out    new: input's other dimensions, then those of other
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the last sizes differ), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: inner(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_inner(const libdl_tensor *input,
                                                   const libdl_tensor *other,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_inner into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_inner_into(const libdl_tensor *input,
                                                        const libdl_tensor *other,
                                                        libdl_tensor *dst);

/** Sum of conj(input) * other, of two vectors.
 *
 *  input  [k]
 *  other  [k], of input's dtype
 *  out    new, 0-d
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not vectors, or sizes differ), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: vdot(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_vdot(const libdl_tensor *input,
                                                  const libdl_tensor *other,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_vdot into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_vdot_into(const libdl_tensor *input,
                                                       const libdl_tensor *other,
                                                       libdl_tensor *dst);

/** Product of a matrix and a vector added to a tensor: y = beta * input + alpha * (mat @ vec).
 *
 *  input  what broadcasts to [n]; where beta is 0 it is not read, NaN included
 *  mat    [n, k]
 *  vec    [k], of mat's dtype
 *  beta   a number; NULL: 1
 *  alpha  a number; NULL: 1
 *  out    new, [n]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the wrong number of dimensions, sizes differ, or input does not broadcast), DTYPE
 *  (differing dtypes, or a number that they cannot hold).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Autocast: off.
 *  Python: addmv(input, mat, vec, *, beta=1, alpha=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addmv(
    const libdl_tensor *input, const libdl_tensor *mat, const libdl_tensor *vec,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, LIBDL_NEW libdl_tensor **out);

/** libdl_addmv into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addmv_into(
    const libdl_tensor *input, const libdl_tensor *mat, const libdl_tensor *vec,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, libdl_tensor *dst);

/** Products of all pairs added to a tensor: y = beta * input + alpha * outer(vec1, vec2).
 *
 *  input  what broadcasts to [n, m], any dtype; where beta is 0 it is not read, NaN included
 *  vec1   [n]
 *  vec2   [m]
 *  beta   a number; NULL: 1
 *  alpha  a number; NULL: 1
 *  out    new, [n, m], of the common dtype; of bools, * and + are `and` and `or`
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not vectors, or input does not broadcast), DTYPE (a number that the result's
 *  dtype cannot hold).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: addr(input, vec1, vec2, *, beta=1, alpha=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addr(
    const libdl_tensor *input, const libdl_tensor *vec1, const libdl_tensor *vec2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, LIBDL_NEW libdl_tensor **out);

/** libdl_addr into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addr_into(
    const libdl_tensor *input, const libdl_tensor *vec1, const libdl_tensor *vec2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, libdl_tensor *dst);

/** Products of two batches of matrices added to a tensor: y = beta * input + alpha * (batch1 @
 *  batch2).
 *
 *  input   what broadcasts to [b, n, m]; where beta is 0 it is not read, NaN included
 *  batch1  [b, n, k], of input's dtype
 *  batch2  [b, k, m], likewise
 *  beta    a number; NULL: 1
 *  alpha   a number; NULL: 1
 *  out     new, [b, n, m]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not 3-d, sizes differ, or input does not broadcast), DTYPE (differing dtypes, or
 *  a number that they cannot hold).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Autocast: lower.
 *  Python: baddbmm(input, batch1, batch2, *, beta=1, alpha=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_baddbmm(
    const libdl_tensor *input, const libdl_tensor *batch1, const libdl_tensor *batch2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, LIBDL_NEW libdl_tensor **out);

/** libdl_baddbmm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_baddbmm_into(
    const libdl_tensor *input, const libdl_tensor *batch1, const libdl_tensor *batch2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, libdl_tensor *dst);

/** The sum of the products of two batches of matrices, added to a tensor: y = beta * input +
 *  alpha * (batch1[0] @ batch2[0] + ...).
 *
 *  input   what broadcasts to [n, m]; where beta is 0 it is not read, NaN included
 *  batch1  [b, n, k], of input's dtype
 *  batch2  [b, k, m], likewise
 *  beta    a number; NULL: 1
 *  alpha   a number; NULL: 1
 *  out     new, [n, m]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not 3-d, sizes differ, or input does not broadcast), DTYPE (differing dtypes, or
 *  a number that they cannot hold).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: addbmm(input, batch1, batch2, *, beta=1, alpha=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addbmm(
    const libdl_tensor *input, const libdl_tensor *batch1, const libdl_tensor *batch2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, LIBDL_NEW libdl_tensor **out);

/** libdl_addbmm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addbmm_into(
    const libdl_tensor *input, const libdl_tensor *batch1, const libdl_tensor *batch2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *beta,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, libdl_tensor *dst);

/** Products summed over pairs of dimensions, one of each tensor.
 *
 *  a       any shape
 *  b       any shape, of a's dtype
 *  dims_a  the dimensions of a that are summed, none twice
 *  dims_b  as many of b, each of the size of its partner; a size of 1 broadcasts
 *  out     new: a's other dimensions, then those of b
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (lists of different lengths, or a dimension named twice), INDEX (a dimension out
 *  of range), SHAPE (sizes differ), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: tensordot(a, b, dims_a, dims_b) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensordot(const libdl_tensor *a, const libdl_tensor *b,
                                                       const int64_t *dims_a, int32_t dims_a_count,
                                                       const int64_t *dims_b, int32_t dims_b_count,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_tensordot into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensordot_into(
    const libdl_tensor *a, const libdl_tensor *b, const int64_t *dims_a, int32_t dims_a_count,
    const int64_t *dims_b, int32_t dims_b_count, libdl_tensor *dst);

/** Vector product along a dimension of size 3.
 *
 *  input  any dtype
 *  other  of as many dimensions; those beside dim broadcast
 *  dim    which dimension; NULL: the first of input that has size 3
 *  out    new, the broadcast shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (another number of dimensions, or dim has not size 3).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: cross(input, other, dim=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cross(const libdl_tensor *input,
                                                   const libdl_tensor *other,
                                                   LIBDL_NULLABLE const int64_t *dim,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_cross into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cross_into(const libdl_tensor *input,
                                                        const libdl_tensor *other,
                                                        LIBDL_NULLABLE const int64_t *dim,
                                                        libdl_tensor *dst);

/** Vector product along a dimension of size 3, the last one if Python names none.
 *
 *  input  any dtype
 *  other  of as many dimensions; those beside dim broadcast
 *  dim    from -ndim to ndim - 1
 *  out    new, the broadcast shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (another number of dimensions, or dim has not size 3).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: linalg_cross(input, other, *, dim=-1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_cross(const libdl_tensor *input,
                                                          const libdl_tensor *other, int32_t dim,
                                                          LIBDL_NEW libdl_tensor **out);

/** libdl_linalg_cross into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_cross_into(const libdl_tensor *input,
                                                               const libdl_tensor *other,
                                                               int32_t dim, libdl_tensor *dst);

/** Sum of conj(x) * y along a dimension.
 *
 *  x    any dtype
 *  y    broadcasts with x, but for two vectors
 *  dim  of the broadcast shape
 *  out  new, dim removed
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (shapes do not broadcast, or vectors' sizes differ).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Autocast: lower.
 *  Python: linalg_vecdot(x, y, *, dim=-1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_vecdot(const libdl_tensor *x,
                                                           const libdl_tensor *y, int32_t dim,
                                                           LIBDL_NEW libdl_tensor **out);

/** libdl_linalg_vecdot into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_vecdot_into(const libdl_tensor *x,
                                                                const libdl_tensor *y, int32_t dim,
                                                                libdl_tensor *dst);

/** The slices along a dimension, each scaled down to a norm if its own is larger.
 *
 *  input    floating or complex, of two dimensions or more
 *  p        of the norm, above 0
 *  dim      which dimension counts the slices
 *  maxnorm  0 or more
 *  out      new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (less than two dimensions), VALUE (p or maxnorm out of range), INDEX (dim out of
 *  range), DTYPE (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: renorm(input, p, dim, maxnorm) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_renorm(const libdl_tensor *input, double p,
                                                    int32_t dim, double maxnorm,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_renorm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_renorm_into(const libdl_tensor *input, double p,
                                                         int32_t dim, double maxnorm,
                                                         libdl_tensor *dst);

/** Product of several matrices, in the order of least multiplications.
 *
 *  tensors  two or more matrices of one dtype; the first may be a row and the last a column, both
 *           vectors, which are removed from the result
 *  out      new
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (less than two), SHAPE (not matrices, or sizes differ), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: linalg_multi_dot(tensors) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_multi_dot(const libdl_tensor *const *tensors,
                                                              int64_t count,
                                                              LIBDL_NEW libdl_tensor **out);

/** libdl_linalg_multi_dot into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_multi_dot_into(
    const libdl_tensor *const *tensors, int64_t count, libdl_tensor *dst);

/** Square matrices multiplied with themselves: input @ input @ ..., n times.
 *
 *  input  [..., m, m]
 *  n      0 or more; 0 gives the identity
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not square matrices), UNSUPPORTED (n is negative: there is no inverse).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: linalg_matrix_power(input, n) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_matrix_power(const libdl_tensor *input,
                                                                 int64_t n,
                                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_linalg_matrix_power into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_matrix_power_into(const libdl_tensor *input,
                                                                      int64_t n, libdl_tensor *dst);

/** Vector norm along dims: sum(|x|^ord)^(1/ord); libdl_norm, but of floating and complex dtypes
 *  alone.
 *
 *  x        floating or complex
 *  ord      infinity: max |x|, -infinity: min |x|, 0: how many are nonzero
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  dtype    x is converted to it first; NONE: x's
 *  out      new, the dims removed, real for complex x
 *
 *  Gradient: any order, forward mode; 0 where the norm is 0.
 *  Errors: UNSUPPORTED (neither floating nor complex), INDEX (a dimension out of range or named
 *  twice), SHAPE (an infinite ord and no elements).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: linalg_vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_vector_norm(const libdl_tensor *x, double ord,
                                                                LIBDL_NULLABLE const int64_t *dims,
                                                                int32_t ndims, libdl_bool keepdim,
                                                                libdl_dtype dtype,
                                                                LIBDL_NEW libdl_tensor **out);

/** libdl_linalg_vector_norm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_vector_norm_into(
    const libdl_tensor *x, double ord, LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
    libdl_bool keepdim, libdl_dtype dtype, libdl_tensor *dst);

/** Norms of the matrices in two dimensions.
 *
 *  input    floating or complex, of two dimensions or more
 *  ord      1 and -1: the largest and the smallest sum of a column's sizes, infinity and -infinity:
 *           of a row's; NULL: Frobenius's norm, the root of the sum of all squares. 2 and -2 are
 *           not offered, but for 2 of matrices without elements
 *  dims     the dimensions of rows and of columns; NULL: the last two
 *  keepdim  whether they stay with size 1
 *  dtype    input is converted to it first; NONE: input's
 *  out      new, the dims removed, real for complex input
 *
 *  Gradient: any order, forward mode; 0 where the norm is 0.
 *  Errors: SHAPE (less than two dimensions), UNSUPPORTED (neither floating nor complex, or ord is 2
 *  or -2), INDEX (a dimension out of range), VALUE (not two dimensions, or another ord).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: linalg_matrix_norm(input, ord=None, dim=None, keepdim=False, *, dtype=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_matrix_norm(
    const libdl_tensor *input, LIBDL_NULLABLE const double *ord, LIBDL_NULLABLE const int64_t *dims,
    int32_t ndims, libdl_bool keepdim, libdl_dtype dtype, LIBDL_NEW libdl_tensor **out);

/** libdl_linalg_matrix_norm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_matrix_norm_into(
    const libdl_tensor *input, LIBDL_NULLABLE const double *ord, LIBDL_NULLABLE const int64_t *dims,
    int32_t ndims, libdl_bool keepdim, libdl_dtype dtype, libdl_tensor *dst);

/** The norms over all dimensions but one, as weight normalisation takes them (Salimans and Kingma
 *  2016).
 *
 *  v    floating or complex
 *  pow  the p of the norm, as in libdl_norm
 *  dim  the dimension that is left, from 0 to ndim - 1; -1: none
 *  out  new, real: with size 1 in all dimensions but dim, or 0-d
 *
 *  Gradient: any order, forward mode; 0 where the norm is 0.
 *  Errors: VALUE (dim out of range), DTYPE (neither floating nor complex), SHAPE (an infinite p and
 *  no elements).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: norm_except_dim(v, pow=2, dim=0) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_norm_except_dim(const libdl_tensor *v, double pow,
                                                             int32_t dim,
                                                             LIBDL_NEW libdl_tensor **out);

/** One product for each group. A matrix is cut into groups, a 3-d operand has them in its first
 *  dimension.
 *
 *  mat_a  float32 or 16 bits: [n, k] whose rows are cut, [groups, n, k], or [n, k] whose columns
 *         are cut if mat_b is a matrix, too
 *  mat_b  of mat_a's dtype: [groups, k, m], [k, m] whose columns are cut, or [k, m] whose rows are
 *         cut if mat_a is a matrix, too
 *  offs   int32, where each group ends, ascending; what lies behind the last one is in no group,
 *         and 0 in the result; NULL if both operands are 3-d. The host reads it
 *  bias   NULL, as long as PyTorch takes none
 *  dtype  NONE, or mat_a's
 *  out    new: [n, m] of a 2-d and a 3-d operand, else [groups, n, m]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not fit, or offs is not one a group), DTYPE (other dtypes), VALUE (offs
 *  is missing or not wanted, or no group), INDEX (offs does not ascend, or exceeds what is cut),
 *  UNSUPPORTED (bias).
 *  Threads: concurrent-read.
 *  Python: grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_grouped_mm(
    const libdl_tensor *mat_a, const libdl_tensor *mat_b, LIBDL_NULLABLE const libdl_tensor *offs,
    LIBDL_NULLABLE const libdl_tensor *bias, libdl_dtype dtype, LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
