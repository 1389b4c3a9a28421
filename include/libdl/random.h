/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that draw random numbers.
 *
 *  The bits come from Philox4x32-10 and depend only on the generator's seed and offset and on the
 *  element's row-major index: they are the same on every device, for every number of threads and in
 *  every language. If generator is NULL, the device's default generator is used, whose initial seed
 *  differs in each process (libdl_generator_default). Each call advances the generator by the
 *  blocks of 128 bits that it uses: one for every four elements, or for every two if an element
 *  takes 64 bits. Calls on one generator from several threads never use the same numbers. */
#ifndef LIBDL_RANDOM_H
#define LIBDL_RANDOM_H

#include <libdl/abi.h>
#include <libdl/device.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Uniform numbers from 0 (included) to 1 (excluded).
 *
 *  shape      sizes, each >= 0
 *  generator  the source; NULL: the device's default
 *  dtype      floating or complex; NONE: the default floating dtype
 *  device     where; NULL: the default device
 *  out        new, contiguous; complex: both parts are drawn
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (a negative size or more than 64 dimensions), OVERFLOW (the size in bytes exceeds
 *  63 bits), DTYPE (not floating or complex), DEVICE (no such device, or the generator's differs).
 *  Threads: concurrent-read.
 *  Python: rand(*size, generator=None, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rand(const int64_t *shape, int32_t ndim,
                                                  LIBDL_NULLABLE libdl_generator *generator,
                                                  libdl_dtype dtype,
                                                  LIBDL_NULLABLE const libdl_device *device,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_rand into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rand_into(const int64_t *shape, int32_t ndim,
                                                       LIBDL_NULLABLE libdl_generator *generator,
                                                       libdl_dtype dtype,
                                                       LIBDL_NULLABLE const libdl_device *device,
                                                       libdl_tensor *dst);

/** Normal numbers of mean 0 and variance 1.
 *
 *  shape      sizes, each >= 0
 *  generator  the source; NULL: the device's default
 *  dtype      floating or complex; NONE: the default floating dtype
 *  device     where; NULL: the default device
 *  out        new, contiguous; complex: each part has variance 1/2
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (a negative size or more than 64 dimensions), OVERFLOW (the size in bytes exceeds
 *  63 bits), DTYPE (not floating or complex), DEVICE (no such device, or the generator's differs).
 *  Threads: concurrent-read.
 *  Python: randn(*size, generator=None, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_randn(const int64_t *shape, int32_t ndim,
                                                   LIBDL_NULLABLE libdl_generator *generator,
                                                   libdl_dtype dtype,
                                                   LIBDL_NULLABLE const libdl_device *device,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_randn into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_randn_into(const int64_t *shape, int32_t ndim,
                                                        LIBDL_NULLABLE libdl_generator *generator,
                                                        libdl_dtype dtype,
                                                        LIBDL_NULLABLE const libdl_device *device,
                                                        libdl_tensor *dst);

/** Uniform integers from low (included) to high (excluded).
 *
 *  low        the least integer; NULL: 0
 *  high       above low
 *  shape      sizes, each >= 0
 *  generator  the source; NULL: the device's default
 *  dtype      integer or floating; NONE: int64. What a floating dtype does not hold is rounded to
 *             what it holds between the bounds, with a warning
 *  device     where; NULL: the default device
 *  out        new, contiguous
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (low >= high, or the dtype does not hold them), SHAPE (a negative size or more
 *  than 64 dimensions), OVERFLOW (the size in bytes exceeds 63 bits), DTYPE (complex), DEVICE (no
 *  such device, or the generator's differs).
 *  Threads: concurrent-read.
 *  Python: randint(high, size, *, generator=None, dtype=None, device=None) [function, leaf]
 *  Python: randint(low, high, size, *, generator=None, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_randint(
    LIBDL_NULLABLE const int64_t *low, int64_t high, const int64_t *shape, int32_t ndim,
    LIBDL_NULLABLE libdl_generator *generator, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_tensor **out);

/** libdl_randint into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_randint_into(
    LIBDL_NULLABLE const int64_t *low, int64_t high, const int64_t *shape, int32_t ndim,
    LIBDL_NULLABLE libdl_generator *generator, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, libdl_tensor *dst);

/** The integers from 0 to n - 1 in random order.
 *
 *  n          how many, >= 0
 *  generator  the source; NULL: the device's default
 *  dtype      a real dtype that holds n - 1; NONE: int64
 *  device     where; NULL: the default device
 *  out        new, 1-d of n elements
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (n is negative, or the dtype does not hold n - 1), DTYPE (complex or bool),
 *  DEVICE (no such device, or the generator's differs).
 *  Threads: concurrent-read.
 *  Python: randperm(n, *, generator=None, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_randperm(int64_t n,
                                                      LIBDL_NULLABLE libdl_generator *generator,
                                                      libdl_dtype dtype,
                                                      LIBDL_NULLABLE const libdl_device *device,
                                                      LIBDL_NEW libdl_tensor **out);

/** libdl_randperm into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_randperm_into(
    int64_t n, LIBDL_NULLABLE libdl_generator *generator, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, libdl_tensor *dst);

/** Uniform numbers from 0 (included) to 1 (excluded), in input's shape.
 *
 *  input      any; only its metadata is read
 *  generator  the source; NULL: the device's default
 *  dtype      floating or complex; NONE: input's
 *  device     where; NULL: input's
 *  out        new, with input's memory order of dimensions; complex: both parts are drawn
 *
 *  Gradient: none; the result carries no history.
 *  Errors: DTYPE (not floating or complex), DEVICE (no such device, or the generator's differs).
 *  Threads: concurrent-read.
 *  Python: rand_like(input, *, generator=None, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rand_like(const libdl_tensor *input,
                                                       LIBDL_NULLABLE libdl_generator *generator,
                                                       libdl_dtype dtype,
                                                       LIBDL_NULLABLE const libdl_device *device,
                                                       LIBDL_NEW libdl_tensor **out);

/** Normal numbers of mean 0 and variance 1, in input's shape.
 *
 *  input      any; only its metadata is read
 *  generator  the source; NULL: the device's default
 *  dtype      floating or complex; NONE: input's
 *  device     where; NULL: input's
 *  out        new, with input's memory order of dimensions; complex: each part has variance 1/2
 *
 *  Gradient: none; the result carries no history.
 *  Errors: DTYPE (not floating or complex), DEVICE (no such device, or the generator's differs).
 *  Threads: concurrent-read.
 *  Python: randn_like(input, *, generator=None, dtype=None, device=None) [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_randn_like(const libdl_tensor *input,
                                                        LIBDL_NULLABLE libdl_generator *generator,
                                                        libdl_dtype dtype,
                                                        LIBDL_NULLABLE const libdl_device *device,
                                                        LIBDL_NEW libdl_tensor **out);

/** Uniform integers from low (included) to high (excluded), in input's shape.
 *
 *  input      any; only its metadata is read
 *  low        the least integer; NULL: 0
 *  high       above low
 *  generator  the source; NULL: the device's default
 *  dtype      integer or floating; NONE: input's
 *  device     where; NULL: input's
 *  out        new, with input's memory order of dimensions
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (low >= high, or the dtype does not hold them), DTYPE (complex), DEVICE (no such
 *  device, or the generator's differs).
 *  Threads: concurrent-read.
 *  Python: randint_like(input, high, *, generator=None, dtype=None, device=None) [function, leaf]
 *  Python: randint_like(input, low, high, *, generator=None, dtype=None, device=None)
 *    [function, leaf]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_randint_like(
    const libdl_tensor *input, LIBDL_NULLABLE const int64_t *low, int64_t high,
    LIBDL_NULLABLE libdl_generator *generator, libdl_dtype dtype,
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_tensor **out);

/** Ones and zeros: 1 with the probability given by the element of input.
 *
 *  input      floating, each element from 0 to 1
 *  p          one probability for all elements, from 0 to 1, input then being read for its shape
 *             and dtype only; NULL: the elements of input
 *  generator  the source; NULL: the device's default
 *  out        new, input's shape and dtype
 *
 *  Gradient: zero everywhere, any order, forward mode.
 *  Errors: DTYPE (input is not floating, and p is NULL), VALUE (a probability is not from 0 to 1),
 *  DEVICE (the generator's differs).
 *  Threads: concurrent-read.
 *  Python: bernoulli(input, p=None, *, generator=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bernoulli(const libdl_tensor *input,
                                                       LIBDL_NULLABLE const double *p,
                                                       LIBDL_NULLABLE libdl_generator *generator,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_bernoulli into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bernoulli_into(
    const libdl_tensor *input, LIBDL_NULLABLE const double *p,
    LIBDL_NULLABLE libdl_generator *generator, libdl_tensor *dst);

/** Overwrites dst with ones and zeros: 1 with probability p.
 *
 *  dst        any dtype; it is written
 *  p          probabilities from 0 to 1 that broadcast to dst, tensor or number
 *  generator  the source; NULL: the device's default
 *
 *  Gradient: zero everywhere; dst's history ends.
 *  Errors: VALUE (a probability is not from 0 to 1), SHAPE (p does not broadcast to dst), DTYPE (p
 *  is not floating), DEVICE (the generator's differs).
 *  Threads: exclusive.
 *  Python: bernoulli_(dst, p=0.5, *, generator=None) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bernoulli_fill_into(
    LIBDL_NUMBER const libdl_tensor *p, LIBDL_NULLABLE libdl_generator *generator,
    libdl_tensor *dst);

/** Overwrites dst with uniform numbers from low (included) to high (excluded).
 *
 *  low        the least number
 *  high       not below low
 *  generator  the source; NULL: the device's default
 *  dst        floating or complex; it is written
 *
 *  Gradient: zero everywhere; dst's history ends.
 *  Errors: VALUE (high < low, or either is not finite), DTYPE (dst is not floating or complex),
 *  DEVICE (the generator's differs).
 *  Threads: exclusive.
 *  Python: uniform_(dst, low=0.0, high=1.0, *, generator=None) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_uniform_into(double low, double high,
                                                          LIBDL_NULLABLE libdl_generator *generator,
                                                          libdl_tensor *dst);

/** Overwrites dst with normal numbers.
 *
 *  mean       the expected value
 *  std        the standard deviation, >= 0
 *  generator  the source; NULL: the device's default
 *  dst        floating or complex; it is written
 *
 *  Gradient: zero everywhere; dst's history ends.
 *  Errors: VALUE (std is negative), DTYPE (dst is not floating or complex), DEVICE (the
 *  generator's differs).
 *  Threads: exclusive.
 *  Python: normal_(dst, mean=0.0, std=1.0, *, generator=None) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_normal_into(double mean, double std,
                                                         LIBDL_NULLABLE libdl_generator *generator,
                                                         libdl_tensor *dst);

LIBDL_END

#endif
