// SPDX-License-Identifier: Apache-2.0

#include <libdl/optim.h>

#include "capi/arguments.h"
#include "capi/options.h"
#include "optim/step.h"

using namespace libdl;
using namespace libdl::capi;

libdl_error* libdl_sgd_step(const libdl_sgd_options* options, libdl_tensor* const* params,
                            int64_t count, const libdl_tensor* const* grads, int64_t grads_count,
                            libdl_tensor* const* momentum_buffers, int64_t momentum_buffers_count) {
  return door("libdl_sgd_step", [&] {
    const char* const name = "libdl_sgd_step";
    not_null(name, 1, "options", options, "options with at least lr");
    const libdl_sgd_options o = read_options(name, 1, options);
    sgd_step({o.lr, o.momentum, o.dampening, o.weight_decay, o.nesterov != 0, o.maximize != 0,
              o.first != 0},
             live_tensors(name, 2, "params", params, count),
             live_tensors(name, 3, "grads", grads, grads_count),
             live_tensors(name, 4, "momentum_buffers", momentum_buffers, momentum_buffers_count));
  });
}

libdl_error* libdl_adam_step(const libdl_adam_options* options, libdl_tensor* const* params,
                             int64_t count, const libdl_tensor* const* grads, int64_t grads_count,
                             libdl_tensor* const* exp_avgs, int64_t exp_avgs_count,
                             libdl_tensor* const* exp_avg_sqs, int64_t exp_avg_sqs_count,
                             libdl_tensor* const* max_exp_avg_sqs, int64_t max_exp_avg_sqs_count) {
  return door("libdl_adam_step", [&] {
    const char* const name = "libdl_adam_step";
    not_null(name, 1, "options", options, "options with at least lr, betas, eps and step");
    const libdl_adam_options o = read_options(name, 1, options);
    adam_step({o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.step, o.decoupled != 0,
               o.amsgrad != 0, o.maximize != 0},
              live_tensors(name, 2, "params", params, count),
              live_tensors(name, 3, "grads", grads, grads_count),
              live_tensors(name, 4, "exp_avgs", exp_avgs, exp_avgs_count),
              live_tensors(name, 5, "exp_avg_sqs", exp_avg_sqs, exp_avg_sqs_count),
              live_tensors(name, 6, "max_exp_avg_sqs", max_exp_avg_sqs, max_exp_avg_sqs_count));
  });
}

libdl_error* libdl_clip_grad_norm(libdl_tensor* const* grads, int64_t count, double max_norm,
                                  double norm_type, libdl_bool error_if_nonfinite,
                                  libdl_tensor** out) {
  return door("libdl_clip_grad_norm", [&] {
    const char* const name = "libdl_clip_grad_norm";
    output(name, 6, "out", out);
    *out = clip_grad_norm(live_tensors(name, 1, "grads", grads, count), max_norm, norm_type,
                          error_if_nonfinite != 0)
               .release();
  });
}

libdl_error* libdl_clip_grad_value(libdl_tensor* const* grads, int64_t count, double clip_value) {
  return door("libdl_clip_grad_value", [&] {
    clip_grad_value(live_tensors("libdl_clip_grad_value", 1, "grads", grads, count), clip_value);
  });
}
