/* SPDX-License-Identifier: Apache-2.0 */

/** Distances between vectors. */
#ifndef LIBDL_DISTANCE_H
#define LIBDL_DISTANCE_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Distance along the last dimension: the p-norm of x1 - x2 + eps.
 *
 *  x1       floating or complex, or an integer beside one; ndim >= 1 of one of both
 *  x2       likewise; promoted and broadcast with x1
 *  p        the order of the norm; usually 2
 *  eps      added to each difference; usually 1e-6
 *  keepdim  whether the last dimension stays, with size 1
 *  out      new, the broadcast shape without its last dimension
 *
 *  Gradient: any order, forward mode; 0 at distance 0.
 *  Errors: SHAPE (shapes do not broadcast, or are 0-d), DTYPE (bool).
 *  Threads: concurrent-read.
 *  Python: pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_pairwise_distance(const libdl_tensor *x1,
                                                               const libdl_tensor *x2, double p,
                                                               double eps, libdl_bool keepdim,
                                                               LIBDL_NEW libdl_tensor **out);

/** Distances of all pairs of rows, the p-norms of their differences.
 *
 *  input  floating, [n, d]
 *  p      >= 0, the order of the norm; usually 2
 *  out    new, [n (n - 1) / 2]: rows 0 and 1, 0 and 2, ..., n - 2 and n - 1
 *
 *  Gradient: any order, forward mode; 0 at distance 0.
 *  Errors: SHAPE (input is not a matrix), DTYPE (not floating), VALUE (p).
 *  Threads: concurrent-read.
 *  Python: pdist(input, p=2.0) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_pdist(const libdl_tensor *input, double p,
                                                   LIBDL_NEW libdl_tensor **out);

/** Distances of each row of one tensor from each row of another, the p-norms of their differences.
 *
 *  x1   floating, [..., n, d]
 *  x2   floating, [..., m, d]; promoted with x1, and its first dimensions broadcast with x1's
 *  p    >= 0, the order of the norm; usually 2
 *  out  new, [..., n, m]
 *
 *  Gradient: any order, forward mode; 0 at distance 0.
 *  Errors: SHAPE (fewer than two dimensions, other numbers of columns, or shapes that do not
 *  broadcast), DTYPE (not floating), VALUE (p).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: cdist(x1, x2, p=2.0) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cdist(const libdl_tensor *x1, const libdl_tensor *x2,
                                                   double p, LIBDL_NEW libdl_tensor **out);

/** Vectors along dimensions, divided by their p-norms: y = input / max(norm(input), eps).
 *
 *  input  floating or complex
 *  p      the order of the norm, as in libdl_norm
 *  dims   the dimensions of a vector; NULL: 1
 *  eps    what a norm counts as at least
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (input is neither floating nor complex), INDEX (a dimension out of range).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: normalize(input, p=2.0, dim=1, eps=1e-12) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_normalize(const libdl_tensor *input, double p,
                                                       LIBDL_NULLABLE const int64_t *dims,
                                                       int32_t ndims, double eps,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_normalize into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_normalize_into(const libdl_tensor *input, double p,
                                                            LIBDL_NULLABLE const int64_t *dims,
                                                            int32_t ndims, double eps,
                                                            libdl_tensor *dst);

/** The cosine of the angle between vectors along a dimension:
 *  y = sum(x1 x2) / (max(|x1|, eps) max(|x2|, eps)).
 *
 *  x1   any; the common dtype is floating
 *  x2   any; the shapes broadcast
 *  dim  the dimension of a vector
 *  eps  what a norm counts as at least
 *  out  new, dim removed, of the common dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (the common dtype is not floating), SHAPE (they do not broadcast), INDEX (dim out
 *  of range), TYPE (a number).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: cosine_similarity(x1, x2, dim=1, eps=1e-8) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cosine_similarity(const libdl_tensor *x1,
                                                               const libdl_tensor *x2, int32_t dim,
                                                               double eps,
                                                               LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
