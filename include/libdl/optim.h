/* SPDX-License-Identifier: Apache-2.0 */

/** Optimizer steps over lists of tensors, each in one pass over memory, and gradient clipping.
 *
 *  Parameters are written in place, unrecorded, and their versions rise; a failed call changes
 *  nothing. Lists that a step needs have one entry for each parameter, of its shape and dtype;
 *  parameters are float32 or float64, contiguous, distinct, and not overlapping. Optional lists are
 *  NULL with count 0. The formulas are PyTorch's.
 *
 *  Errors: SHAPE, DTYPE, DEVICE, OVERLAP, READ_ONLY (a list does not fit), VALUE (a factor out of
 *  range), NULL.
 *  Threads: exclusive (params and state). */
#ifndef LIBDL_OPTIM_H
#define LIBDL_OPTIM_H

#include <libdl/abi.h>

/** Set struct_size to sizeof(the struct). Zero is the default of each member except lr. */
typedef struct libdl_sgd_options {
  uint32_t struct_size;
  libdl_bool nesterov;
  double lr;       /**< 0 or more */
  double momentum; /**< 0: no buffer is read or written */
  double dampening;
  double weight_decay;
  libdl_bool maximize;
  libdl_bool first; /**< the first step: the momentum buffers hold nothing yet and start as the
                         gradient */
} libdl_sgd_options;

typedef struct libdl_adam_options {
  uint32_t struct_size;
  libdl_bool decoupled; /**< AdamW: weight decay is applied apart from the gradient */
  double lr;            /**< 0 or more */
  double beta1;         /**< 0 <= beta1 < 1; usually 0.9 */
  double beta2;         /**< 0 <= beta2 < 1; usually 0.999 */
  double eps;           /**< 0 or more; usually 1e-8 */
  double weight_decay;
  int64_t step; /**< 1 at the first step */
  libdl_bool amsgrad;
  libdl_bool maximize;
} libdl_adam_options;

LIBDL_BEGIN

/** Stochastic gradient descent: g = grad + weight_decay p; with momentum
 *  buf = momentum buf + (1 - dampening) g and g = buf, or g + momentum buf with nesterov;
 *  p = p - lr g. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sgd_step(
    const libdl_sgd_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *const *grads, int64_t grads_count,
    LIBDL_NULLABLE libdl_tensor *const *momentum_buffers, int64_t momentum_buffers_count);

/** Adam and AdamW: m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
 *  p = p - lr / (1 - beta1^step) m / (sqrt(v) / sqrt(1 - beta2^step) + eps); amsgrad uses the
 *  largest v so far instead of v. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adam_step(
    const libdl_adam_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *const *grads, int64_t grads_count, libdl_tensor *const *exp_avgs,
    int64_t exp_avgs_count, libdl_tensor *const *exp_avg_sqs, int64_t exp_avg_sqs_count,
    LIBDL_NULLABLE libdl_tensor *const *max_exp_avg_sqs, int64_t max_exp_avg_sqs_count);

/** Scales gradients in place by min(1, max_norm / (norm + 1e-6)), where norm is the p-norm of all
 *  elements together. norm_type: 2, any positive number, or infinity. out: the norm before
 *  clipping, 0-d. error_if_nonfinite: a norm that is NaN or infinite is the error VALUE, and
 *  nothing is scaled. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clip_grad_norm(libdl_tensor *const *grads,
                                                            int64_t count, double max_norm,
                                                            double norm_type,
                                                            libdl_bool error_if_nonfinite,
                                                            LIBDL_NEW libdl_tensor **out);

/** Clamps every element of the gradients to [-clip_value, clip_value], in place. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clip_grad_value(libdl_tensor *const *grads,
                                                             int64_t count, double clip_value);

LIBDL_END

#endif
