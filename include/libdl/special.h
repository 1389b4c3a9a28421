/* SPDX-License-Identifier: Apache-2.0 */

/** Special functions and inverse trigonometry, element by element.
 *
 *  The device that holds the elements computes them, mostly in double precision whatever their
 *  dtype, and rounds to it: on the CPU results of float32 are within 0.51 units in the last place,
 *  and so are those of 16 bits. On another device the last bits may differ. Broadcasting and result
 *  dtypes are described in <libdl/pointwise.h>. */
#ifndef LIBDL_SPECIAL_H
#define LIBDL_SPECIAL_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Complementary error function, 1 - erf(input), accurate where that is small.
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: erfc(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_erfc(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_erfc into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_erfc_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Inverse of the error function: erf(y) = input.
 *
 *  input  real; to float; NaN outside of -1 to 1
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: erfinv(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_erfinv(const libdl_tensor *input,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_erfinv into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_erfinv_into(const libdl_tensor *input,
                                                         libdl_tensor *dst);

/** Scaled complementary error function, exp(input ^ 2) erfc(input).
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: erfcx(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_erfcx(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_erfcx into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_erfcx_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Logarithm of the magnitude of the gamma function.
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: lgamma(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lgamma(const libdl_tensor *input,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_lgamma into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lgamma_into(const libdl_tensor *input,
                                                         libdl_tensor *dst);

/** Derivative of the logarithm of the gamma function.
 *
 *  input  real; to float; -inf at 0, NaN at negative integers
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: digamma(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_digamma(const libdl_tensor *input,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_digamma into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_digamma_into(const libdl_tensor *input,
                                                          libdl_tensor *dst);

/** Modified Bessel function of the first kind of order 0.
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: i0(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_i0(const libdl_tensor *input,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_i0 into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_i0_into(const libdl_tensor *input, libdl_tensor *dst);

/** i0 times exp(-|input|).
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: i0e(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_i0e(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_i0e into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_i0e_into(const libdl_tensor *input, libdl_tensor *dst);

/** Modified Bessel function of the first kind of order 1.
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: i1(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_i1(const libdl_tensor *input,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_i1 into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_i1_into(const libdl_tensor *input, libdl_tensor *dst);

/** i1 times exp(-|input|).
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: i1e(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_i1e(const libdl_tensor *input,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_i1e into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_i1e_into(const libdl_tensor *input, libdl_tensor *dst);

/** Distribution function of the standard normal distribution.
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: ndtr(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ndtr(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_ndtr into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ndtr_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Inverse of ndtr, the quantiles of the standard normal distribution.
 *
 *  input  real; to float; NaN outside of 0 to 1
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: ndtri(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ndtri(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_ndtri into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ndtri_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Logarithm of ndtr, accurate in both tails.
 *
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: log_ndtr(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log_ndtr(const libdl_tensor *input,
                                                      LIBDL_NEW libdl_tensor **out);

/** libdl_log_ndtr into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log_ndtr_into(const libdl_tensor *input,
                                                           libdl_tensor *dst);

/** Hyperbolic sine.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: sinh(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sinh(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_sinh into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sinh_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Hyperbolic cosine.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: cosh(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cosh(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_cosh into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cosh_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Inverse of the sine.
 *
 *  input  any; to float; real: NaN outside of -1 to 1
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: asin(input) [function, method, inplace]
 *  Python: arcsin(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_asin(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_asin into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_asin_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Inverse of the cosine.
 *
 *  input  any; to float; real: NaN outside of -1 to 1
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: acos(input) [function, method, inplace]
 *  Python: arccos(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_acos(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_acos into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_acos_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Inverse of the tangent.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: atan(input) [function, method, inplace]
 *  Python: arctan(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_atan(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_atan into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_atan_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Inverse of the hyperbolic sine.
 *
 *  input  any; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: asinh(input) [function, method, inplace]
 *  Python: arcsinh(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_asinh(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_asinh into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_asinh_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Inverse of the hyperbolic cosine.
 *
 *  input  any; to float; real: NaN below 1
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: acosh(input) [function, method, inplace]
 *  Python: arccosh(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_acosh(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_acosh into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_acosh_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** Inverse of the hyperbolic tangent.
 *
 *  input  any; to float; real: NaN outside of -1 to 1
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: atanh(input) [function, method, inplace]
 *  Python: arctanh(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_atanh(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_atanh into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_atanh_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** The n-th derivative of digamma.
 *
 *  n      the order, 0 (digamma itself) or more
 *  input  real; to float
 *  out    new, input's shape, its dtype after that conversion
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex), VALUE (n is negative).
 *  Threads: concurrent-read.
 *  Python: polygamma(n, input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_polygamma(int64_t n, const libdl_tensor *input,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_polygamma into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_polygamma_into(int64_t n, const libdl_tensor *input,
                                                            libdl_tensor *dst);

/** Angle of the point (other, input) from the first axis, in radians from -pi to pi.
 *
 *  input  real; to float
 *  other  likewise; promoted and broadcast with input
 *  out    new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: atan2(input, other) [function, method, inplace]
 *  Python: arctan2(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_atan2(const libdl_tensor *input,
                                                   const libdl_tensor *other,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_atan2 into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_atan2_into(const libdl_tensor *input,
                                                        const libdl_tensor *other,
                                                        libdl_tensor *dst);

/** Length of the vector (input, other), without overflow on the way.
 *
 *  input  real; to float
 *  other  likewise; promoted and broadcast with input
 *  out    new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: hypot(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hypot(const libdl_tensor *input,
                                                   const libdl_tensor *other,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_hypot into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hypot_into(const libdl_tensor *input,
                                                        const libdl_tensor *other,
                                                        libdl_tensor *dst);

/** The regularised lower incomplete gamma function P(a, x) of order a = input at x = other: the
 *  integral of t^(a - 1) exp(-t) from 0 to x, divided by gamma(a). NaN where one is negative.
 *
 *  input  real; to float
 *  other  likewise; promoted and broadcast with input
 *  out    new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode, for other; UNSUPPORTED for input.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: igamma(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_igamma(const libdl_tensor *input,
                                                    const libdl_tensor *other,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_igamma into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_igamma_into(const libdl_tensor *input,
                                                         const libdl_tensor *other,
                                                         libdl_tensor *dst);

/** The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x); see libdl_igamma.
 *
 *  input  real; to float
 *  other  likewise; promoted and broadcast with input
 *  out    new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode, for other; UNSUPPORTED for input.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: igammac(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_igammac(const libdl_tensor *input,
                                                     const libdl_tensor *other,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_igammac into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_igammac_into(const libdl_tensor *input,
                                                          const libdl_tensor *other,
                                                          libdl_tensor *dst);

/** log(exp(input) + exp(other)), without overflow.
 *
 *  input  any; integers to float
 *  other  likewise; promoted and broadcast with input
 *  out    new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast).
 *  Threads: concurrent-read.
 *  Python: logaddexp(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logaddexp(const libdl_tensor *input,
                                                       const libdl_tensor *other,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_logaddexp into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logaddexp_into(const libdl_tensor *input,
                                                            const libdl_tensor *other,
                                                            libdl_tensor *dst);

/** log2(2 ^ input + 2 ^ other), without overflow.
 *
 *  input  real; to float
 *  other  likewise; promoted and broadcast with input
 *  out    new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: logaddexp2(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logaddexp2(const libdl_tensor *input,
                                                        const libdl_tensor *other,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_logaddexp2 into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logaddexp2_into(const libdl_tensor *input,
                                                             const libdl_tensor *other,
                                                             libdl_tensor *dst);

/** The inverse of sigmoid: y = log(x / (1 - x)), of x limited to eps and 1 - eps.
 *
 *  input  any; to float
 *  eps    from 0 to 1/2; NULL: x is not limited, and y is NaN beyond 0 and 1
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: none.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: logit(input, eps=None) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logit(const libdl_tensor *input,
                                                   LIBDL_NULLABLE const double *eps,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_logit into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logit_into(const libdl_tensor *input,
                                                        LIBDL_NULLABLE const double *eps,
                                                        libdl_tensor *dst);

/** y = input log(other), and 0 where input is 0, unless other is NaN.
 *
 *  input  any, or a number
 *  other  any, or a number; one of both is a tensor; to float
 *  out    new, of the common dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (they do not broadcast), TYPE (two numbers).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: xlogy(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_xlogy(LIBDL_NUMBER const libdl_tensor *input,
                                                   LIBDL_NUMBER const libdl_tensor *other,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_xlogy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_xlogy_into(LIBDL_NUMBER const libdl_tensor *input,
                                                        LIBDL_NUMBER const libdl_tensor *other,
                                                        libdl_tensor *dst);

/** y = input log(1 + other), and 0 where input is 0, unless other is NaN.
 *
 *  input  any, or a number
 *  other  any, or a number; one of both is a tensor; to float
 *  out    new, of the common dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (they do not broadcast), TYPE (two numbers).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: xlog1py(input, other) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_xlog1py(LIBDL_NUMBER const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_xlog1py into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_xlog1py_into(LIBDL_NUMBER const libdl_tensor *input,
                                                          LIBDL_NUMBER const libdl_tensor *other,
                                                          libdl_tensor *dst);

/** y = sin(pi input) / (pi input), and 1 at 0.
 *
 *  input  any; to float
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: none.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: sinc(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sinc(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_sinc into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sinc_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** The logarithm of the multivariate gamma function of order p (Wikipedia, Multivariate gamma
 *  function): y = p (p - 1) / 4 log(pi) + the sum of lgamma(input - i / 2) for i from 0 to p - 1.
 *
 *  input  real; to float
 *  p      1 or more
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (p is less than 1), DTYPE (input is complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: mvlgamma(input, p) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mvlgamma(const libdl_tensor *input, int64_t p,
                                                      LIBDL_NEW libdl_tensor **out);

/** libdl_mvlgamma into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mvlgamma_into(const libdl_tensor *input, int64_t p,
                                                           libdl_tensor *dst);

LIBDL_END

#endif
