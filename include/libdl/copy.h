/* SPDX-License-Identifier: Apache-2.0 */

/** Copies and conversions of whole tensors, and reading one element. */
#ifndef LIBDL_COPY_H
#define LIBDL_COPY_H

#include <libdl/abi.h>
#include <libdl/device.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** A tensor in row-major memory: input itself if it already is, else a copy.
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
 *  out    new; with input's memory order of dimensions, without gaps
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: clone(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clone(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** Input in another dtype or on another device: input itself if nothing changes, else a copy.
 *
 *  input         any
 *  dtype         the element type; NONE: input's. Floating to integer truncates
 *  device        where; NULL: input's
 *  non_blocking  whether a transfer may still run when the call returns: from pinned memory
 *                (libdl_pin_memory), which must not be written before the stream's work is done,
 *                and to the CPU, where the copy is then pinned and must not be read before. From
 *                other memory a call does not wait either: it copies the bytes aside
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

/** Input's elements in pinned memory of the host: a device copies from and to it by itself, while
 *  the host goes on. Pinned memory that is freed is kept for the next request (libdl_memory_trim).
 *
 *  input   on the CPU
 *  device  whose copies it serves; NULL: the first CUDA device
 *  out     new, on the CPU; a new reference to input if it is so pinned, or if no device is served:
 *          device is the CPU, or NULL where there is no CUDA device
 *
 *  Gradient: any order, forward mode.
 *  Errors: DEVICE (input is not on the CPU, no such device), UNSUPPORTED (a device without it),
 *          OUT_OF_MEMORY.
 *  Threads: concurrent-read.
 *  Python: pin_memory(input, device=None) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_pin_memory(const libdl_tensor *input,
                                                        LIBDL_NULLABLE const libdl_device *device,
                                                        LIBDL_NEW libdl_tensor **out);

/** Overwrites dst with src.
 *
 *  src           any dtype and device; its shape broadcasts to dst's
 *  non_blocking  whether a transfer between pinned memory and a device may still run when the call
 *                returns, as in libdl_to
 *  dst           any; it is written, converted to its dtype
 *
 *  Gradient: any order, forward mode; zero for what dst held before.
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
 *  Gradient: any order, forward mode; zero for what dst held before, and the sum for value if it is
 *  a tensor.
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
 *  Gradient: any order, forward mode; zero for what dst held before.
 *  Errors: none of its own.
 *  Threads: exclusive.
 *  Python: zero_(dst) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_zero_into(libdl_tensor *dst);

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
