/* SPDX-License-Identifier: Apache-2.0 */

/** Products of matrices and vectors.
 *
 *  Operands have the same dtype; integers and bool are multiplied exactly (bool: the or of ands).
 *  Products of float16 and bfloat16 are accumulated in float32. */
#ifndef LIBDL_LINALG_H
#define LIBDL_LINALG_H

#include <libdl/abi.h>

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

LIBDL_END

#endif
