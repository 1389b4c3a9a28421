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
 *  Kind: elementwise.
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

/** Limits: y = min_val where input is below it, max_val where input is above that, else input.
 *
 *  input    real, not bool
 *  min_val  the least result; for integers rounded towards 0
 *  max_val  the largest, likewise; >= min_val
 *  out      new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; 0 at both limits, and where input is NaN.
 *  Errors: DTYPE (bool or complex), VALUE (min_val is above max_val), OVERFLOW (a number beyond
 *  input's range, of 16-bit inputs float32's).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: hardtanh(input, min_val=-1.0, max_val=1.0) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hardtanh(const libdl_tensor *input, double min_val,
                                                      double max_val, LIBDL_NEW libdl_tensor **out);

/** libdl_hardtanh into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hardtanh_into(const libdl_tensor *input,
                                                           double min_val, double max_val,
                                                           libdl_tensor *dst);

/** Piecewise linear logistic function: y = (input + 3) / 6, limited to 0 to 1.
 *
 *  input  floating
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; 0 at -3 and 3, and where input is NaN.
 *  Errors: DTYPE (not floating).
 *  Threads: concurrent-read.
 *  Python: hardsigmoid(input) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hardsigmoid(const libdl_tensor *input,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_hardsigmoid into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hardsigmoid_into(const libdl_tensor *input,
                                                              libdl_tensor *dst);

/** y = input * hardsigmoid(input).
 *
 *  input  floating
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; 0 at -3, 1 at 3.
 *  Errors: DTYPE (not floating).
 *  Threads: concurrent-read.
 *  Python: hardswish(input) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hardswish(const libdl_tensor *input,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_hardswish into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hardswish_into(const libdl_tensor *input,
                                                            libdl_tensor *dst);

/** Self-normalising unit: y = scale * elu(input, alpha), with alpha = 1.67326 and scale = 1.05070.
 *
 *  input  floating
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; scale * alpha at 0.
 *  Errors: DTYPE (not floating).
 *  Threads: concurrent-read.
 *  Python: selu(input) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_selu(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_selu into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_selu_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Exponential linear unit with slope 1 at 0: y = input where it is not below 0, else
 *  alpha * (exp(input / alpha) - 1).
 *
 *  input  floating
 *  alpha  the limit at -infinity, negated; not 0
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (not floating), VALUE (alpha is 0), OVERFLOW (alpha is too large for float32,
 *  unless input is float64).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: celu(input, alpha=1.0) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_celu(const libdl_tensor *input, double alpha,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_celu into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_celu_into(const libdl_tensor *input, double alpha,
                                                       libdl_tensor *dst);

/** y = input * tanh(log(1 + exp(input))).
 *
 *  input  floating
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (not floating).
 *  Threads: concurrent-read.
 *  Python: mish(input) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mish(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_mish into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mish_into(const libdl_tensor *input,
                                                       libdl_tensor *dst);

/** Soft shrinkage: y = input - lambd where input is above lambd, input + lambd where it is below
 *  -lambd, else 0; NaN stays NaN.
 *
 *  input  floating
 *  lambd  >= 0
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; 0 from -lambd to lambd and where input is NaN.
 *  Errors: DTYPE (not floating), VALUE (lambd is negative or NaN), OVERFLOW (lambd is too large for
 *  float32, unless input is float64).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: softshrink(input, lambd=0.5) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_softshrink(const libdl_tensor *input, double lambd,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_softshrink into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_softshrink_into(const libdl_tensor *input,
                                                             double lambd, libdl_tensor *dst);

/** Gated linear unit: y = a * sigmoid(b), where a and b are input's halves along dim.
 *
 *  input  floating, ndim >= 1; dim's size is even
 *  dim    from -ndim to ndim - 1
 *  out    new, input's shape with half of dim
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (0-d, or an odd size), INDEX (dim out of range), DTYPE (not floating).
 *  Threads: concurrent-read.
 *  Kind: opaque.
 *  Python: glu(input, dim=-1) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_glu(const libdl_tensor *input, int32_t dim,
                                                 LIBDL_NEW libdl_tensor **out);

/** Rectifier with a learned slope: y = input where it is above 0, else weight * input.
 *
 *  input   floating, [n, c, ...], or any shape with one weight
 *  weight  floating, [c], or 0-d or [1]: one for all
 *  out     new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (not floating, or differing dtypes), SHAPE (weight has two dimensions, or as many
 *  elements as input has channels, dimension 1 or for one dimension 1, does not).
 *  Threads: concurrent-read.
 *  Kind: opaque.
 *  Autocast: lower.
 *  Python: prelu(input, weight) [function, method, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_prelu(const libdl_tensor *input,
                                                   const libdl_tensor *weight,
                                                   LIBDL_NEW libdl_tensor **out);

/** Leaky rectifier with random slopes: y = input where it is above 0, else input times a number
 *  drawn evenly from lower to upper, for each element; without training, times their mean.
 *
 *  input      floating
 *  lower      the least slope, finite
 *  upper      the largest, finite; not below lower
 *  training   whether slopes are drawn
 *  generator  the source; NULL: the device's default
 *  out        new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (not floating), VALUE (lower or upper), DEVICE (the generator's differs).
 *  Threads: concurrent-read.
 *  Kind: opaque.
 *  Python: rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, *, generator=None)
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rrelu(const libdl_tensor *input, double lower,
                                                   double upper, libdl_bool training,
                                                   LIBDL_NULLABLE libdl_generator *generator,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_rrelu into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rrelu_into(const libdl_tensor *input, double lower,
                                                        double upper, libdl_bool training,
                                                        LIBDL_NULLABLE libdl_generator *generator,
                                                        libdl_tensor *dst);

/** The element, limited to 0 to 6: y = min(max(input, 0), 6).
 *
 *  input  real but bool
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; 0 outside of 0 to 6.
 *  Errors: DTYPE (input is complex or bool).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: relu6(input) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_relu6(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_relu6 into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_relu6_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** y = input / (1 + |input|).
 *
 *  input  any; to float
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: none.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: softsign(input) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_softsign(const libdl_tensor *input,
                                                      LIBDL_NEW libdl_tensor **out);

/** y = input - tanh(input).
 *
 *  input  any; to float
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (input is bool).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: tanhshrink(input) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tanhshrink(const libdl_tensor *input,
                                                        LIBDL_NEW libdl_tensor **out);

/** The element where it is above a threshold, elsewhere one number: y = input > threshold ? input :
 *  value.
 *
 *  input      real
 *  threshold  a real number; beside integers and bool as input's dtype holds it
 *  value      a real number, likewise
 *  out        new, input's shape and dtype
 *
 *  Gradient: any order, forward mode; 0 where the element is replaced.
 *  Errors: DTYPE (input, threshold or value is complex), OVERFLOW (input has integers, of which
 *  threshold or value is none).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: threshold(input, threshold, value) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_threshold(const libdl_tensor *input,
                                                       LIBDL_NUMBER const libdl_tensor *threshold,
                                                       LIBDL_NUMBER const libdl_tensor *value,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_threshold into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_threshold_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *threshold,
    LIBDL_NUMBER const libdl_tensor *value, libdl_tensor *dst);

LIBDL_END

#endif
