/* SPDX-License-Identifier: Apache-2.0 */

/** Variants of libdl_dropout (nn.h). */
#ifndef LIBDL_DROPOUT_H
#define LIBDL_DROPOUT_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Whole channels set to zero with probability p, the others multiplied by 1 / (1 - p).
 *
 *  input      floating or complex, ndim >= 2: [n, c, ...]
 *  p          from 0 to 1
 *  training   false: input is copied unchanged
 *  generator  the source; NULL: the device's default
 *  out        new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (fewer than two dimensions), VALUE (p is not from 0 to 1), DTYPE (neither floating
 *  nor complex), DEVICE (the generator's differs).
 *  Threads: concurrent-read.
 *  Python: feature_dropout(input, p, train) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_feature_dropout(
    const libdl_tensor *input, double p, libdl_bool training,
    LIBDL_NULLABLE libdl_generator *generator, LIBDL_NEW libdl_tensor **out);

/** libdl_feature_dropout into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_feature_dropout_into(
    const libdl_tensor *input, double p, libdl_bool training,
    LIBDL_NULLABLE libdl_generator *generator, libdl_tensor *dst);

/** Elements set to -1.7581, the limit of libdl_selu, with probability p; all are then scaled and
 *  moved so that a mean of 0 and a variance of 1 stay what they are.
 *
 *  input      floating or complex
 *  p          from 0 to 1; with 1 the result is 0
 *  training   false: input is copied unchanged
 *  generator  the source; NULL: the device's default
 *  out        new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (p is not from 0 to 1), DTYPE (neither floating nor complex), DEVICE (the
 *  generator's differs).
 *  Threads: concurrent-read.
 *  Python: alpha_dropout(input, p, train) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_alpha_dropout(
    const libdl_tensor *input, double p, libdl_bool training,
    LIBDL_NULLABLE libdl_generator *generator, LIBDL_NEW libdl_tensor **out);

/** libdl_alpha_dropout into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_alpha_dropout_into(
    const libdl_tensor *input, double p, libdl_bool training,
    LIBDL_NULLABLE libdl_generator *generator, libdl_tensor *dst);

/** libdl_alpha_dropout of whole channels.
 *
 *  input      floating or complex, ndim >= 2: [n, c, ...]
 *  p          from 0 to 1; with 1 the result is 0
 *  training   false: input is copied unchanged
 *  generator  the source; NULL: the device's default
 *  out        new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (fewer than two dimensions), VALUE (p is not from 0 to 1), DTYPE (neither floating
 *  nor complex), DEVICE (the generator's differs).
 *  Threads: concurrent-read.
 *  Python: feature_alpha_dropout(input, p, train) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_feature_alpha_dropout(
    const libdl_tensor *input, double p, libdl_bool training,
    LIBDL_NULLABLE libdl_generator *generator, LIBDL_NEW libdl_tensor **out);

/** libdl_feature_alpha_dropout into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_feature_alpha_dropout_into(
    const libdl_tensor *input, double p, libdl_bool training,
    LIBDL_NULLABLE libdl_generator *generator, libdl_tensor *dst);

LIBDL_END

#endif
