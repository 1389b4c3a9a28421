/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that draw from other distributions than uniform and normal ones.
 *
 *  They are computed by the host in double precision, whatever the device, and copied there: the
 *  same seed gives the same numbers on every device and for every number of threads. Each element
 *  takes one block of 128 bits of the generator (<libdl/random.h>); an algorithm that rejects draws
 *  again from the block's own further numbers. */
#ifndef LIBDL_SAMPLING_H
#define LIBDL_SAMPLING_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Indices drawn with the probabilities that the rows of input are proportional to.
 *
 *  input        floating, [n] or [m, n]: weights >= 0, of positive sum in each row
 *  num_samples  how many of each row, >= 1
 *  replacement  whether an index may be drawn more than once
 *  generator    the source; NULL: the device's default
 *  out          new, int64, [num_samples] or [m, num_samples]
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (ndim is not 1 or 2, or n is 0), DTYPE (not floating), VALUE (num_samples is below
 *  1, or without replacement above the number of positive weights; a weight is negative or not
 *  finite, or all are 0), DEVICE (the generator's differs).
 *  Threads: concurrent-read.
 *  Python: multinomial(input, num_samples, replacement=False, *, generator=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_multinomial(const libdl_tensor *input,
                                                         int64_t num_samples,
                                                         libdl_bool replacement,
                                                         LIBDL_NULLABLE libdl_generator *generator,
                                                         LIBDL_NEW libdl_tensor **out);

/** Poisson numbers, whose means are the elements of input.
 *
 *  input      floating, each element >= 0
 *  generator  the source; NULL: the device's default
 *  out        new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (not floating), VALUE (an element is negative or NaN), DEVICE (the generator's
 *  differs).
 *  Threads: concurrent-read.
 *  Python: poisson(input, generator=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_poisson(const libdl_tensor *input,
                                                     LIBDL_NULLABLE libdl_generator *generator,
                                                     LIBDL_NEW libdl_tensor **out);

/** How many of count trials succeed, each with probability prob.
 *
 *  count      floating, each element >= 0; fractions are dropped
 *  prob       count's dtype, each element from 0 to 1; broadcast with count
 *  generator  the source; NULL: the device's default
 *  out        new, the broadcast shape, count's dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (not floating, or they differ), SHAPE (they do not broadcast), VALUE (a number is
 *  out of range), DEVICE (the generator's differs).
 *  Threads: concurrent-read.
 *  Python: binomial(count, prob, generator=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_binomial(const libdl_tensor *count,
                                                      const libdl_tensor *prob,
                                                      LIBDL_NULLABLE libdl_generator *generator,
                                                      LIBDL_NEW libdl_tensor **out);

/** Gamma numbers of scale 1, whose shape parameters are the elements of input.
 *
 *  input      floating, each element >= 0; of 0 the least positive number is drawn
 *  generator  the source; NULL: the device's default
 *  out        new, input's shape and dtype, each element > 0
 *
 *  Gradient: once, forward mode, by implicit reparametrization (Figurnov, Mohamed, Mnih 2018).
 *  Errors: DTYPE (not floating), VALUE (an element is negative or not finite), DEVICE (the
 *  generator's differs).
 *  Threads: concurrent-read.
 *  Python: standard_gamma(input, generator=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_standard_gamma(
    const libdl_tensor *input, LIBDL_NULLABLE libdl_generator *generator,
    LIBDL_NEW libdl_tensor **out);

/** Logarithms of gamma numbers of scale 1: of what libdl_standard_gamma draws with the same
 *  generator, also where that itself would underflow.
 *
 *  input      floating, each element >= 0; of 0 the lowest number is drawn
 *  generator  the source; NULL: the device's default
 *  out        new, input's shape and dtype, each element finite
 *
 *  Gradient: once, forward mode, as of libdl_standard_gamma.
 *  Errors: DTYPE (not floating), VALUE (an element is negative or not finite), DEVICE (the
 *  generator's differs).
 *  Threads: concurrent-read.
 *  Python: standard_log_gamma(input, generator=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_standard_log_gamma(
    const libdl_tensor *input, LIBDL_NULLABLE libdl_generator *generator,
    LIBDL_NEW libdl_tensor **out);

/** Overwrites dst with exponential numbers of rate lambd.
 *
 *  lambd      the rate, > 0
 *  generator  the source; NULL: the device's default
 *  dst        floating; it is written
 *
 *  Gradient: zero everywhere; dst's history ends.
 *  Errors: VALUE (lambd), DTYPE (dst is not floating), DEVICE (the generator's differs).
 *  Threads: exclusive.
 *  Python: exponential_(dst, lambd=1.0, *, generator=None) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_exponential_into(
    double lambd, LIBDL_NULLABLE libdl_generator *generator, libdl_tensor *dst);

/** Overwrites dst with the number of trials up to the first success.
 *
 *  p          the probability of success, above 0 and below 1
 *  generator  the source; NULL: the device's default
 *  dst        real, but not bool; it is written
 *
 *  Gradient: zero everywhere; dst's history ends.
 *  Errors: VALUE (p), DTYPE (dst is complex or bool), DEVICE (the generator's differs).
 *  Threads: exclusive.
 *  Python: geometric_(dst, p, *, generator=None) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_geometric_into(
    double p, LIBDL_NULLABLE libdl_generator *generator, libdl_tensor *dst);

/** Overwrites dst with Cauchy numbers.
 *
 *  median     the middle
 *  sigma      half the width at half height, > 0
 *  generator  the source; NULL: the device's default
 *  dst        floating; it is written
 *
 *  Gradient: zero everywhere; dst's history ends.
 *  Errors: VALUE (sigma), DTYPE (dst is not floating), DEVICE (the generator's differs).
 *  Threads: exclusive.
 *  Python: cauchy_(dst, median=0.0, sigma=1.0, *, generator=None) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cauchy_into(double median, double sigma,
                                                         LIBDL_NULLABLE libdl_generator *generator,
                                                         libdl_tensor *dst);

/** Overwrites dst with numbers whose logarithms are normal.
 *
 *  mean       of the logarithms
 *  std        their standard deviation, > 0
 *  generator  the source; NULL: the device's default
 *  dst        floating; it is written
 *
 *  Gradient: zero everywhere; dst's history ends.
 *  Errors: VALUE (std), DTYPE (dst is not floating), DEVICE (the generator's differs).
 *  Threads: exclusive.
 *  Python: log_normal_(dst, mean=1.0, std=2.0, *, generator=None) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log_normal_into(
    double mean, double std, LIBDL_NULLABLE libdl_generator *generator, libdl_tensor *dst);

LIBDL_END

#endif
