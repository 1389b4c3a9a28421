/* SPDX-License-Identifier: Apache-2.0 */

/** Exponentials, logarithms and trigonometry, element by element.
 *
 *  Broadcasting and result dtypes are described in <libdl/pointwise.h>. */
#ifndef LIBDL_EXPONENTIAL_H
#define LIBDL_EXPONENTIAL_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Exponential: y = e ^ input.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: exp(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_exp(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_exp into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_exp_into(const libdl_tensor *input, libdl_tensor *dst);

/** Power of two: y = 2 ^ input.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: exp2(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_exp2(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_exp2 into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_exp2_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Exponential minus one, accurate near 0: y = e ^ input - 1.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: expm1(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_expm1(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_expm1 into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_expm1_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Natural logarithm.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: log(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_log into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log_into(const libdl_tensor *input, libdl_tensor *dst);

/** Logarithm to base 2.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: log2(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log2(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_log2 into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log2_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Logarithm to base 10.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: log10(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log10(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_log10 into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log10_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Logarithm of 1 + input, accurate near 0.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: log1p(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log1p(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_log1p into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log1p_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Sine of an angle in radians.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: sin(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sin(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_sin into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sin_into(const libdl_tensor *input, libdl_tensor *dst);

/** Cosine of an angle in radians.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: cos(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cos(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_cos into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cos_into(const libdl_tensor *input, libdl_tensor *dst);

/** Tangent of an angle in radians.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: tan(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tan(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_tan into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tan_into(const libdl_tensor *input, libdl_tensor *dst);

LIBDL_END

#endif
