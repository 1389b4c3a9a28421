/* SPDX-License-Identifier: Apache-2.0 */

/** Optimizer steps over lists of tensors, each in one pass over memory, and gradient clipping.
 *
 *  Parameters are written in place, unrecorded, and their versions rise; a failed call changes
 *  nothing. Lists that a step needs have one entry for each parameter, of its shape and dtype;
 *  parameters are float32 or float64, contiguous, distinct, and not overlapping. Optional lists are
 *  NULL with count 0. The lists after the gradients are the optimizer's state, zeros before the
 *  first step if nothing else is said. The formulas, and the options' meanings, are PyTorch's: g is
 *  grad, or -grad with maximize, and then g = g + weight_decay p, or p = p - lr weight_decay p with
 *  decoupled. A sparse gradient counts as a matrix of zeros where it holds no row, also with a
 *  weight decay or momentum.
 *
 *  Fill options by libdl_NAME_options_init, which sets what PyTorch has by default, and change what
 *  shall differ. Zero is a value like others: with betas and eps of 0, Adam divides 0 by 0 where a
 *  gradient is 0. A NULL gradient is that of an unused parameter: the parameter and its state stay
 *  as they are, and clipping passes it over.
 *
 *  Errors: SHAPE, DTYPE, DEVICE, OVERLAP, READ_ONLY (a list does not fit), VALUE (a factor out of
 *  range), NULL.
 *  Threads: exclusive (params and state). */
#ifndef LIBDL_OPTIM_H
#define LIBDL_OPTIM_H

#include <libdl/abi.h>

typedef struct libdl_sgd_options {
  uint32_t struct_size;
  libdl_bool nesterov;
  double lr;       /**< 0 or more; default 0.001 */
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
  double lr;            /**< 0 or more; default 0.001 */
  double beta1;         /**< 0 <= beta1 < 1; default 0.9 */
  double beta2;         /**< 0 <= beta2 < 1; default 0.999 */
  double eps;           /**< 0 or more; default 1e-8 */
  double weight_decay;
  int64_t step; /**< 1 at the first step; default 1 */
  libdl_bool amsgrad;
  libdl_bool maximize;
} libdl_adam_options;

typedef struct libdl_sparse_adam_options {
  uint32_t struct_size;
  libdl_bool maximize;
  double lr;    /**< 0 or more; default 0.001 */
  double beta1; /**< 0 <= beta1 < 1; default 0.9 */
  double beta2; /**< 0 <= beta2 < 1; default 0.999 */
  double eps;   /**< 0 or more; default 1e-8 */
  int64_t step; /**< 1 at the first step; default 1 */
} libdl_sparse_adam_options;

typedef struct libdl_adamax_options {
  uint32_t struct_size;
  libdl_bool maximize;
  double lr;    /**< 0 or more; default 0.002 */
  double beta1; /**< 0 <= beta1 < 1; default 0.9 */
  double beta2; /**< 0 <= beta2 < 1; default 0.999 */
  double eps;   /**< 0 or more; default 1e-8 */
  double weight_decay;
  int64_t step; /**< 1 at the first step; default 1 */
} libdl_adamax_options;

typedef struct libdl_nadam_options {
  uint32_t struct_size;
  libdl_bool decoupled;
  double lr;    /**< 0 or more; default 0.002 */
  double beta1; /**< 0 <= beta1 < 1; default 0.9 */
  double beta2; /**< 0 <= beta2 < 1; default 0.999 */
  double eps;   /**< 0 or more; default 1e-8 */
  double weight_decay;
  double momentum_decay; /**< 0 or more; default 0.004 */
  double mu_product;     /**< mu_1 ... mu_step; 0: computed, in time that grows with the step until
                              the product is negligible (some 400 steps with beta1 = 0.9) */
  int64_t step;          /**< 1 at the first step; default 1 */
  libdl_bool maximize;
} libdl_nadam_options;

typedef struct libdl_radam_options {
  uint32_t struct_size;
  libdl_bool decoupled;
  double lr;    /**< 0 or more; default 0.001 */
  double beta1; /**< 0 <= beta1 < 1; default 0.9 */
  double beta2; /**< 0 <= beta2 < 1; default 0.999 */
  double eps;   /**< 0 or more; default 1e-8 */
  double weight_decay;
  int64_t step; /**< 1 at the first step; default 1 */
  libdl_bool maximize;
} libdl_radam_options;

typedef struct libdl_adagrad_options {
  uint32_t struct_size;
  libdl_bool maximize;
  double lr;       /**< 0 or more; default 0.01 */
  double lr_decay; /**< 0 or more */
  double weight_decay;
  double eps;   /**< 0 or more; default 1e-10 */
  int64_t step; /**< 1 at the first step; default 1 */
} libdl_adagrad_options;

typedef struct libdl_adadelta_options {
  uint32_t struct_size;
  libdl_bool maximize;
  double lr;  /**< 0 or more; default 1 */
  double rho; /**< 0 to 1; default 0.9 */
  double eps; /**< 0 or more; default 1e-6 */
  double weight_decay;
} libdl_adadelta_options;

typedef struct libdl_asgd_options {
  uint32_t struct_size;
  libdl_bool maximize;
  double lr;    /**< 0 or more; default 0.01 */
  double lambd; /**< 0 or more; default 1e-4 */
  double alpha; /**< 0 or more; default 0.75 */
  double t0;    /**< the step after which averaging begins; default 1e6 */
  double weight_decay;
  double eta;   /**< this step's rate; 0: lr / (1 + lambd lr (step - 1))^alpha */
  double mu;    /**< the weight of p in the average; 0: 1 / max(1, step - 1 - t0) */
  int64_t step; /**< 1 at the first step; default 1 */
} libdl_asgd_options;

typedef struct libdl_rmsprop_options {
  uint32_t struct_size;
  libdl_bool centered;
  double lr;    /**< 0 or more; default 0.01 */
  double alpha; /**< 0 or more; default 0.99 */
  double eps;   /**< 0 or more; default 1e-8 */
  double weight_decay;
  double momentum; /**< 0: no buffer is read or written */
  libdl_bool maximize;
} libdl_rmsprop_options;

/** The learning rate is what step_sizes hold before the first step. */
typedef struct libdl_rprop_options {
  uint32_t struct_size;
  libdl_bool maximize;
  double etaminus;      /**< 0 < etaminus < 1; default 0.5 */
  double etaplus;       /**< more than 1; default 1.2 */
  double step_size_min; /**< default 1e-6 */
  double step_size_max; /**< default 50 */
} libdl_rprop_options;

LIBDL_BEGIN

/** Sets struct_size, and the defaults: lr 0.001, all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_sgd_options_init(libdl_sgd_options *options);

/** Sets struct_size, and the defaults: lr 0.001, betas 0.9 and 0.999, eps 1e-8, step 1, all else 0.
 *  AdamW has decoupled 1 and weight_decay 0.01.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_adam_options_init(libdl_adam_options *options);

/** Sets struct_size, and the defaults: lr 0.001, betas 0.9 and 0.999, eps 1e-8, step 1.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_sparse_adam_options_init(libdl_sparse_adam_options *options);

/** Sets struct_size, and the defaults: lr 0.002, betas 0.9 and 0.999, eps 1e-8, step 1, all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_adamax_options_init(libdl_adamax_options *options);

/** Sets struct_size, and the defaults: lr 0.002, betas 0.9 and 0.999, eps 1e-8,
 *  momentum_decay 0.004, step 1, all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_nadam_options_init(libdl_nadam_options *options);

/** Sets struct_size, and the defaults: lr 0.001, betas 0.9 and 0.999, eps 1e-8, step 1, all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_radam_options_init(libdl_radam_options *options);

/** Sets struct_size, and the defaults: lr 0.01, eps 1e-10, step 1, all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_adagrad_options_init(libdl_adagrad_options *options);

/** Sets struct_size, and the defaults: lr 1, rho 0.9, eps 1e-6, all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_adadelta_options_init(libdl_adadelta_options *options);

/** Sets struct_size, and the defaults: lr 0.01, lambd 1e-4, alpha 0.75, t0 1e6, step 1, all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_asgd_options_init(libdl_asgd_options *options);

/** Sets struct_size, and the defaults: lr 0.01, alpha 0.99, eps 1e-8, all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_rmsprop_options_init(libdl_rmsprop_options *options);

/** Sets struct_size, and the defaults: etas 0.5 and 1.2, step sizes from 1e-6 to 50.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_rprop_options_init(libdl_rprop_options *options);

/** Stochastic gradient descent: g = grad + weight_decay p; with momentum
 *  buf = momentum buf + (1 - dampening) g and g = buf, or g + momentum buf with nesterov;
 *  p = p - lr g. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sgd_step(
    const libdl_sgd_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    LIBDL_NULLABLE libdl_tensor *const *momentum_buffers, int64_t momentum_buffers_count);

/** Adam and AdamW: m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
 *  p = p - lr / (1 - beta1^step) m / (sqrt(v) / sqrt(1 - beta2^step) + eps); amsgrad uses the
 *  largest v so far instead of v. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adam_step(
    const libdl_adam_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    libdl_tensor *const *exp_avgs, int64_t exp_avgs_count, libdl_tensor *const *exp_avg_sqs,
    int64_t exp_avg_sqs_count, LIBDL_NULLABLE libdl_tensor *const *max_exp_avg_sqs,
    int64_t max_exp_avg_sqs_count);

/** Adam for sparse gradients (libdl_tensor_is_sparse), of the rows that they hold: others keep
 *  their parameters and moments. m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
 *  p = p - lr sqrt(1 - beta2^step) / (1 - beta1^step) m / (sqrt(v) + eps).
 *  Errors: also VALUE (a dense gradient). */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sparse_adam_step(
    const libdl_sparse_adam_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    libdl_tensor *const *exp_avgs, int64_t exp_avgs_count, libdl_tensor *const *exp_avg_sqs,
    int64_t exp_avg_sqs_count);

/** Adamax: m = beta1 m + (1 - beta1) g, u = max(beta2 u, |g| + eps),
 *  p = p - lr / (1 - beta1^step) m / u. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adamax_step(
    const libdl_adamax_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    libdl_tensor *const *exp_avgs, int64_t exp_avgs_count, libdl_tensor *const *exp_infs,
    int64_t exp_infs_count);

/** NAdam, Adam with Nesterov's momentum: m and v as Adam's,
 *  mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2), d = sqrt(v / (1 - beta2^step)) + eps,
 *  p = p - lr (1 - mu_step) / (1 - mu_1 ... mu_step) g / d
 *        - lr mu_(step+1) / (1 - mu_1 ... mu_(step+1)) m / d. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nadam_step(
    const libdl_nadam_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    libdl_tensor *const *exp_avgs, int64_t exp_avgs_count, libdl_tensor *const *exp_avg_sqs,
    int64_t exp_avg_sqs_count);

/** RAdam, rectified Adam: m and v as Adam's, n = 2 / (1 - beta2) - 1,
 *  r = n - 2 step beta2^step / (1 - beta2^step), s = m / (1 - beta1^step),
 *  p = p - lr s sqrt(1 - beta2^step) / (sqrt(v) + eps)
 *        sqrt((r - 4) (r - 2) n / ((n - 4) (n - 2) r)) if r > 5, else p = p - lr s. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_radam_step(
    const libdl_radam_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    libdl_tensor *const *exp_avgs, int64_t exp_avgs_count, libdl_tensor *const *exp_avg_sqs,
    int64_t exp_avg_sqs_count);

/** Adagrad: s = s + g^2, p = p - lr / (1 + (step - 1) lr_decay) g / (sqrt(s) + eps). */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adagrad_step(
    const libdl_adagrad_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    libdl_tensor *const *state_sums, int64_t state_sums_count);

/** Adadelta: v = rho v + (1 - rho) g^2, d = sqrt(a + eps) / sqrt(v + eps) g,
 *  a = rho a + (1 - rho) d^2, p = p - lr d; v is square_avgs, a is acc_deltas. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adadelta_step(
    const libdl_adadelta_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    libdl_tensor *const *square_avgs, int64_t square_avgs_count, libdl_tensor *const *acc_deltas,
    int64_t acc_deltas_count);

/** Averaged SGD: p = p - lambd eta p - eta g, ax = ax + mu (p - ax); see the options. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_asgd_step(
    const libdl_asgd_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count, libdl_tensor *const *axs,
    int64_t axs_count);

/** RMSprop: v = alpha v + (1 - alpha) g^2; centered: a = alpha a + (1 - alpha) g and
 *  d = sqrt(v - a^2) + eps, else d = sqrt(v) + eps; p = p - lr g / d, or with momentum
 *  buf = momentum buf + g / d and p = p - lr buf. v is square_avgs, a is grad_avgs. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rmsprop_step(
    const libdl_rmsprop_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    libdl_tensor *const *square_avgs, int64_t square_avgs_count,
    LIBDL_NULLABLE libdl_tensor *const *momentum_buffers, int64_t momentum_buffers_count,
    LIBDL_NULLABLE libdl_tensor *const *grad_avgs, int64_t grad_avgs_count);

/** Resilient backpropagation: the step size of an element, which step_sizes hold, is multiplied by
 *  etaplus where g has the sign of the last gradient, prevs, and by etaminus where it has the other
 *  one, and clamped to step_size_min ... step_size_max. Where the sign changed, g = 0. Then
 *  p = p - sign(g) step_size and prev = g. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rprop_step(
    const libdl_rprop_options *options, libdl_tensor *const *params, int64_t count,
    const libdl_tensor *LIBDL_NULLABLE const *grads, int64_t grads_count,
    libdl_tensor *const *prevs, int64_t prevs_count, libdl_tensor *const *step_sizes,
    int64_t step_sizes_count);

/** The p-norm of all elements of the tensors together. norm_type: 2, any positive number, or
 *  infinity. error_if_nonfinite: a norm that is NaN or infinite is the error VALUE. out: 0-d; of no
 *  tensors, 0. The tensors are floating or complex, of any strides. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_total_norm(const libdl_tensor *const *tensors,
                                                        int64_t count, double norm_type,
                                                        libdl_bool error_if_nonfinite,
                                                        LIBDL_NEW libdl_tensor **out);

/** Scales gradients in place by min(1, max_norm / (norm + 1e-6)), where norm is the p-norm of all
 *  elements together. max_norm: 0 or more and finite, else the error VALUE. norm_type: 2, any
 *  positive number, or infinity. out: the norm before clipping, 0-d. error_if_nonfinite: a norm
 *  that is NaN or infinite is the error VALUE, and nothing is scaled. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clip_grad_norm(
    libdl_tensor *LIBDL_NULLABLE const *grads, int64_t count, double max_norm, double norm_type,
    libdl_bool error_if_nonfinite, LIBDL_NEW libdl_tensor **out);

/** Scales gradients in place by min(1, max_norm / (total_norm + 1e-6)). max_norm: 0 or more and
 *  finite, else the error VALUE. total_norm: one element. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clip_grads_with_norm(
    libdl_tensor *LIBDL_NULLABLE const *grads, int64_t count, double max_norm,
    const libdl_tensor *total_norm);

/** Clamps every element of the gradients to [-clip_value, clip_value], in place. clip_value: 0 or
 *  more and finite, else the error VALUE. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clip_grad_value(
    libdl_tensor *LIBDL_NULLABLE const *grads, int64_t count, double clip_value);

LIBDL_END

#endif
