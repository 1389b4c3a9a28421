/* SPDX-License-Identifier: Apache-2.0 */

/** Arithmetic, powers and roots, element by element.
 *
 *  Broadcasting and result dtypes are described in <libdl/pointwise.h>. */
#ifndef LIBDL_ARITHMETIC_H
#define LIBDL_ARITHMETIC_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Sum: y = input + alpha * other.
 *
 *  input, other  any; bool + bool is the logical or
 *  alpha         a number that the result's dtype can hold; NULL: 1
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (alpha is floating and the operands are
 *  integers, or complex and they are real).
 *  Threads: concurrent-read.
 *  Python: add(input, other, *, alpha=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_add(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, LIBDL_NEW libdl_tensor **out);

/** libdl_add into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_add_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, libdl_tensor *dst);

/** Difference: y = input - alpha * other.
 *
 *  input, other  any but bool
 *  alpha         a number that the result's dtype can hold; NULL: 1
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (an operand is bool; alpha is floating and
 *  the operands are integers, or complex and they are real).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: sub(input, other, *, alpha=1) [function, method, inplace]
 *  Python: subtract(input, other, *, alpha=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sub(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, LIBDL_NEW libdl_tensor **out);

/** libdl_sub into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sub_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, libdl_tensor *dst);

/** Product: y = input * other.
 *
 *  input, other  any; bool * bool is the logical and
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: mul(input, other) [function, method, inplace]
 *  Python: multiply(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mul(const libdl_tensor *input,
                                                 LIBDL_NUMBER const libdl_tensor *other,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_mul into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mul_into(const libdl_tensor *input,
                                                      LIBDL_NUMBER const libdl_tensor *other,
                                                      libdl_tensor *dst);

/** Quotient: y = input / other, optionally rounded.
 *
 *  input, other   any (rounded: real)
 *  rounding_mode  NULL: true division, integers give the default floating dtype;
 *                 "trunc": rounded towards zero, "floor": rounded down, both keep integers
 *  out            new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; zero when rounded.
 *  Errors: SHAPE (the operands do not broadcast), VALUE (another rounding_mode, or a rounded
 *  division of integers by zero), DTYPE (rounded and complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: div(input, other, *, rounding_mode=None) [function, method, inplace]
 *  Python: divide(input, other, *, rounding_mode=None) [function, method, inplace]
 *  Python: true_divide(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_div(const libdl_tensor *input,
                                                 LIBDL_NUMBER const libdl_tensor *other,
                                                 LIBDL_NULLABLE const char *rounding_mode,
                                                 int64_t rounding_mode_length,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_div into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_div_into(const libdl_tensor *input,
                                                      LIBDL_NUMBER const libdl_tensor *other,
                                                      LIBDL_NULLABLE const char *rounding_mode,
                                                      int64_t rounding_mode_length,
                                                      libdl_tensor *dst);

/** Quotient rounded down: y = floor(input / other).
 *
 *  input, other  real
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), VALUE (division of integers by zero), DTYPE
 *  (complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: floor_divide(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_floor_divide(const libdl_tensor *input,
                                                          LIBDL_NUMBER const libdl_tensor *other,
                                                          LIBDL_NEW libdl_tensor **out);

/** libdl_floor_divide into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_floor_divide_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Remainder with the divisor's sign: y = input - other * floor(input / other).
 *
 *  input, other  real, not bool
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), VALUE (integers modulo zero), DTYPE (bool or
 *  complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: remainder(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_remainder(const libdl_tensor *input,
                                                       LIBDL_NUMBER const libdl_tensor *other,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_remainder into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_remainder_into(const libdl_tensor *input,
                                                            LIBDL_NUMBER const libdl_tensor *other,
                                                            libdl_tensor *dst);

/** Remainder with the dividend's sign: y = input - other * trunc(input / other).
 *
 *  input, other  real, not bool
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), VALUE (integers modulo zero), DTYPE (bool or
 *  complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: fmod(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fmod(const libdl_tensor *input,
                                                  LIBDL_NUMBER const libdl_tensor *other,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_fmod into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fmod_into(const libdl_tensor *input,
                                                       LIBDL_NUMBER const libdl_tensor *other,
                                                       libdl_tensor *dst);

/** Power: y = input ^ exponent.
 *
 *  input, exponent  any but bool with bool
 *  out              new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; the exponent's is 0 where input is 0 and exponent >= 0.
 *  Errors: SHAPE (the operands do not broadcast), VALUE (integers to a negative number), DTYPE
 *  (bool to bool).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: pow(input, exponent) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_pow(const libdl_tensor *input,
                                                 LIBDL_NUMBER const libdl_tensor *exponent,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_pow into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_pow_into(const libdl_tensor *input,
                                                      LIBDL_NUMBER const libdl_tensor *exponent,
                                                      libdl_tensor *dst);

/** Negation: y = -input.
 *
 *  input  any but bool
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (bool).
 *  Threads: concurrent-read.
 *  Python: neg(input) [function, method, inplace]
 *  Python: negative(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_neg(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_neg into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_neg_into(const libdl_tensor *input, libdl_tensor *dst);

/** Absolute value: y = |input|.
 *
 *  input  any; bool is its own
 *  out    new, input's shape and dtype; real for complex input
 *
 *  Gradient: any order, forward mode; 0 at 0.
 *  Errors: DTYPE (a complex tensor in place).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: abs(input) [function, method, inplace]
 *  Python: absolute(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_abs(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_abs into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_abs_into(const libdl_tensor *input, libdl_tensor *dst);

/** Sign: y = -1, 0 or 1; NaN stays NaN.
 *
 *  input  real
 *  out    new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (complex: see libdl_sgn).
 *  Threads: concurrent-read.
 *  Python: sign(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sign(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_sign into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sign_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Sign, also of complex numbers: y = input / |input|, and 0 at 0.
 *
 *  input  any
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; zero for real input.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: sgn(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sgn(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_sgn into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sgn_into(const libdl_tensor *input, libdl_tensor *dst);

/** Reciprocal: y = 1 / input.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: reciprocal(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_reciprocal(const libdl_tensor *input,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_reciprocal into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_reciprocal_into(const libdl_tensor *input,
                                                             libdl_tensor *dst);

/** Square: y = input * input.
 *
 *  input  any
 *  out    new, input's shape and dtype; bool gives int64
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: square(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_square(const libdl_tensor *input,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_square into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_square_into(const libdl_tensor *input,
                                                         libdl_tensor *dst);

/** Square root; NaN for negative real numbers.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: sqrt(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sqrt(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_sqrt into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sqrt_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Reciprocal of the square root: y = 1 / sqrt(input).
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: rsqrt(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rsqrt(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_rsqrt into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rsqrt_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Linear interpolation: y = input + weight * (end - input).
 *
 *  input, end  floating or complex, of one dtype
 *  weight      tensor of that dtype or number; it is broadcast
 *  out         new, the broadcast shape, input's dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (not floating or complex, or differing).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: lerp(input, end, weight) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lerp(const libdl_tensor *input,
                                                  const libdl_tensor *end,
                                                  LIBDL_NUMBER const libdl_tensor *weight,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_lerp into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lerp_into(const libdl_tensor *input,
                                                       const libdl_tensor *end,
                                                       LIBDL_NUMBER const libdl_tensor *weight,
                                                       libdl_tensor *dst);

/** Adds a scaled product: y = input + value * tensor1 * tensor2.
 *
 *  input    any
 *  tensor1  likewise
 *  tensor2  likewise
 *  value    a number; NULL: 1
 *  out      new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (value does not fit the dtype).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: addcmul(input, tensor1, tensor2, *, value=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addcmul(
    const libdl_tensor *input, const libdl_tensor *tensor1, const libdl_tensor *tensor2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *value, LIBDL_NEW libdl_tensor **out);

/** libdl_addcmul into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addcmul_into(
    const libdl_tensor *input, const libdl_tensor *tensor1, const libdl_tensor *tensor2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *value, libdl_tensor *dst);

/** Adds a scaled quotient: y = input + value * tensor1 / tensor2.
 *
 *  input    any but integers with integers
 *  tensor1  likewise
 *  tensor2  likewise
 *  value    a number; NULL: 1
 *  out      new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (value does not fit the dtype; a quotient
 *  of two integers).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: addcdiv(input, tensor1, tensor2, *, value=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addcdiv(
    const libdl_tensor *input, const libdl_tensor *tensor1, const libdl_tensor *tensor2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *value, LIBDL_NEW libdl_tensor **out);

/** libdl_addcdiv into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addcdiv_into(
    const libdl_tensor *input, const libdl_tensor *tensor1, const libdl_tensor *tensor2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *value, libdl_tensor *dst);

/** Complex conjugate, as a new tensor; real input is returned as an alias.
 *
 *  input  any
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: conj(input) [function, method]
 *  Python: conj_physical(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_conj(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
