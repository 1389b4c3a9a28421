/* SPDX-License-Identifier: Apache-2.0 */

/** Reductions along dimensions, and scans.
 *
 *  dims lists dimensions, each from -ndim to ndim - 1 and none twice (a 0-d tensor has dimensions 0
 *  and -1). NULL and an empty list mean all of them. With keepdim they stay in the result with size
 *  1. Sums of float16 and bfloat16 are accumulated in float32. The order of a summation depends
 *  only on shapes, so its bits are the same for every number of threads. If an into form's dst has
 *  a wider dtype, sums, means and products are computed in that dtype unless dtype is given; those
 *  of integers into a floating dst are computed in float64. */
#ifndef LIBDL_REDUCTION_H
#define LIBDL_REDUCTION_H

#include <libdl/abi.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Sum of the elements along dims; 0 where there are none.
 *
 *  input    any
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  dtype    input is converted to it first; NONE: input's, int64 for integers and bool
 *  out      new, the dims removed
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range or named twice), DTYPE (no dtype).
 *  Threads: concurrent-read.
 *  Python: sum(input, dim=None, keepdim=False, *, dtype=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sum(const libdl_tensor *input,
                                                 LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
                                                 libdl_bool keepdim, libdl_dtype dtype,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_sum into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sum_into(const libdl_tensor *input,
                                                      LIBDL_NULLABLE const int64_t *dims,
                                                      int32_t ndims, libdl_bool keepdim,
                                                      libdl_dtype dtype, libdl_tensor *dst);

/** Mean of the elements along dims; NaN where there are none.
 *
 *  input    floating or complex, or any with a dtype
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  dtype    input is converted to it first; NONE: input's
 *  out      new, the dims removed
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range or named twice), DTYPE (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Python: mean(input, dim=None, keepdim=False, *, dtype=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mean(const libdl_tensor *input,
                                                  LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
                                                  libdl_bool keepdim, libdl_dtype dtype,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_mean into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mean_into(const libdl_tensor *input,
                                                       LIBDL_NULLABLE const int64_t *dims,
                                                       int32_t ndims, libdl_bool keepdim,
                                                       libdl_dtype dtype, libdl_tensor *dst);

/** Product of the elements along one dimension, or of all; 1 where there are none.
 *
 *  input    any
 *  dim      which dimension; NULL: all
 *  keepdim  whether it stays with size 1
 *  dtype    input is converted to it first; NONE: input's, int64 for integers and bool
 *  out      new, the dimension removed
 *
 *  Gradient: any order, forward mode, also where elements are 0.
 *  Errors: INDEX (dim out of range), DTYPE (no dtype).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: prod(input, dim=None, keepdim=False, *, dtype=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_prod(const libdl_tensor *input,
                                                  LIBDL_NULLABLE const int64_t *dim,
                                                  libdl_bool keepdim, libdl_dtype dtype,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_prod into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_prod_into(const libdl_tensor *input,
                                                       LIBDL_NULLABLE const int64_t *dim,
                                                       libdl_bool keepdim, libdl_dtype dtype,
                                                       libdl_tensor *dst);

/** The largest element of all; NaN if any is NaN.
 *
 *  input  real, at least one element
 *  out    new, 0-d, input's dtype
 *
 *  Gradient: any order, forward mode; shared evenly among equal elements.
 *  Errors: SHAPE (no elements), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: max(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_max into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_into(const libdl_tensor *input, libdl_tensor *dst);

/** The smallest element of all; NaN if any is NaN.
 *
 *  input  real, at least one element
 *  out    new, 0-d, input's dtype
 *
 *  Gradient: any order, forward mode; shared evenly among equal elements.
 *  Errors: SHAPE (no elements), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: min(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_min(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_min into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_min_into(const libdl_tensor *input, libdl_tensor *dst);

/** The largest element along a dimension, and its index; NaN counts as largest.
 *
 *  input    real; the dimension is not empty
 *  dim      from -ndim to ndim - 1
 *  keepdim  whether it stays with size 1
 *  values   new, the dimension removed, input's dtype
 *  indices  new, int64, likewise; the first of several equal ones
 *
 *  Gradient: any order, forward mode; to the chosen element. indices carry no history.
 *  Errors: INDEX (dim out of range), SHAPE (the dimension is empty), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: max(input, dim, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_dim(const libdl_tensor *input, int32_t dim,
                                                     libdl_bool keepdim,
                                                     LIBDL_NEW libdl_tensor **values,
                                                     LIBDL_NEW libdl_tensor **indices);

/** libdl_max_dim into values_dst and indices_dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_dim_into(const libdl_tensor *input, int32_t dim,
                                                          libdl_bool keepdim,
                                                          libdl_tensor *values_dst,
                                                          libdl_tensor *indices_dst);

/** The smallest element along a dimension, and its index; NaN counts as smallest.
 *
 *  input    real; the dimension is not empty
 *  dim      from -ndim to ndim - 1
 *  keepdim  whether it stays with size 1
 *  values   new, the dimension removed, input's dtype
 *  indices  new, int64, likewise; the first of several equal ones
 *
 *  Gradient: any order, forward mode; to the chosen element. indices carry no history.
 *  Errors: INDEX (dim out of range), SHAPE (the dimension is empty), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: min(input, dim, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_min_dim(const libdl_tensor *input, int32_t dim,
                                                     libdl_bool keepdim,
                                                     LIBDL_NEW libdl_tensor **values,
                                                     LIBDL_NEW libdl_tensor **indices);

/** libdl_min_dim into values_dst and indices_dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_min_dim_into(const libdl_tensor *input, int32_t dim,
                                                          libdl_bool keepdim,
                                                          libdl_tensor *values_dst,
                                                          libdl_tensor *indices_dst);

/** The largest element along dims; NaN if any is NaN.
 *
 *  input    real; the dims are not empty
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  out      new, the dims removed, input's dtype
 *
 *  Gradient: any order, forward mode; shared evenly among equal elements.
 *  Errors: INDEX (a dimension out of range or named twice), SHAPE (no elements), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: amax(input, dim=None, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_amax(const libdl_tensor *input,
                                                  LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
                                                  libdl_bool keepdim, LIBDL_NEW libdl_tensor **out);

/** libdl_amax into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_amax_into(const libdl_tensor *input,
                                                       LIBDL_NULLABLE const int64_t *dims,
                                                       int32_t ndims, libdl_bool keepdim,
                                                       libdl_tensor *dst);

/** The smallest element along dims; NaN if any is NaN.
 *
 *  input    real; the dims are not empty
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  out      new, the dims removed, input's dtype
 *
 *  Gradient: any order, forward mode; shared evenly among equal elements.
 *  Errors: INDEX (a dimension out of range or named twice), SHAPE (no elements), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: amin(input, dim=None, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_amin(const libdl_tensor *input,
                                                  LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
                                                  libdl_bool keepdim, LIBDL_NEW libdl_tensor **out);

/** libdl_amin into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_amin_into(const libdl_tensor *input,
                                                       LIBDL_NULLABLE const int64_t *dims,
                                                       int32_t ndims, libdl_bool keepdim,
                                                       libdl_tensor *dst);

/** The index of the largest element, the first of several equal ones; NaN counts as largest.
 *
 *  input    real; the dimension is not empty
 *  dim      which dimension; NULL: the index in the flattened tensor
 *  keepdim  whether it stays with size 1
 *  out      new, int64, the dimension removed
 *
 *  Gradient: none; the result carries no history.
 *  Errors: INDEX (dim out of range), SHAPE (the dimension is empty), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: argmax(input, dim=None, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_argmax(const libdl_tensor *input,
                                                    LIBDL_NULLABLE const int64_t *dim,
                                                    libdl_bool keepdim,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_argmax into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_argmax_into(const libdl_tensor *input,
                                                         LIBDL_NULLABLE const int64_t *dim,
                                                         libdl_bool keepdim, libdl_tensor *dst);

/** The index of the smallest element, the first of several equal ones; NaN counts as smallest.
 *
 *  input    real; the dimension is not empty
 *  dim      which dimension; NULL: the index in the flattened tensor
 *  keepdim  whether it stays with size 1
 *  out      new, int64, the dimension removed
 *
 *  Gradient: none; the result carries no history.
 *  Errors: INDEX (dim out of range), SHAPE (the dimension is empty), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: argmin(input, dim=None, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_argmin(const libdl_tensor *input,
                                                    LIBDL_NULLABLE const int64_t *dim,
                                                    libdl_bool keepdim,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_argmin into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_argmin_into(const libdl_tensor *input,
                                                         LIBDL_NULLABLE const int64_t *dim,
                                                         libdl_bool keepdim, libdl_tensor *dst);

/** Whether all elements along dims are nonzero; true where there are none.
 *
 *  input    any
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  out      new, bool, the dims removed
 *
 *  Gradient: none; the result carries no history.
 *  Errors: INDEX (a dimension out of range or named twice).
 *  Threads: concurrent-read.
 *  Python: all(input, dim=None, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_all(const libdl_tensor *input,
                                                 LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
                                                 libdl_bool keepdim, LIBDL_NEW libdl_tensor **out);

/** libdl_all into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_all_into(const libdl_tensor *input,
                                                      LIBDL_NULLABLE const int64_t *dims,
                                                      int32_t ndims, libdl_bool keepdim,
                                                      libdl_tensor *dst);

/** Whether any element along dims is nonzero; false where there are none.
 *
 *  input    any
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  out      new, bool, the dims removed
 *
 *  Gradient: none; the result carries no history.
 *  Errors: INDEX (a dimension out of range or named twice).
 *  Threads: concurrent-read.
 *  Python: any(input, dim=None, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_any(const libdl_tensor *input,
                                                 LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
                                                 libdl_bool keepdim, LIBDL_NEW libdl_tensor **out);

/** libdl_any into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_any_into(const libdl_tensor *input,
                                                      LIBDL_NULLABLE const int64_t *dims,
                                                      int32_t ndims, libdl_bool keepdim,
                                                      libdl_tensor *dst);

/** The number of nonzero elements along dims; NaN counts as nonzero.
 *
 *  input  any
 *  dims   which dimensions; NULL or none: all
 *  out    new, int64, the dims removed
 *
 *  Gradient: none; the result carries no history.
 *  Errors: INDEX (a dimension out of range), VALUE (one named twice).
 *  Threads: concurrent-read.
 *  Python: count_nonzero(input, dim=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_count_nonzero(const libdl_tensor *input,
                                                           LIBDL_NULLABLE const int64_t *dims,
                                                           int32_t ndims,
                                                           LIBDL_NEW libdl_tensor **out);

/** Variance along dims: sum(|x - mean(x)|^2) / max(0, n - correction).
 *
 *  input       floating or complex
 *  dims        which dimensions; NULL: all
 *  correction  a number; NULL: 1 (the unbiased estimate)
 *  keepdim     whether they stay with size 1
 *  out         new, the dims removed, input's dtype, real for complex input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range or named twice), DTYPE (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Python: var(input, dim=None, *, correction=1, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_var(
    const libdl_tensor *input, LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *correction, libdl_bool keepdim,
    LIBDL_NEW libdl_tensor **out);

/** libdl_var into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_var_into(
    const libdl_tensor *input, LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *correction, libdl_bool keepdim,
    libdl_tensor *dst);

/** Standard deviation along dims: the square root of libdl_var.
 *
 *  input       floating or complex
 *  dims        which dimensions; NULL: all
 *  correction  a number; NULL: 1
 *  keepdim     whether they stay with size 1
 *  out         new, the dims removed, input's dtype, real for complex input
 *
 *  Gradient: any order, forward mode; 0 where the deviation is 0.
 *  Errors: INDEX (a dimension out of range or named twice), DTYPE (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Python: std(input, dim=None, *, correction=1, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_std(
    const libdl_tensor *input, LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *correction, libdl_bool keepdim,
    LIBDL_NEW libdl_tensor **out);

/** libdl_std into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_std_into(
    const libdl_tensor *input, LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *correction, libdl_bool keepdim,
    libdl_tensor *dst);

/** Vector norm along dims: sum(|x|^p)^(1/p).
 *
 *  input    floating or complex
 *  p        a real number; infinity: max |x|, -infinity: min |x|, 0: how many are nonzero; NULL: 2
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  dtype    input is converted to it first; NONE: input's
 *  out      new, the dims removed, real for complex input
 *
 *  Gradient: any order, forward mode; 0 where the norm is 0.
 *  Errors: INDEX (a dimension out of range or named twice), DTYPE (neither floating nor complex),
 *  SHAPE (an infinite p and no elements).
 *  Threads: concurrent-read.
 *  Python: norm(input, p=2, dim=None, keepdim=False, dtype=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_norm(const libdl_tensor *input,
                                                  LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *p,
                                                  LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
                                                  libdl_bool keepdim, libdl_dtype dtype,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_norm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_norm_into(
    const libdl_tensor *input, LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *p,
    LIBDL_NULLABLE const int64_t *dims, int32_t ndims, libdl_bool keepdim, libdl_dtype dtype,
    libdl_tensor *dst);

/** Logarithm of the sum of exponentials, shifted by the maximum m (for complex numbers the largest
 *  real part): log(sum(exp(x - m))) + m.
 *
 *  input    any; integers and bool are first converted to the default floating dtype
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  out      new, the dims removed
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range or named twice).
 *  Threads: concurrent-read.
 *  Python: logsumexp(input, dim, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logsumexp(const libdl_tensor *input,
                                                       LIBDL_NULLABLE const int64_t *dims,
                                                       int32_t ndims, libdl_bool keepdim,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_logsumexp into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logsumexp_into(const libdl_tensor *input,
                                                            LIBDL_NULLABLE const int64_t *dims,
                                                            int32_t ndims, libdl_bool keepdim,
                                                            libdl_tensor *dst);

/** Running sum: y[i] = x[0] + ... + x[i].
 *
 *  input  any
 *  dim    from -ndim to ndim - 1
 *  dtype  input is converted to it first; NONE: input's, int64 for integers and bool
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), DTYPE (no dtype).
 *  Threads: concurrent-read.
 *  Python: cumsum(input, dim, *, dtype=None) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cumsum(const libdl_tensor *input, int32_t dim,
                                                    libdl_dtype dtype,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_cumsum into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cumsum_into(const libdl_tensor *input, int32_t dim,
                                                         libdl_dtype dtype, libdl_tensor *dst);

/** Running product: y[i] = x[0] * ... * x[i].
 *
 *  input  any
 *  dim    from -ndim to ndim - 1
 *  dtype  input is converted to it first; NONE: input's, int64 for integers and bool
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode, also where elements are 0.
 *  Errors: INDEX (dim out of range), DTYPE (no dtype).
 *  Threads: concurrent-read.
 *  Python: cumprod(input, dim, *, dtype=None) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cumprod(const libdl_tensor *input, int32_t dim,
                                                     libdl_dtype dtype,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_cumprod into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cumprod_into(const libdl_tensor *input, int32_t dim,
                                                          libdl_dtype dtype, libdl_tensor *dst);

/** Running extremum: the largest of the elements so far, and its place; a NaN stays from then on.
 *
 *  input    real
 *  dim      from -ndim to ndim - 1
 *  values   new, input's shape and dtype
 *  indices  new, int64, input's shape; the last of several equal ones
 *
 *  Gradient: any order, forward mode; to the chosen elements. indices carry no history.
 *  Errors: INDEX (dim out of range), UNSUPPORTED (complex).
 *  Threads: concurrent-read.
 *  Python: cummax(input, dim) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cummax(const libdl_tensor *input, int32_t dim,
                                                    LIBDL_NEW libdl_tensor **values,
                                                    LIBDL_NEW libdl_tensor **indices);

/** libdl_cummax into values_dst and indices_dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cummax_into(const libdl_tensor *input, int32_t dim,
                                                         libdl_tensor *values_dst,
                                                         libdl_tensor *indices_dst);

/** Running extremum: the smallest of the elements so far, and its place; a NaN stays from then on.
 *
 *  input    real
 *  dim      from -ndim to ndim - 1
 *  values   new, input's shape and dtype
 *  indices  new, int64, input's shape; the last of several equal ones
 *
 *  Gradient: any order, forward mode; to the chosen elements. indices carry no history.
 *  Errors: INDEX (dim out of range), UNSUPPORTED (complex).
 *  Threads: concurrent-read.
 *  Python: cummin(input, dim) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cummin(const libdl_tensor *input, int32_t dim,
                                                    LIBDL_NEW libdl_tensor **values,
                                                    LIBDL_NEW libdl_tensor **indices);

/** libdl_cummin into values_dst and indices_dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cummin_into(const libdl_tensor *input, int32_t dim,
                                                         libdl_tensor *values_dst,
                                                         libdl_tensor *indices_dst);

LIBDL_END

#endif
