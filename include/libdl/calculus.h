/* SPDX-License-Identifier: Apache-2.0 */

/** Differences, slopes and integrals of sampled functions, and running sums. */
#ifndef LIBDL_CALCULUS_H
#define LIBDL_CALCULUS_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Differences of neighbours along a dimension, n times: y[i] = x[i + 1] - x[i].
 *
 *  input    any dtype, ndim >= 1; of bools, whether neighbours differ
 *  n        how often, 0 or more
 *  dim      from -ndim to ndim - 1
 *  prepend  NULL, or what stands before input along dim; its other sizes are input's
 *  append   NULL, or what stands behind it
 *  out      new, less by n along dim, but not less than 0
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (input is 0-d, or n is negative), INDEX (dim out of range), SHAPE (prepend or
 *  append do not fit).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: diff(input, n=1, dim=-1, prepend=None, append=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diff(const libdl_tensor *input, int64_t n, int32_t dim,
                                                  LIBDL_NULLABLE const libdl_tensor *prepend,
                                                  LIBDL_NULLABLE const libdl_tensor *append,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_diff into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diff_into(const libdl_tensor *input, int64_t n,
                                                       int32_t dim,
                                                       LIBDL_NULLABLE const libdl_tensor *prepend,
                                                       LIBDL_NULLABLE const libdl_tensor *append,
                                                       libdl_tensor *dst);

/** Integral along a dimension by the trapezoidal rule.
 *
 *  y    the function's values, ndim >= 1
 *  x    NULL, or the places of the values: a vector for all, or what broadcasts with y
 *  dx   the distance of neighbours where x is NULL; NULL: 1
 *  dim  from -ndim to ndim - 1
 *  out  new, dim removed; floating where y has integers
 *
 *  Gradient: any order, forward mode. float16 and bfloat16 are computed in float32.
 *  Errors: INDEX (y is 0-d, or dim out of range), SHAPE (x does not fit), UNSUPPORTED (bool).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: trapezoid(y, x=None, *, dx=1, dim=-1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_trapezoid(
    const libdl_tensor *y, LIBDL_NULLABLE const libdl_tensor *x,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *dx, int32_t dim, LIBDL_NEW libdl_tensor **out);

/** Integrals from the first place to each of the others; see libdl_trapezoid.
 *
 *  y    the function's values, ndim >= 1
 *  x    NULL, or the places of the values: a vector for all, or what broadcasts with y
 *  dx   the distance of neighbours where x is NULL; NULL: 1
 *  dim  from -ndim to ndim - 1
 *  out  new, one less than y along dim; floating where y has integers
 *
 *  Gradient: any order, forward mode. float16 and bfloat16 are computed in float32.
 *  Errors: INDEX (y is 0-d, or dim out of range), SHAPE (x does not fit), UNSUPPORTED (bool).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: cumulative_trapezoid(y, x=None, *, dx=1, dim=-1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cumulative_trapezoid(
    const libdl_tensor *y, LIBDL_NULLABLE const libdl_tensor *x,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *dx, int32_t dim, LIBDL_NEW libdl_tensor **out);

/** Slopes of a sampled function along each of dims, by the parabola through a place and its two
 *  neighbours (B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids).
 *
 *  input       any dtype; integers to float
 *  spacing     none: neighbours are 1 apart; else one for each of dims: their distance, 0-d, or the
 *              places, a vector of the dimension's size
 *  dims        which dimensions; NULL: all
 *  edge_order  1: the slope at an end is that of the line to its neighbour; 2: of the parabola
 *  out         new, for each of dims, of input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (edge_order is neither, or spacing of another length), INDEX (a dimension out of
 *  range), SHAPE (fewer than edge_order + 1 places along a dimension, or spacing does not fit).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: gradient(input, spacing, dim=None, edge_order=1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gradient(const libdl_tensor *input,
                                                      const libdl_tensor *const *spacing,
                                                      int64_t spacing_count,
                                                      LIBDL_NULLABLE const int64_t *dims,
                                                      int32_t ndims, int64_t edge_order,
                                                      LIBDL_NEW libdl_tensor_list **out);

/** Logarithm of the running sum of exponentials: y[i] = log(exp(x[0]) + ... + exp(x[i])).
 *
 *  input  floating or complex
 *  dim    from -ndim to ndim - 1
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), UNSUPPORTED (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Python: logcumsumexp(input, dim) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logcumsumexp(const libdl_tensor *input, int32_t dim,
                                                          LIBDL_NEW libdl_tensor **out);

/** libdl_logcumsumexp into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logcumsumexp_into(const libdl_tensor *input,
                                                               int32_t dim, libdl_tensor *dst);

LIBDL_END

#endif
