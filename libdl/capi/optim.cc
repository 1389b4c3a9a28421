// SPDX-License-Identifier: Apache-2.0

#include <libdl/optim.h>

#include "capi/arguments.h"
#include "capi/options.h"
#include "capi/scope.h"
#include "optim/step.h"

using namespace libdl;
using namespace libdl::capi;

libdl_error* libdl_sgd_step(const libdl_sgd_options* options, libdl_tensor* const* params,
                            int64_t count, const libdl_tensor* const* grads, int64_t grads_count,
                            libdl_tensor* const* momentum_buffers, int64_t momentum_buffers_count) {
  return door("sgd_step", [&] {
    const char* const name = "sgd_step";
    not_null(name, 1, "options", options, "options with at least lr");
    const libdl_sgd_options o = read_options(name, 1, options);
    sgd_step({o.lr, o.momentum, o.dampening, o.weight_decay, o.nesterov != 0, o.maximize != 0,
              o.first != 0},
             live_tensors(name, 2, "params", params, count),
             live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
             live_tensors(name, 4, "momentum_buffers", momentum_buffers, momentum_buffers_count));
  });
}

libdl_error* libdl_adam_step(const libdl_adam_options* options, libdl_tensor* const* params,
                             int64_t count, const libdl_tensor* const* grads, int64_t grads_count,
                             libdl_tensor* const* exp_avgs, int64_t exp_avgs_count,
                             libdl_tensor* const* exp_avg_sqs, int64_t exp_avg_sqs_count,
                             libdl_tensor* const* max_exp_avg_sqs, int64_t max_exp_avg_sqs_count) {
  return door("adam_step", [&] {
    const char* const name = "adam_step";
    not_null(name, 1, "options", options, "options with at least lr, betas, eps and step");
    const libdl_adam_options o = read_options(name, 1, options);
    adam_step(
        {{o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.step, o.decoupled != 0, o.maximize != 0},
         o.amsgrad != 0},
        live_tensors(name, 2, "params", params, count),
        live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
        live_tensors(name, 4, "exp_avgs", exp_avgs, exp_avgs_count),
        live_tensors(name, 5, "exp_avg_sqs", exp_avg_sqs, exp_avg_sqs_count),
        live_tensors(name, 6, "max_exp_avg_sqs", max_exp_avg_sqs, max_exp_avg_sqs_count));
  });
}

libdl_error* libdl_sparse_adam_step(const libdl_sparse_adam_options* options,
                                    libdl_tensor* const* params, int64_t count,
                                    const libdl_tensor* const* grads, int64_t grads_count,
                                    libdl_tensor* const* exp_avgs, int64_t exp_avgs_count,
                                    libdl_tensor* const* exp_avg_sqs, int64_t exp_avg_sqs_count) {
  return door("sparse_adam_step", [&] {
    const char* const name = "sparse_adam_step";
    not_null(name, 1, "options", options, "options with at least lr, betas, eps and step");
    const libdl_sparse_adam_options o = read_options(name, 1, options);
    sparse_adam_step({o.lr, o.beta1, o.beta2, o.eps, 0, o.step, false, o.maximize != 0},
                     live_tensors(name, 2, "params", params, count),
                     live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
                     live_tensors(name, 4, "exp_avgs", exp_avgs, exp_avgs_count),
                     live_tensors(name, 5, "exp_avg_sqs", exp_avg_sqs, exp_avg_sqs_count));
  });
}

libdl_error* libdl_adamax_step(const libdl_adamax_options* options, libdl_tensor* const* params,
                               int64_t count, const libdl_tensor* const* grads, int64_t grads_count,
                               libdl_tensor* const* exp_avgs, int64_t exp_avgs_count,
                               libdl_tensor* const* exp_infs, int64_t exp_infs_count) {
  return door("adamax_step", [&] {
    const char* const name = "adamax_step";
    not_null(name, 1, "options", options, "options with at least lr, betas, eps and step");
    const libdl_adamax_options o = read_options(name, 1, options);
    adamax_step({o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.step, false, o.maximize != 0},
                live_tensors(name, 2, "params", params, count),
                live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
                live_tensors(name, 4, "exp_avgs", exp_avgs, exp_avgs_count),
                live_tensors(name, 5, "exp_infs", exp_infs, exp_infs_count));
  });
}

libdl_error* libdl_nadam_step(const libdl_nadam_options* options, libdl_tensor* const* params,
                              int64_t count, const libdl_tensor* const* grads, int64_t grads_count,
                              libdl_tensor* const* exp_avgs, int64_t exp_avgs_count,
                              libdl_tensor* const* exp_avg_sqs, int64_t exp_avg_sqs_count) {
  return door("nadam_step", [&] {
    const char* const name = "nadam_step";
    not_null(name, 1, "options", options, "options with at least lr, betas, eps and step");
    const libdl_nadam_options o = read_options(name, 1, options);
    nadam_step(
        {{o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.step, o.decoupled != 0, o.maximize != 0},
         o.momentum_decay,
         o.mu_product},
        live_tensors(name, 2, "params", params, count),
        live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
        live_tensors(name, 4, "exp_avgs", exp_avgs, exp_avgs_count),
        live_tensors(name, 5, "exp_avg_sqs", exp_avg_sqs, exp_avg_sqs_count));
  });
}

libdl_error* libdl_radam_step(const libdl_radam_options* options, libdl_tensor* const* params,
                              int64_t count, const libdl_tensor* const* grads, int64_t grads_count,
                              libdl_tensor* const* exp_avgs, int64_t exp_avgs_count,
                              libdl_tensor* const* exp_avg_sqs, int64_t exp_avg_sqs_count) {
  return door("radam_step", [&] {
    const char* const name = "radam_step";
    not_null(name, 1, "options", options, "options with at least lr, betas, eps and step");
    const libdl_radam_options o = read_options(name, 1, options);
    radam_step(
        {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.step, o.decoupled != 0, o.maximize != 0},
        live_tensors(name, 2, "params", params, count),
        live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
        live_tensors(name, 4, "exp_avgs", exp_avgs, exp_avgs_count),
        live_tensors(name, 5, "exp_avg_sqs", exp_avg_sqs, exp_avg_sqs_count));
  });
}

libdl_error* libdl_adagrad_step(const libdl_adagrad_options* options, libdl_tensor* const* params,
                                int64_t count, const libdl_tensor* const* grads,
                                int64_t grads_count, libdl_tensor* const* state_sums,
                                int64_t state_sums_count) {
  return door("adagrad_step", [&] {
    const char* const name = "adagrad_step";
    not_null(name, 1, "options", options, "options with at least lr, eps and step");
    const libdl_adagrad_options o = read_options(name, 1, options);
    adagrad_step({o.lr, o.lr_decay, o.weight_decay, o.eps, o.step, o.maximize != 0},
                 live_tensors(name, 2, "params", params, count),
                 live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
                 live_tensors(name, 4, "state_sums", state_sums, state_sums_count));
  });
}

libdl_error* libdl_adadelta_step(const libdl_adadelta_options* options, libdl_tensor* const* params,
                                 int64_t count, const libdl_tensor* const* grads,
                                 int64_t grads_count, libdl_tensor* const* square_avgs,
                                 int64_t square_avgs_count, libdl_tensor* const* acc_deltas,
                                 int64_t acc_deltas_count) {
  return door("adadelta_step", [&] {
    const char* const name = "adadelta_step";
    not_null(name, 1, "options", options, "options with at least lr, rho and eps");
    const libdl_adadelta_options o = read_options(name, 1, options);
    adadelta_step({o.lr, o.rho, o.eps, o.weight_decay, o.maximize != 0},
                  live_tensors(name, 2, "params", params, count),
                  live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
                  live_tensors(name, 4, "square_avgs", square_avgs, square_avgs_count),
                  live_tensors(name, 5, "acc_deltas", acc_deltas, acc_deltas_count));
  });
}

libdl_error* libdl_asgd_step(const libdl_asgd_options* options, libdl_tensor* const* params,
                             int64_t count, const libdl_tensor* const* grads, int64_t grads_count,
                             libdl_tensor* const* axs, int64_t axs_count) {
  return door("asgd_step", [&] {
    const char* const name = "asgd_step";
    not_null(name, 1, "options", options, "options with at least lr, lambd, alpha, t0 and step");
    const libdl_asgd_options o = read_options(name, 1, options);
    asgd_step({o.lr, o.lambd, o.alpha, o.t0, o.weight_decay, o.eta, o.mu, o.step, o.maximize != 0},
              live_tensors(name, 2, "params", params, count),
              live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
              live_tensors(name, 4, "axs", axs, axs_count));
  });
}

libdl_error* libdl_rmsprop_step(const libdl_rmsprop_options* options, libdl_tensor* const* params,
                                int64_t count, const libdl_tensor* const* grads,
                                int64_t grads_count, libdl_tensor* const* square_avgs,
                                int64_t square_avgs_count, libdl_tensor* const* momentum_buffers,
                                int64_t momentum_buffers_count, libdl_tensor* const* grad_avgs,
                                int64_t grad_avgs_count) {
  return door("rmsprop_step", [&] {
    const char* const name = "rmsprop_step";
    not_null(name, 1, "options", options, "options with at least lr, alpha and eps");
    const libdl_rmsprop_options o = read_options(name, 1, options);
    rmsprop_step(
        {o.lr, o.alpha, o.eps, o.weight_decay, o.momentum, o.centered != 0, o.maximize != 0},
        live_tensors(name, 2, "params", params, count),
        live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
        live_tensors(name, 4, "square_avgs", square_avgs, square_avgs_count),
        live_tensors(name, 5, "momentum_buffers", momentum_buffers, momentum_buffers_count),
        live_tensors(name, 6, "grad_avgs", grad_avgs, grad_avgs_count));
  });
}

libdl_error* libdl_rprop_step(const libdl_rprop_options* options, libdl_tensor* const* params,
                              int64_t count, const libdl_tensor* const* grads, int64_t grads_count,
                              libdl_tensor* const* prevs, int64_t prevs_count,
                              libdl_tensor* const* step_sizes, int64_t step_sizes_count) {
  return door("rprop_step", [&] {
    const char* const name = "rprop_step";
    not_null(name, 1, "options", options, "options with etas and limits of the step size");
    const libdl_rprop_options o = read_options(name, 1, options);
    rprop_step({o.etaminus, o.etaplus, o.step_size_min, o.step_size_max, o.maximize != 0},
               live_tensors(name, 2, "params", params, count),
               live_tensors(name, 3, "grads", grads, grads_count, kMostEntries, true),
               live_tensors(name, 4, "prevs", prevs, prevs_count),
               live_tensors(name, 5, "step_sizes", step_sizes, step_sizes_count));
  });
}

libdl_error* libdl_total_norm(const libdl_tensor* const* tensors, int64_t count, double norm_type,
                              libdl_bool error_if_nonfinite, libdl_tensor** out) {
  return door("total_norm", [&] {
    const char* const name = "total_norm";
    output(name, 4, "out", out);
    *out = hand_out(total_norm(live_tensors(name, 1, "tensors", tensors, count), norm_type,
                               error_if_nonfinite != 0));
  });
}

libdl_error* libdl_clip_grad_norm(libdl_tensor* const* grads, int64_t count, double max_norm,
                                  double norm_type, libdl_bool error_if_nonfinite,
                                  libdl_tensor** out) {
  return door("clip_grad_norm", [&] {
    const char* const name = "clip_grad_norm";
    output(name, 5, "out", out);
    *out = hand_out(clip_grad_norm(live_tensors(name, 1, "grads", grads, count, kMostEntries, true),
                                   max_norm, norm_type, error_if_nonfinite != 0));
  });
}

libdl_error* libdl_clip_grads_with_norm(libdl_tensor* const* grads, int64_t count, double max_norm,
                                        const libdl_tensor* total_norm) {
  return door("clip_grads_with_norm", [&] {
    const char* const name = "clip_grads_with_norm";
    clip_grads_with_norm(live_tensors(name, 1, "grads", grads, count, kMostEntries, true), max_norm,
                         live_tensor(name, 3, "total_norm", total_norm));
  });
}

libdl_error* libdl_clip_grad_value(libdl_tensor* const* grads, int64_t count, double clip_value) {
  return door("clip_grad_value", [&] {
    clip_grad_value(live_tensors("clip_grad_value", 1, "grads", grads, count, kMostEntries, true),
                    clip_value);
  });
}
