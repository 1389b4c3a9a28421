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

struct AdamOptions {
  double lr, beta1, beta2, eps, weight_decay;
  int64_t step;
  bool decoupled, amsgrad, maximize;
};
void adam_step(const AdamOptions& options, TensorSpan params, TensorSpan grads, TensorSpan exp_avgs,
               TensorSpan exp_avg_sqs, TensorSpan max_exp_avg_sqs);

Tensor clip_grad_norm(TensorSpan grads, double max_norm, double norm_type, bool error_if_nonfinite);
void clip_grad_value(TensorSpan grads, double clip_value);

}  // namespace libdl
