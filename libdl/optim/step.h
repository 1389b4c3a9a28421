// SPDX-License-Identifier: Apache-2.0

// Optimizer steps over lists of tensors. Meaning and errors: include/libdl/optim.h.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

struct SgdOptions {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize, first;
};
void sgd_step(const SgdOptions& options, TensorSpan params, TensorSpan grads, TensorSpan buffers);

struct AsgdOptions {
  double lr, lambd, alpha, t0, weight_decay, eta, mu;
  int64_t step;
  bool maximize;
};
void asgd_step(const AsgdOptions& options, TensorSpan params, TensorSpan grads, TensorSpan axs);

struct RpropOptions {
  double etaminus, etaplus, step_size_min, step_size_max;
  bool maximize;
};
void rprop_step(const RpropOptions& options, TensorSpan params, TensorSpan grads, TensorSpan prevs,
                TensorSpan step_sizes);

struct MomentOptions {
  double lr, beta1, beta2, eps, weight_decay;
  int64_t step;
  bool decoupled, maximize;
};
struct AdamOptions : MomentOptions {
  bool amsgrad;
};
struct NadamOptions : MomentOptions {
  double momentum_decay, mu_product;
};
void adam_step(const AdamOptions& options, TensorSpan params, TensorSpan grads, TensorSpan exp_avgs,
               TensorSpan exp_avg_sqs, TensorSpan max_exp_avg_sqs);
void sparse_adam_step(const MomentOptions& options, TensorSpan params, TensorSpan grads,
                      TensorSpan exp_avgs, TensorSpan exp_avg_sqs);
void adamax_step(const MomentOptions& options, TensorSpan params, TensorSpan grads,
                 TensorSpan exp_avgs, TensorSpan exp_infs);
void nadam_step(const NadamOptions& options, TensorSpan params, TensorSpan grads,
                TensorSpan exp_avgs, TensorSpan exp_avg_sqs);
void radam_step(const MomentOptions& options, TensorSpan params, TensorSpan grads,
                TensorSpan exp_avgs, TensorSpan exp_avg_sqs);

struct AdagradOptions {
  double lr, lr_decay, weight_decay, eps;
  int64_t step;
  bool maximize;
};
void adagrad_step(const AdagradOptions& options, TensorSpan params, TensorSpan grads,
                  TensorSpan state_sums);

struct AdadeltaOptions {
  double lr, rho, eps, weight_decay;
  bool maximize;
};
void adadelta_step(const AdadeltaOptions& options, TensorSpan params, TensorSpan grads,
                   TensorSpan square_avgs, TensorSpan acc_deltas);

struct RmspropOptions {
  double lr, alpha, eps, weight_decay, momentum;
  bool centered, maximize;
};
void rmsprop_step(const RmspropOptions& options, TensorSpan params, TensorSpan grads,
                  TensorSpan square_avgs, TensorSpan momentum_buffers, TensorSpan grad_avgs);

// The norm of all elements together, 0-d. Throws VALUE if it is not finite and may not be.
Tensor total_norm(TensorSpan tensors, double norm_type, bool error_if_nonfinite);
Tensor clip_grad_norm(TensorSpan grads, double max_norm, double norm_type, bool error_if_nonfinite);
void clip_grads_with_norm(TensorSpan grads, double max_norm, const Tensor& total_norm);
void clip_grad_value(TensorSpan grads, double clip_value);

}  // namespace libdl
