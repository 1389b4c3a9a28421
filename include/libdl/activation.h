/* SPDX-License-Identifier: Apache-2.0 */

/** Activation functions, element by element.
 *
 *  Broadcasting and result dtypes are described in <libdl/pointwise.h>. */
#ifndef LIBDL_ACTIVATION_H
#define LIBDL_ACTIVATION_H

#include <libdl/abi.h>

LIBDL_BEGIN

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
 *  alpha  the limit at -infinity, negated; any number
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; alpha at 0, 1 where input is NaN.
 *  Errors: DTYPE (not floating), OVERFLOW (alpha is too large for float32, unless input is
 *  float64).
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

/** Hard shrinkage: y = 0 where -lambd <= input <= lambd, else input.
 *
 *  input  floating
 *  lambd  half the width of the interval that becomes 0; if negative, there is none
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; 0 where input is NaN.
 *  Errors: DTYPE (not floating), OVERFLOW (lambd is too large for float32, unless input is
 *  float64).
 *  Threads: concurrent-read.
 *  Python: hardshrink(input, lambd=0.5) [function, method, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hardshrink(const libdl_tensor *input, double lambd,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_hardshrink into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hardshrink_into(const libdl_tensor *input,
                                                             double lambd, libdl_tensor *dst);

/** Smooth rectifier: y = log(1 + exp(beta * input)) / beta.
 *
 *  input      floating
 *  beta       how sharp the bend is
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

LIBDL_END

#endif
