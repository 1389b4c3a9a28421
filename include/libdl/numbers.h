/* SPDX-License-Identifier: Apache-2.0 */

/** Numbers and their parts: real and imaginary, magnitude and angle, mantissa and exponent, and
 *  what has no finite value. Element-wise; <libdl/pointwise.h> tells what its words mean. */
#ifndef LIBDL_NUMBERS_H
#define LIBDL_NUMBERS_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Degrees as radians: y = pi / 180 input.
 *
 *  input  any; to float
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: none.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: deg2rad(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_deg2rad(const libdl_tensor *input,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_deg2rad into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_deg2rad_into(const libdl_tensor *input,
                                                          libdl_tensor *dst);

/** Radians as degrees: y = 180 / pi input.
 *
 *  input  any; to float
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: none.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: rad2deg(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rad2deg(const libdl_tensor *input,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_rad2deg into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rad2deg_into(const libdl_tensor *input,
                                                          libdl_tensor *dst);

/** The argument of complex numbers, from -pi to pi; of real ones 0 or pi, and NaN of NaN.
 *
 *  input  any; to float
 *  out    new, input's shape, of its real dtype
 *
 *  Gradient: any order, forward mode; 0 of real numbers.
 *  Errors: none.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: angle(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_angle(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_angle into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_angle_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Complex numbers of their parts: y = real + i imag.
 *
 *  real  float32 or float64
 *  imag  of real's dtype; the shapes broadcast
 *  out   new, complex64 or complex128
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (neither float32 nor float64, or differing dtypes), SHAPE (they do not broadcast).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: complex(real, imag) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_complex(const libdl_tensor *real,
                                                     const libdl_tensor *imag,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_complex into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_complex_into(const libdl_tensor *real,
                                                          const libdl_tensor *imag,
                                                          libdl_tensor *dst);

/** Complex numbers of magnitude and angle: y = abs (cos(angle) + i sin(angle)).
 *
 *  abs    float32 or float64
 *  angle  in radians, of abs's dtype; the shapes broadcast
 *  out    new, complex64 or complex128
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (neither float32 nor float64, or differing dtypes), SHAPE (they do not broadcast).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Autocast: float32.
 *  Python: polar(abs, angle) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_polar(const libdl_tensor *abs,
                                                   const libdl_tensor *angle,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_polar into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_polar_into(const libdl_tensor *abs,
                                                        const libdl_tensor *angle,
                                                        libdl_tensor *dst);

/** Which elements are +infinity.
 *
 *  input  real
 *  out    new, bool, input's shape
 *
 *  Gradient: none (bool).
 *  Errors: DTYPE (input is complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: isposinf(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isposinf(const libdl_tensor *input,
                                                      LIBDL_NEW libdl_tensor **out);

/** libdl_isposinf into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isposinf_into(const libdl_tensor *input,
                                                           libdl_tensor *dst);

/** Which elements are -infinity.
 *
 *  input  real
 *  out    new, bool, input's shape
 *
 *  Gradient: none (bool).
 *  Errors: DTYPE (input is complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: isneginf(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isneginf(const libdl_tensor *input,
                                                      LIBDL_NEW libdl_tensor **out);

/** libdl_isneginf into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isneginf_into(const libdl_tensor *input,
                                                           libdl_tensor *dst);

/** Which elements have no imaginary part: all of real numbers.
 *
 *  input  any
 *  out    new, bool, input's shape
 *
 *  Gradient: none (bool).
 *  Errors: none.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: isreal(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isreal(const libdl_tensor *input,
                                                    LIBDL_NEW libdl_tensor **out);

/** What trunc leaves, with input's sign: y = input - trunc(input).
 *
 *  input  real
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (input is complex or bool).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: frac(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_frac(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_frac into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_frac_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Numbers in place of NaN and infinities.
 *
 *  input   any; integers and bool are copied, complex numbers are changed part by part
 *  nan     for NaN; NULL: 0
 *  posinf  for +infinity; NULL: the largest number of input's dtype
 *  neginf  for -infinity; NULL: the least number of input's dtype
 *  out     new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; 0 where a number was replaced.
 *  Errors: none.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: nan_to_num(input, nan=0.0, posinf=None, neginf=None) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nan_to_num(const libdl_tensor *input,
                                                        LIBDL_NULLABLE const double *nan,
                                                        LIBDL_NULLABLE const double *posinf,
                                                        LIBDL_NULLABLE const double *neginf,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_nan_to_num into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nan_to_num_into(const libdl_tensor *input,
                                                             LIBDL_NULLABLE const double *nan,
                                                             LIBDL_NULLABLE const double *posinf,
                                                             LIBDL_NULLABLE const double *neginf,
                                                             libdl_tensor *dst);

/** pow in double precision: y = input^exponent.
 *
 *  input     any, or a number
 *  exponent  any, or a number; one of both is a tensor
 *  out       new, float64, or complex128 if an operand is complex
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (they do not broadcast), TYPE (two numbers).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: float_power(input, exponent) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_float_power(LIBDL_NUMBER const libdl_tensor *input,
                                                         LIBDL_NUMBER const libdl_tensor *exponent,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_float_power into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_float_power_into(
    LIBDL_NUMBER const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *exponent,
    libdl_tensor *dst);

/** y = input 2^other, rounded once, so that 2^other itself need not be a number of the dtype.
 *
 *  input  any
 *  other  any
 *  out    new, of the common dtype; to float
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (they do not broadcast).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: ldexp(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ldexp(const libdl_tensor *input,
                                                   const libdl_tensor *other,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_ldexp into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ldexp_into(const libdl_tensor *input,
                                                        const libdl_tensor *other,
                                                        libdl_tensor *dst);

/** Mantissa and exponent: input = mantissa 2^exponent, with 1/2 <= |mantissa| < 1; of 0, infinity
 *  and NaN they are input and 0.
 *
 *  input     floating
 *  mantissa  new, input's shape and dtype
 *  exponent  new, int32, input's shape
 *
 *  Gradient: any order, forward mode, of the mantissa: that of a division by 2^exponent.
 *  Errors: UNSUPPORTED (input is not floating).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_frexp(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **mantissa,
                                                   LIBDL_NEW libdl_tensor **exponent);

/** The number next to input towards other.
 *
 *  input  any; the common dtype is floating
 *  other  any
 *  out    new, of the common dtype
 *
 *  Gradient: any order, forward mode: that of input, but 0 at infinity and where both are equal.
 *  Errors: SHAPE (they do not broadcast), UNSUPPORTED (the common dtype is not floating).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: nextafter(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nextafter(const libdl_tensor *input,
                                                       const libdl_tensor *other,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_nextafter into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nextafter_into(const libdl_tensor *input,
                                                            const libdl_tensor *other,
                                                            libdl_tensor *dst);

/** The greatest common divisor, 0 or more; of 0 and 0 it is 0.
 *
 *  input  integers
 *  other  integers; the shapes broadcast
 *  out    new, of the common dtype
 *
 *  Gradient: none (integers).
 *  Errors: SHAPE (they do not broadcast), UNSUPPORTED (no integers), TYPE (a number).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: gcd(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gcd(const libdl_tensor *input,
                                                 const libdl_tensor *other,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_gcd into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gcd_into(const libdl_tensor *input,
                                                      const libdl_tensor *other, libdl_tensor *dst);

/** The least common multiple, 0 or more, modulo the dtype's range; with 0 it is 0.
 *
 *  input  integers
 *  other  integers; the shapes broadcast
 *  out    new, of the common dtype
 *
 *  Gradient: none (integers).
 *  Errors: SHAPE (they do not broadcast), UNSUPPORTED (no integers), TYPE (a number).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: lcm(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lcm(const libdl_tensor *input,
                                                 const libdl_tensor *other,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_lcm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lcm_into(const libdl_tensor *input,
                                                      const libdl_tensor *other, libdl_tensor *dst);

LIBDL_END

#endif
