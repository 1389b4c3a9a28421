/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that go element by element.
 *
 *  Operands broadcast together as in PyTorch: shapes are compared from the last dimension, where
 *  sizes are equal or one of them is 1. The result's dtype is promoted: dimensioned tensors decide
 *  before 0-d ones, and those before wrapped numbers (libdl_number_f64 and its siblings), of which
 *  only the kind counts (bool, integer, floating, complex). The words below mean
 *
 *    floating   float16, bfloat16, float32, float64
 *    complex    complex64, complex128
 *    real       every dtype that is not complex, bool included
 *    any        every dtype
 *    to float   integers and bool are first converted to the default floating dtype
 *
 *  A new result has no gaps in memory, and its dimensions lie there in the operands' order, as in
 *  PyTorch: the first operand whose strides tell two dimensions apart decides, and where none does
 *  the order is row-major. So x and x transposed take the same time. Always row-major are
 *  logsigmoid, masked_fill, tril, triu and the powers of a number.
 *
 *  What all operators have in common (errors, into forms, threads) stands in <libdl/op.h>. */
#ifndef LIBDL_POINTWISE_H
#define LIBDL_POINTWISE_H

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

/** Quotient: y = input / other, rounded if asked.
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
 *  Errors: DTYPE (into form of a complex tensor in place).
 *  Threads: concurrent-read.
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

/** Hyperbolic tangent.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: tanh(input) [function, method, inplace, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tanh(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_tanh into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tanh_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Logistic function: y = 1 / (1 + e ^ -input).
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: sigmoid(input) [function, method, inplace, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sigmoid(const libdl_tensor *input,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_sigmoid into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sigmoid_into(const libdl_tensor *input,
                                                          libdl_tensor *dst);

/** Error function: y = 2 / sqrt(pi) * integral from 0 to input of e ^ (-t * t) dt.
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: erf(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_erf(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_erf into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_erf_into(const libdl_tensor *input, libdl_tensor *dst);

/** Rectifier: y = max(input, 0); NaN stays NaN.
 *
 *  input  real, not bool
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; 0 at 0.
 *  Errors: DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: relu(input) [function, method, inplace, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_relu(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_relu into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_relu_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Gaussian error linear unit: y = input * Phi(input), Phi the normal distribution function.
 *
 *  input        floating
 *  approximate  NULL or "none": Phi by the error function;
 *               "tanh": y = input / 2 * (1 + tanh(sqrt(2 / pi) * (input + 0.044715 * input ^ 3)))
 *  out          new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (not floating), VALUE (another approximate).
 *  Threads: concurrent-read.
 *  Python: gelu(input, *, approximate='none') [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gelu(const libdl_tensor *input,
                                                  LIBDL_NULLABLE const char *approximate,
                                                  int64_t approximate_length,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_gelu into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gelu_into(const libdl_tensor *input,
                                                       LIBDL_NULLABLE const char *approximate,
                                                       int64_t approximate_length,
                                                       libdl_tensor *dst);

/** Sigmoid linear unit: y = input * sigmoid(input).
 *
 *  input  floating or complex
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (an integer or bool).
 *  Threads: concurrent-read.
 *  Python: silu(input) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_silu(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_silu into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_silu_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Exponential linear unit: y = input where it is not below 0, else alpha * (exp(input) - 1).
 *
 *  input  floating
 *  alpha  minus the limit at -infinity; any number
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; alpha at 0, 1 where input is NaN.
 *  Errors: DTYPE (not floating), OVERFLOW (alpha does not fit float32, input is not float64).
 *  Threads: concurrent-read.
 *  Python: elu(input, alpha=1.0) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_elu(const libdl_tensor *input, double alpha,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_elu into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_elu_into(const libdl_tensor *input, double alpha,
                                                      libdl_tensor *dst);

/** Leaky rectifier: y = input where it is above 0, else negative_slope * input.
 *
 *  input           floating
 *  negative_slope  any number
 *  out             new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; negative_slope at 0 and where input is NaN.
 *  Errors: DTYPE (not floating), OVERFLOW (a negative_slope too large for float32, unless input is
 *  float64).
 *  Threads: concurrent-read.
 *  Python: leaky_relu(input, negative_slope=0.01) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_leaky_relu(const libdl_tensor *input,
                                                        double negative_slope,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_leaky_relu into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_leaky_relu_into(const libdl_tensor *input,
                                                             double negative_slope,
                                                             libdl_tensor *dst);

/** Smooth rectifier: y = log(1 + exp(beta * input)) / beta.
 *
 *  input      floating
 *  beta       how sharp its bend is
 *  threshold  y is input where beta * input is above it
 *  out        new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (not floating), OVERFLOW (a beta or threshold too large for float32, unless input
 *  is float64).
 *  Threads: concurrent-read.
 *  Python: softplus(input, beta=1.0, threshold=20.0) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_softplus(const libdl_tensor *input, double beta,
                                                      double threshold,
                                                      LIBDL_NEW libdl_tensor **out);

/** libdl_softplus into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_softplus_into(const libdl_tensor *input, double beta,
                                                           double threshold, libdl_tensor *dst);

/** Logarithm of the sigmoid: y = -log(1 + exp(-input)).
 *
 *  input  floating
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (not floating).
 *  Threads: concurrent-read.
 *  Python: logsigmoid(input) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logsigmoid(const libdl_tensor *input,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_logsigmoid into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logsigmoid_into(const libdl_tensor *input,
                                                             libdl_tensor *dst);

/** The largest integer not above: y = floor(input).
 *
 *  input  real; integers are copied
 *  out    new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: floor(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_floor(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_floor into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_floor_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** The smallest integer not below: y = ceil(input).
 *
 *  input  real; integers are copied
 *  out    new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: ceil(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ceil(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_ceil into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ceil_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** The nearest number with so many decimals, half to even.
 *
 *  input     real; integers are copied
 *  decimals  digits behind the point, negative: before it; 0: the nearest integer
 *  out       new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (bool or complex; an integer with decimals other than 0).
 *  Threads: concurrent-read.
 *  Python: round(input, *, decimals=0) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_round(const libdl_tensor *input, int64_t decimals,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_round into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_round_into(const libdl_tensor *input, int64_t decimals,
                                                        libdl_tensor *dst);

/** The integer part: y = input without its fraction.
 *
 *  input  real; integers are copied
 *  out    new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: trunc(input) [function, method, inplace]
 *  Python: fix(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_trunc(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_trunc into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_trunc_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** The larger of two elements; NaN if either is NaN.
 *
 *  input, other  real
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; halves where equal.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: maximum(input, other) [function, method]
 *  Python: max(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_maximum(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_maximum into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_maximum_into(const libdl_tensor *input,
                                                          LIBDL_NUMBER const libdl_tensor *other,
                                                          libdl_tensor *dst);

/** The smaller of two elements; NaN if either is NaN.
 *
 *  input, other  real
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; halves where equal.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: minimum(input, other) [function, method]
 *  Python: min(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_minimum(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_minimum into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_minimum_into(const libdl_tensor *input,
                                                          LIBDL_NUMBER const libdl_tensor *other,
                                                          libdl_tensor *dst);

/** Into bounds: y = min(max(input, min), max); where min > max, max. NaN stays NaN.
 *
 *  input  real, not bool
 *  min    lower bound: tensor or number, broadcast, or NULL: none
 *  max    upper bound, likewise; one of the two must be given
 *  out    new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; input's flows strictly between bounds that are numbers; a
 *  tensor shares it with input where both are equal.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (bool or complex), VALUE (both bounds are
 *  NULL), OVERFLOW (a number that always binds, for the dtype does not reach it).
 *  Threads: concurrent-read.
 *  Python: clamp(input, min=None, max=None) [function, method, inplace]
 *  Python: clip(input, min=None, max=None) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clamp(
    const libdl_tensor *input, LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *min,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *max, LIBDL_NEW libdl_tensor **out);

/** libdl_clamp into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clamp_into(
    const libdl_tensor *input, LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *min,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *max, libdl_tensor *dst);

/** A choice by element: y = condition ? input : other.
 *
 *  condition     bool, or uint8 whose nonzero elements are true
 *  input, other  any
 *  out           new, the shape to which all three broadcast, the dtype of input and other promoted
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (condition is neither bool nor uint8).
 *  Threads: concurrent-read.
 *  Python: where(condition, input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_where(const libdl_tensor *condition,
                                                   LIBDL_NUMBER const libdl_tensor *input,
                                                   LIBDL_NUMBER const libdl_tensor *other,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_where into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_where_into(const libdl_tensor *condition,
                                                        LIBDL_NUMBER const libdl_tensor *input,
                                                        LIBDL_NUMBER const libdl_tensor *other,
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
 *  Python: addcdiv(input, tensor1, tensor2, *, value=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addcdiv(
    const libdl_tensor *input, const libdl_tensor *tensor1, const libdl_tensor *tensor2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *value, LIBDL_NEW libdl_tensor **out);

/** libdl_addcdiv into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_addcdiv_into(
    const libdl_tensor *input, const libdl_tensor *tensor1, const libdl_tensor *tensor2,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *value, libdl_tensor *dst);

/** Complex conjugate, computed; real input is returned as an alias.
 *
 *  input  any
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: conj(input) [function, method]
 *  Python: conj_physical(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_conj(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** Whether an element is NaN.
 *
 *  input  any
 *  out    new, bool, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: isnan(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isnan(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** Whether an element is an infinity; complex: whether either part is.
 *
 *  input  any
 *  out    new, bool, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: isinf(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isinf(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** Whether an element is neither infinite nor NaN; complex: both parts.
 *
 *  input  any
 *  out    new, bool, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: isfinite(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isfinite(const libdl_tensor *input,
                                                      LIBDL_NEW libdl_tensor **out);

/** Whether elements are close: |input - other| <= atol + rtol * |other|.
 *
 *  input, other  any, of one dtype, broadcast together
 *  rtol          relative tolerance, >= 0; usually 1e-5
 *  atol          absolute tolerance, >= 0; usually 1e-8
 *  equal_nan     whether NaN equals NaN
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (differing dtypes), VALUE (a negative
 *  tolerance).
 *  Threads: concurrent-read.
 *  Python: isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isclose(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     double rtol, double atol, libdl_bool equal_nan,
                                                     LIBDL_NEW libdl_tensor **out);

/** Whether input equals other, by element, compared in the promoted dtype.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: eq(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_eq(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_eq into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_eq_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input differs from other, by element, compared in the promoted dtype.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: ne(input, other) [function, method, inplace]
 *  Python: not_equal(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ne(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_ne into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ne_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input is less than other, by element, compared in the promoted dtype.
 *
 *  input, other  real
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: lt(input, other) [function, method, inplace]
 *  Python: less(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lt(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_lt into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lt_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input is at most other, by element, compared in the promoted dtype.
 *
 *  input, other  real
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: le(input, other) [function, method, inplace]
 *  Python: less_equal(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_le(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_le into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_le_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input is greater than other, by element, compared in the promoted dtype.
 *
 *  input, other  real
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: gt(input, other) [function, method, inplace]
 *  Python: greater(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gt(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_gt into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gt_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input is at least other, by element, compared in the promoted dtype.
 *
 *  input, other  real
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: ge(input, other) [function, method, inplace]
 *  Python: greater_equal(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ge(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_ge into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ge_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether an element is zero.
 *
 *  input  any
 *  out    new, bool, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: logical_not(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_not(const libdl_tensor *input,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_logical_not into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_not_into(const libdl_tensor *input,
                                                              libdl_tensor *dst);

/** Whether both elements are not zero.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: logical_and(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_and(const libdl_tensor *input,
                                                         LIBDL_NUMBER const libdl_tensor *other,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_logical_and into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_and_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Whether either element is not zero.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: logical_or(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_or(const libdl_tensor *input,
                                                        LIBDL_NUMBER const libdl_tensor *other,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_logical_or into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_or_into(const libdl_tensor *input,
                                                             LIBDL_NUMBER const libdl_tensor *other,
                                                             libdl_tensor *dst);

/** Whether exactly one of the elements is not zero.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: logical_xor(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_xor(const libdl_tensor *input,
                                                         LIBDL_NUMBER const libdl_tensor *other,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_logical_xor into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_xor_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** The complement of every bit; bool: logical not.
 *
 *  input  integers or bool
 *  out    new, input's shape and dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: DTYPE (floating or complex).
 *  Threads: concurrent-read.
 *  Python: bitwise_not(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_not(const libdl_tensor *input,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_not into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_not_into(const libdl_tensor *input,
                                                              libdl_tensor *dst);

/** Bit by bit: both.
 *
 *  input, other  integers or bool
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (floating or complex).
 *  Threads: concurrent-read.
 *  Python: bitwise_and(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_and(const libdl_tensor *input,
                                                         LIBDL_NUMBER const libdl_tensor *other,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_and into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_and_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Bit by bit: either.
 *
 *  input, other  integers or bool
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (floating or complex).
 *  Threads: concurrent-read.
 *  Python: bitwise_or(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_or(const libdl_tensor *input,
                                                        LIBDL_NUMBER const libdl_tensor *other,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_or into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_or_into(const libdl_tensor *input,
                                                             LIBDL_NUMBER const libdl_tensor *other,
                                                             libdl_tensor *dst);

/** Bit by bit: exactly one.
 *
 *  input, other  integers or bool
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (floating or complex).
 *  Threads: concurrent-read.
 *  Python: bitwise_xor(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_xor(const libdl_tensor *input,
                                                         LIBDL_NUMBER const libdl_tensor *other,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_xor into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_xor_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Bits moved up: y = input * 2 ^ other; 0 if other is negative or the width or more.
 *
 *  input, other  integers; bool only beside one, to which it is promoted
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (not integers).
 *  Threads: concurrent-read.
 *  Python: bitwise_left_shift(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_left_shift(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other,
    LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_left_shift into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_left_shift_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Bits moved down: y = floor(input / 2 ^ other); signed input fills with its sign.
 *
 *  input, other  integers; bool only beside one, to which it is promoted
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (not integers).
 *  Threads: concurrent-read.
 *  Python: bitwise_right_shift(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_right_shift(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other,
    LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_right_shift into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_right_shift_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

LIBDL_END

#endif
