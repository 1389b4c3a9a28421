/* SPDX-License-Identifier: Apache-2.0 */

/** Rounding to whole numbers and to decimals, element by element.
 *
 *  Broadcasting and result dtypes are described in <libdl/pointwise.h>. */
#ifndef LIBDL_ROUNDING_H
#define LIBDL_ROUNDING_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Rounded down: y = floor(input), the largest integer not above input.
 *
 *  input  real; integers are copied
 *  out    new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: floor(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_floor(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_floor into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_floor_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Rounded up: y = ceil(input), the smallest integer not below input.
 *
 *  input  real; integers are copied
 *  out    new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: ceil(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ceil(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_ceil into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ceil_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Rounded to a number of decimals, half to even.
 *
 *  input     real; integers are copied
 *  decimals  digits after the decimal point, negative: before it; 0: the nearest integer
 *  out       new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (bool or complex; an integer with decimals other than 0).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: round(input, *, decimals=0) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_round(const libdl_tensor *input, int64_t decimals,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_round into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_round_into(const libdl_tensor *input, int64_t decimals,
                                                        libdl_tensor *dst);

/** Rounded towards zero: y = input without its fraction.
 *
 *  input  real; integers are copied
 *  out    new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: trunc(input) [function, method, inplace]
 *  Python: fix(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_trunc(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_trunc into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_trunc_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

LIBDL_END

#endif
