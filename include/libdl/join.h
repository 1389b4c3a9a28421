/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that join, repeat and rearrange tensors. */
#ifndef LIBDL_JOIN_H
#define LIBDL_JOIN_H

#include <libdl/abi.h>
#include <libdl/comparison.h> /* libdl 0.1 declared equal and allclose here */
#include <libdl/copy.h>       /* and the copies */

LIBDL_BEGIN

/** Tensors concatenated along a dimension.
 *
 *  tensors  at least one; shapes agree except in dim; 1-d tensors without elements are skipped
 *  dim      from -ndim to ndim - 1
 *  out      new, the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors), INDEX (dim out of range), SHAPE (a shape does not fit, or 0-d).
 *  Threads: concurrent-read.
 *  Autocast: promote.
 *  Python: cat(tensors, dim=0) [function]
 *  Python: concat(tensors, dim=0) [function]
 *  Python: concatenate(tensors, dim=0) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cat(const libdl_tensor *const *tensors, int64_t count,
                                                 int32_t dim, LIBDL_NEW libdl_tensor **out);

/** libdl_cat into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cat_into(const libdl_tensor *const *tensors,
                                                      int64_t count, int32_t dim,
                                                      libdl_tensor *dst);

/** Tensors of one shape stacked along a new dimension.
 *
 *  tensors  at least one
 *  dim      the new dimension's place, from -ndim - 1 to ndim
 *  out      new, the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors), INDEX (dim out of range), SHAPE (shapes differ).
 *  Threads: concurrent-read.
 *  Autocast: promote.
 *  Python: stack(tensors, dim=0) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stack(const libdl_tensor *const *tensors,
                                                   int64_t count, int32_t dim,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_stack into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stack_into(const libdl_tensor *const *tensors,
                                                        int64_t count, int32_t dim,
                                                        libdl_tensor *dst);

/** A tensor repeated along its dimensions.
 *
 *  input    any
 *  repeats  how often, each >= 0, at least as many as dimensions; extra ones add dimensions in
 *           front
 *  out      new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (fewer repeats than dimensions, or more than 64), VALUE (a negative one),
 *  OVERFLOW (the size in bytes exceeds 63 bits).
 *  Threads: concurrent-read.
 *  Python: repeat(input, *repeats) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_repeat(const libdl_tensor *input,
                                                    const int64_t *repeats, int32_t repeats_count,
                                                    LIBDL_NEW libdl_tensor **out);

/** Each element repeated, with its copies next to one another.
 *
 *  input    any
 *  repeats  how often, >= 0
 *  dim      which dimension; NULL: the flattened tensor
 *  out      new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (repeats is negative), INDEX (dim out of range), OVERFLOW (the size in bytes
 *  exceeds 63 bits).
 *  Threads: concurrent-read.
 *  Python: repeat_interleave(input, repeats, dim=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_repeat_interleave(const libdl_tensor *input,
                                                               int64_t repeats,
                                                               LIBDL_NULLABLE const int64_t *dim,
                                                               LIBDL_NEW libdl_tensor **out);

/** The order of indices reversed along dims.
 *
 *  input  any
 *  dims   which dimensions
 *  out    new
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range or named twice).
 *  Threads: concurrent-read.
 *  Python: flip(input, dims) [function]
 *  Python: flip(input, *dims) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_flip(const libdl_tensor *input, const int64_t *dims,
                                                  int32_t ndims, LIBDL_NEW libdl_tensor **out);

/** Elements shifted along dims; those that pass the end come back at the beginning.
 *
 *  input   any
 *  shifts  how far, one for each dimension in dims; just one if dims is NULL
 *  dims    which dimensions; NULL: the flattened tensor
 *  out     new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range), SHAPE (differing numbers of shifts and dims).
 *  Threads: concurrent-read.
 *  Python: roll(input, shifts, dims=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_roll(const libdl_tensor *input, const int64_t *shifts,
                                                  int32_t shifts_count,
                                                  LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
                                                  LIBDL_NEW libdl_tensor **out);

/** The lower triangle of matrices, zero above the diagonal.
 *
 *  input     any, ndim >= 2
 *  diagonal  0: the main one; positive: more is kept, negative: less
 *  out       new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (ndim < 2).
 *  Threads: concurrent-read.
 *  Python: tril(input, diagonal=0) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tril(const libdl_tensor *input, int64_t diagonal,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_tril into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tril_into(const libdl_tensor *input, int64_t diagonal,
                                                       libdl_tensor *dst);

/** The upper triangle of matrices, zero below the diagonal.
 *
 *  input     any, ndim >= 2
 *  diagonal  0: the main one; positive: less is kept, negative: more
 *  out       new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (ndim < 2).
 *  Threads: concurrent-read.
 *  Python: triu(input, diagonal=0) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_triu(const libdl_tensor *input, int64_t diagonal,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_triu into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_triu_into(const libdl_tensor *input, int64_t diagonal,
                                                       libdl_tensor *dst);

LIBDL_END

#endif
