/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that join, repeat, copy and compare whole tensors, and that read one element. */
#ifndef LIBDL_JOIN_H
#define LIBDL_JOIN_H

#include <libdl/abi.h>
#include <libdl/device.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Tensors one after the other along a dimension.
 *
 *  tensors  at least one; shapes agree but for dim; 1-d tensors without elements are skipped
 *  dim      from -ndim to ndim - 1
 *  out      new, the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors), INDEX (dim out of range), SHAPE (a shape does not fit, or 0-d).
 *  Threads: concurrent-read.
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

/** Tensors of one shape along a new dimension.
 *
 *  tensors  at least one
 *  dim      the new dimension's place, from -ndim - 1 to ndim
 *  out      new, the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors), INDEX (dim out of range), SHAPE (shapes differ).
 *  Threads: concurrent-read.
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
 *  repeats  how often, each >= 0, at least as many as dimensions; more give new ones in front
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

/** Each element repeated, its copies next to one another.
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

/** Elements moved along dims, those that pass the end coming back at the beginning.
 *
 *  input   any
 *  shifts  how far, one for each dimension of dims; without dims one
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

/** Row-major memory: input itself if it is so already, else a copy.
 *
 *  input  any
 *  out    a new reference to input, or new
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: contiguous(input) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_contiguous(const libdl_tensor *input,
                                                        LIBDL_NEW libdl_tensor **out);

/** A copy with history.
 *
 *  input  any
 *  out    new; in the order of dimensions that input has in memory, without gaps
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: clone(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clone(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** Another dtype or device: input itself if nothing changes, else a copy.
 *
 *  input         any
 *  dtype         the element type; NONE: input's. Floating to integer truncates
 *  device        where; NULL: input's
 *  non_blocking  whether a transfer may still run when the call returns
 *  copy          whether to copy even if nothing changes
 *  out           a new reference to input, or new
 *
 *  Gradient: any order, forward mode; none to integers and bool.
 *  Errors: DTYPE (no dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: to(input, dtype=None, device=None, non_blocking=False, copy=False) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_to(const libdl_tensor *input, libdl_dtype dtype,
                                                LIBDL_NULLABLE const libdl_device *device,
                                                libdl_bool non_blocking, libdl_bool copy,
                                                LIBDL_NEW libdl_tensor **out);

/** Overwrites dst with src.
 *
 *  src           any dtype and device; its shape broadcasts to dst's
 *  non_blocking  whether a transfer may still run when the call returns
 *  dst           any; it is written, converted to its dtype
 *
 *  Gradient: any order, forward mode; what dst held gets zero.
 *  Errors: SHAPE (src does not broadcast to dst).
 *  Threads: exclusive.
 *  Python: copy_(dst, src, non_blocking=False) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_copy_into(const libdl_tensor *src,
                                                       libdl_bool non_blocking, libdl_tensor *dst);

/** Overwrites every element of dst with one number.
 *
 *  value  a number or 0-d tensor
 *  dst    any; it is written
 *
 *  Gradient: any order, forward mode; what dst held gets zero, a tensor value the sum.
 *  Errors: SHAPE (value is not 0-d), DTYPE (value is complex and dst is real).
 *  Threads: exclusive.
 *  Python: fill_(dst, value) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fill_into(LIBDL_NUMBER const libdl_tensor *value,
                                                       libdl_tensor *dst);

/** Overwrites every element of dst with zero.
 *
 *  dst  any; it is written
 *
 *  Gradient: any order, forward mode; what dst held gets zero.
 *  Errors: none of its own.
 *  Threads: exclusive.
 *  Python: zero_(dst) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_zero_into(libdl_tensor *dst);

/** Whether two tensors have the same shape and equal elements; NaN equals nothing.
 *
 *  input, other  of one device; elements are compared in the promoted dtype
 *  out           0 or 1
 *
 *  Gradient: none; the result is no tensor.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: equal(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_equal(const libdl_tensor *input,
                                                   const libdl_tensor *other, libdl_bool *out);

/** Whether all elements are close: |input - other| <= atol + rtol * |other|.
 *
 *  input, other  any, of one dtype, broadcast together
 *  rtol          relative tolerance, >= 0; usually 1e-5
 *  atol          absolute tolerance, >= 0; usually 1e-8
 *  equal_nan     whether NaN equals NaN
 *  out           0 or 1
 *
 *  Gradient: none; the result is no tensor.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (differing dtypes), VALUE (a negative
 *  tolerance).
 *  Threads: concurrent-read.
 *  Python: allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_allclose(const libdl_tensor *input,
                                                      const libdl_tensor *other, double rtol,
                                                      double atol, libdl_bool equal_nan,
                                                      libdl_bool *out);

/** The only element's truth value.
 *
 *  input  any, one element
 *  out    1 if it is not zero
 *
 *  Gradient: none; the result is no tensor.
 *  Errors: SHAPE (not one element).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_item_bool(const libdl_tensor *input, libdl_bool *out);

/** The only element as an integer.
 *
 *  input  integers or bool, one element
 *  out    its value
 *
 *  Gradient: none; the result is no tensor.
 *  Errors: SHAPE (not one element), DTYPE (floating or complex), OVERFLOW (above 2^63 - 1).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_item_i64(const libdl_tensor *input, int64_t *out);

/** The only element as an unsigned integer.
 *
 *  input  integers or bool, one element
 *  out    its value
 *
 *  Gradient: none; the result is no tensor.
 *  Errors: SHAPE (not one element), DTYPE (floating or complex), OVERFLOW (negative).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_item_u64(const libdl_tensor *input, uint64_t *out);

/** The only element as a floating number; 64-bit integers are rounded to the nearest one.
 *
 *  input  real, one element
 *  out    its value
 *
 *  Gradient: none; the result is no tensor.
 *  Errors: SHAPE (not one element), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_item_f64(const libdl_tensor *input, double *out);

/** The only element as a complex number.
 *
 *  input  any, one element
 *  real   its real part
 *  imag   its imaginary part, 0 for real input
 *
 *  Gradient: none; the result is no tensor.
 *  Errors: SHAPE (not one element).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_item_c128(const libdl_tensor *input, double *real,
                                                       double *imag);

LIBDL_END

#endif
