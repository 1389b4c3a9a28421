/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that create tensors from numbers.
 *
 *  dtype LIBDL_DTYPE_NONE and device NULL stand for the state's defaults, or for the given tensor's
 *  own in the `_like` forms. None of these records history; libdl_tensor_set_requires_grad makes a
 *  result a leaf of the graph. */
#ifndef LIBDL_CREATION_H
#define LIBDL_CREATION_H

#include <libdl/abi.h>
#include <libdl/device.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** An uninitialised tensor: its elements are whatever the memory held.
 *
 *  shape   sizes, each >= 0
 *  dtype   the element type; NONE: the default floating dtype
 *  device  where; NULL: the default device
 *  out     new, contiguous
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (a negative size), SHAPE (more than 64 dimensions), OVERFLOW (the size in bytes
 *  exceeds 63 bits), DTYPE (no dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: empty(*size, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_empty(const int64_t *shape, int32_t ndim,
                                                   libdl_dtype dtype,
                                                   LIBDL_NULLABLE const libdl_device *device,
                                                   LIBDL_NEW libdl_tensor **out);

/** An uninitialised tensor with the given shape and strides.
 *
 *  shape    sizes, each >= 0
 *  strides  in elements, each >= 0, as many as sizes
 *  dtype    the element type; NONE: the default floating dtype
 *  device   where; NULL: the default device
 *  out      new, with storage for the farthest element
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (a negative size or stride), SHAPE (more than 64 dimensions, or differing numbers
 *  of sizes and strides), OVERFLOW (the size in bytes exceeds 63 bits), DTYPE (no dtype), DEVICE
 *  (no such device).
 *  Threads: concurrent-read.
 *  Python: empty_strided(size, strides, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_empty_strided(
    const int64_t *shape, int32_t ndim, const int64_t *strides, int32_t strides_count,
    libdl_dtype dtype, LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_tensor **out);

/** A tensor of zeros.
 *
 *  shape   sizes, each >= 0
 *  dtype   the element type; NONE: the default floating dtype
 *  device  where; NULL: the default device
 *  out     new, contiguous
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (a negative size), SHAPE (more than 64 dimensions), OVERFLOW (the size in bytes
 *  exceeds 63 bits), DTYPE (no dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: zeros(*size, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_zeros(const int64_t *shape, int32_t ndim,
                                                   libdl_dtype dtype,
                                                   LIBDL_NULLABLE const libdl_device *device,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_zeros into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_zeros_into(const int64_t *shape, int32_t ndim,
                                                        libdl_dtype dtype,
                                                        LIBDL_NULLABLE const libdl_device *device,
                                                        libdl_tensor *dst);

/** A tensor of ones.
 *
 *  shape   sizes, each >= 0
 *  dtype   the element type; NONE: the default floating dtype
 *  device  where; NULL: the default device
 *  out     new, contiguous
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (a negative size), SHAPE (more than 64 dimensions), OVERFLOW (the size in bytes
 *  exceeds 63 bits), DTYPE (no dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: ones(*size, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ones(const int64_t *shape, int32_t ndim,
                                                  libdl_dtype dtype,
                                                  LIBDL_NULLABLE const libdl_device *device,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_ones into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ones_into(const int64_t *shape, int32_t ndim,
                                                       libdl_dtype dtype,
                                                       LIBDL_NULLABLE const libdl_device *device,
                                                       libdl_tensor *dst);

/** A tensor whose elements are all one number.
 *
 *  shape       sizes, each >= 0
 *  fill_value  a number or 0-d tensor; its value is copied
 *  dtype       the element type; NONE: bool, int64, the default floating or complex dtype, by
 *              fill_value's kind
 *  device      where; NULL: the default device
 *  out         new, contiguous
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (a negative size), SHAPE (more than 64 dimensions, or fill_value is not 0-d),
 *  OVERFLOW (the size in bytes exceeds 63 bits), DTYPE (no dtype; a complex number and a real
 *  dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: full(size, fill_value, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_full(const int64_t *shape, int32_t ndim,
                                                  LIBDL_NUMBER const libdl_tensor *fill_value,
                                                  libdl_dtype dtype,
                                                  LIBDL_NULLABLE const libdl_device *device,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_full into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_full_into(const int64_t *shape, int32_t ndim,
                                                       LIBDL_NUMBER const libdl_tensor *fill_value,
                                                       libdl_dtype dtype,
                                                       LIBDL_NULLABLE const libdl_device *device,
                                                       libdl_tensor *dst);

/** Evenly spaced numbers from start (included) to end (excluded): start + i * step.
 *
 *  start   the first number; NULL: 0
 *  end     where to stop
 *  step    the distance, not 0; NULL: 1
 *  dtype   the element type; NONE: int64 if all three are integers, else the default floating dtype
 *  device  where; NULL: the default device
 *  out     new, 1-d of ceil((end - start) / step) elements
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (step is 0, has the wrong sign, or a number is not finite), OVERFLOW (too many
 *  elements), DTYPE (complex or bool, or a number that is complex), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: arange(end, *, dtype=None, device=None) [function, leaf]
 *  Python: arange(start, end, step=1, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_arange(
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *start, LIBDL_NUMBER const libdl_tensor *end,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *step, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_tensor **out);

/** libdl_arange into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_arange_into(
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *start, LIBDL_NUMBER const libdl_tensor *end,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *step, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, libdl_tensor *dst);

/** Evenly spaced numbers from start to end, both included.
 *
 *  start   the first number
 *  end     the last number
 *  steps   how many, >= 0
 *  dtype   the element type; NONE: the default floating dtype, complex if a number is
 *  device  where; NULL: the default device
 *  out     new, 1-d of `steps` elements; the second half is computed from the end
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (steps is negative), OVERFLOW (too many elements), DTYPE (a complex number and a
 *  real dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: linspace(start, end, steps, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linspace(LIBDL_NUMBER const libdl_tensor *start,
                                                      LIBDL_NUMBER const libdl_tensor *end,
                                                      int64_t steps, libdl_dtype dtype,
                                                      LIBDL_NULLABLE const libdl_device *device,
                                                      LIBDL_NEW libdl_tensor **out);

/** libdl_linspace into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linspace_into(
    LIBDL_NUMBER const libdl_tensor *start, LIBDL_NUMBER const libdl_tensor *end, int64_t steps,
    libdl_dtype dtype, LIBDL_NULLABLE const libdl_device *device, libdl_tensor *dst);

/** The identity matrix, or its upper left part if it is not square.
 *
 *  n       rows, >= 0
 *  m       columns, >= 0; NULL: n
 *  dtype   the element type; NONE: the default floating dtype
 *  device  where; NULL: the default device
 *  out     new, n by m
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (n or m is negative), OVERFLOW (the size in bytes exceeds 63 bits), DTYPE (no
 *  dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: eye(n, m=None, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_eye(int64_t n, LIBDL_NULLABLE const int64_t *m,
                                                 libdl_dtype dtype,
                                                 LIBDL_NULLABLE const libdl_device *device,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_eye into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_eye_into(int64_t n, LIBDL_NULLABLE const int64_t *m,
                                                      libdl_dtype dtype,
                                                      LIBDL_NULLABLE const libdl_device *device,
                                                      libdl_tensor *dst);

/** An uninitialised tensor of input's shape: its elements are whatever the memory held.
 *
 *  input   any; only its metadata is read
 *  dtype   the element type; NONE: input's
 *  device  where; NULL: input's
 *  out     new; with input's memory order of dimensions, without gaps
 *
 *  Gradient: none; the result carries no history.
 *  Errors: DTYPE (no dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: empty_like(input, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_empty_like(const libdl_tensor *input,
                                                        libdl_dtype dtype,
                                                        LIBDL_NULLABLE const libdl_device *device,
                                                        LIBDL_NEW libdl_tensor **out);

/** A tensor of zeros of input's shape.
 *
 *  input   any; only its metadata is read
 *  dtype   the element type; NONE: input's
 *  device  where; NULL: input's
 *  out     new; with input's memory order of dimensions, without gaps
 *
 *  Gradient: none; the result carries no history.
 *  Errors: DTYPE (no dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: zeros_like(input, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_zeros_like(const libdl_tensor *input,
                                                        libdl_dtype dtype,
                                                        LIBDL_NULLABLE const libdl_device *device,
                                                        LIBDL_NEW libdl_tensor **out);

/** A tensor of ones of input's shape.
 *
 *  input   any; only its metadata is read
 *  dtype   the element type; NONE: input's
 *  device  where; NULL: input's
 *  out     new; with input's memory order of dimensions, without gaps
 *
 *  Gradient: none; the result carries no history.
 *  Errors: DTYPE (no dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: ones_like(input, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ones_like(const libdl_tensor *input, libdl_dtype dtype,
                                                       LIBDL_NULLABLE const libdl_device *device,
                                                       LIBDL_NEW libdl_tensor **out);

/** A tensor of input's shape whose elements are all one number.
 *
 *  input       any; only its metadata is read
 *  fill_value  a number or 0-d tensor; its value is copied
 *  dtype       the element type; NONE: input's
 *  device      where; NULL: input's
 *  out         new; with input's memory order of dimensions, without gaps
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (fill_value is not 0-d), DTYPE (no dtype; a complex number and a real dtype),
 *  DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: full_like(input, fill_value, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_full_like(const libdl_tensor *input,
                                                       LIBDL_NUMBER const libdl_tensor *fill_value,
                                                       libdl_dtype dtype,
                                                       LIBDL_NULLABLE const libdl_device *device,
                                                       LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
