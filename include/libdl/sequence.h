/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that create sequences and lists of indices from numbers.
 *
 *  dtype LIBDL_DTYPE_NONE and device NULL stand for the state's defaults. None of these records
 *  history. See libdl/creation.h for libdl_arange and libdl_linspace. */
#ifndef LIBDL_SEQUENCE_H
#define LIBDL_SEQUENCE_H

#include <libdl/abi.h>
#include <libdl/device.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Evenly spaced numbers from start to end, both included if steps lead there: start + i * step.
 *
 *  start   the first number; NULL: 0
 *  end     which no number passes
 *  step    the distance, not 0; NULL: 1
 *  dtype   the element type; NONE: the default floating dtype; of integers the three are cut to
 *          integers
 *  device  where; NULL: the default device
 *  out     new, 1-d of floor((end - start) / step) + 1 elements
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (step is 0, has the wrong sign, or a number is not finite), OVERFLOW (too many
 *  elements), DTYPE (complex, or a number that is), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_range(
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *start, LIBDL_NUMBER const libdl_tensor *end,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *step, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_tensor **out);

/** libdl_range into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_range_into(
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *start, LIBDL_NUMBER const libdl_tensor *end,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *step, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, libdl_tensor *dst);

/** base to the powers that lie evenly from start to end, both included.
 *
 *  start   the first power
 *  end     the last power
 *  steps   how many, >= 0
 *  base    a real number
 *  dtype   the element type; NONE: the default floating dtype, complex if a power is; of integers
 *          start and end are cut to integers, and so are the results
 *  device  where; NULL: the default device
 *  out     new, 1-d of `steps` elements
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (steps is negative), OVERFLOW (too many elements), DTYPE (a complex power and a
 *  real dtype), DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Python: logspace(start, end, steps, base=10.0, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logspace(LIBDL_NUMBER const libdl_tensor *start,
                                                      LIBDL_NUMBER const libdl_tensor *end,
                                                      int64_t steps, double base, libdl_dtype dtype,
                                                      LIBDL_NULLABLE const libdl_device *device,
                                                      LIBDL_NEW libdl_tensor **out);

/** libdl_logspace into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logspace_into(
    LIBDL_NUMBER const libdl_tensor *start, LIBDL_NUMBER const libdl_tensor *end, int64_t steps,
    double base, libdl_dtype dtype, LIBDL_NULLABLE const libdl_device *device, libdl_tensor *dst);

/** Rows and columns of a matrix's elements on and below a diagonal, in row-major order.
 *
 *  row     how many rows the matrix has, >= 0
 *  col     how many columns, >= 0
 *  offset  which diagonal; 0: the main one, positive: above it, negative: below
 *  dtype   the element type; NONE: int64
 *  device  where; NULL: the default device
 *  out     new, [2, n]
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (row or col is negative), OVERFLOW (too many elements), DTYPE (no dtype), DEVICE
 *  (no such device).
 *  Threads: concurrent-read.
 *  Python: tril_indices(row, col, offset=0, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tril_indices(int64_t row, int64_t col, int64_t offset,
                                                          libdl_dtype dtype,
                                                          LIBDL_NULLABLE const libdl_device *device,
                                                          LIBDL_NEW libdl_tensor **out);

/** Rows and columns of a matrix's elements on and above a diagonal, in row-major order.
 *
 *  row     how many rows the matrix has, >= 0
 *  col     how many columns, >= 0
 *  offset  which diagonal; 0: the main one, positive: above it, negative: below
 *  dtype   the element type; NONE: int64
 *  device  where; NULL: the default device
 *  out     new, [2, n]
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (row or col is negative), OVERFLOW (too many elements), DTYPE (no dtype), DEVICE
 *  (no such device).
 *  Threads: concurrent-read.
 *  Python: triu_indices(row, col, offset=0, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_triu_indices(int64_t row, int64_t col, int64_t offset,
                                                          libdl_dtype dtype,
                                                          LIBDL_NULLABLE const libdl_device *device,
                                                          LIBDL_NEW libdl_tensor **out);

/** Hann's window: 0.5 - 0.5 cos(2 pi n / N).
 *
 *  window_length  how many elements, >= 0; one alone is 1
 *  periodic       N is window_length; else less 1, so that both ends are equal
 *  dtype          floating; NONE: the default floating dtype
 *  device         where; NULL: the default device
 *  out            new, 1-d
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (window_length is negative), DTYPE (not floating), OVERFLOW (too many elements),
 *  DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: hann_window(window_length, periodic=True, *, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hann_window(int64_t window_length, libdl_bool periodic,
                                                         libdl_dtype dtype,
                                                         LIBDL_NULLABLE const libdl_device *device,
                                                         LIBDL_NEW libdl_tensor **out);

/** Hamming's window: alpha - beta cos(2 pi n / N).
 *
 *  window_length  how many elements, >= 0; one alone is 1
 *  periodic       N is window_length; else less 1, so that both ends are equal
 *  alpha          the mean
 *  beta           the amplitude
 *  dtype          floating; NONE: the default floating dtype
 *  device         where; NULL: the default device
 *  out            new, 1-d
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (window_length is negative), DTYPE (not floating), OVERFLOW (too many elements),
 *  DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None,
 *  device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hamming_window(
    int64_t window_length, libdl_bool periodic, double alpha, double beta, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_tensor **out);

/** Blackman's window: 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N).
 *
 *  window_length  how many elements, >= 0; one alone is 1
 *  periodic       N is window_length; else less 1, so that both ends are equal
 *  dtype          floating; NONE: the default floating dtype
 *  device         where; NULL: the default device
 *  out            new, 1-d
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (window_length is negative), DTYPE (not floating), OVERFLOW (too many elements),
 *  DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: blackman_window(window_length, periodic=True, *, dtype=None, device=None) [function,
 *  leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_blackman_window(
    int64_t window_length, libdl_bool periodic, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_tensor **out);

/** Bartlett's window, a triangle: 1 - |2 n / N - 1|.
 *
 *  window_length  how many elements, >= 0; one alone is 1
 *  periodic       N is window_length; else less 1, so that both ends are equal
 *  dtype          floating; NONE: the default floating dtype
 *  device         where; NULL: the default device
 *  out            new, 1-d
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (window_length is negative), DTYPE (not floating), OVERFLOW (too many elements),
 *  DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: bartlett_window(window_length, periodic=True, *, dtype=None, device=None) [function,
 *  leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bartlett_window(
    int64_t window_length, libdl_bool periodic, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_tensor **out);

/** Kaiser's window: I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta), with Bessel's function I0.
 *
 *  window_length  how many elements, >= 0; one alone is 1
 *  periodic       N is window_length; else less 1, so that both ends are equal
 *  beta           how steep it is
 *  dtype          floating; NONE: the default floating dtype
 *  device         where; NULL: the default device
 *  out            new, 1-d
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (window_length is negative), DTYPE (not floating), OVERFLOW (too many elements),
 *  DEVICE (no such device).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, device=None)
 *  [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_kaiser_window(
    int64_t window_length, libdl_bool periodic, double beta, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
