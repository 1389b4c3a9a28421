// SPDX-License-Identifier: Apache-2.0

// Steps along the gradient itself, its momentum or its sign.

#include "entries/optim.h"
#include "optim/lists.h"
#include "runtime/float_environment.h"

#include "ops/core/call.h"

namespace libdl {

void sgd_step_impl(const libdl_sgd_options& o, TensorSpan params, TensorSpan grads,
                   TensorSpan buffers) {
  const char* const op = "sgd";
  check_factor(op, "lr", o.lr);
  check_factor(op, "momentum", o.momentum);
  check_factor(op, "weight_decay", o.weight_decay);
  if (o.nesterov && (o.momentum <= 0 || o.dampening != 0))
    fail_argument(LIBDL_ERROR_VALUE, op, "nesterov", "is set",
                  "a momentum above 0 and no dampening with it");
  States momenta;
  if (o.momentum != 0) momenta = {"momentum_buffers", buffers};
  // Without a gradient p - lr 0 is p, and with maximize it may be 0 instead of -0.
  Still still = o.maximize != 0 ? Still::kRowsOfSparse : Still::kRows;
  if (o.momentum != 0 || o.weight_decay != 0) still = Still::kNoRow;
  const Step step{op, params, grads, {momenta}, still};
  take_step(step, launch_sgd,
            {.lr = o.lr,
             .momentum = o.momentum,
             .dampening = o.dampening,
             .weight_decay = o.weight_decay,
             .nesterov = o.nesterov != 0,
             .maximize = o.maximize != 0,
             .first = o.first != 0});
}

void asgd_step_impl(const libdl_asgd_options& o, TensorSpan params, TensorSpan grads,
                    TensorSpan averages) {
  const char* const op = "asgd";
  check_factor(op, "lr", o.lr);
  check_factor(op, "lambd", o.lambd);
  check_factor(op, "alpha", o.alpha);
  check_factor(op, "weight_decay", o.weight_decay);
  check_factor(op, "eta", o.eta);
  check_factor(op, "mu", o.mu);
  check_step(op, o.step);
  const DefaultFloatEnvironment environment;
  const double before = static_cast<double>(o.step - 1);
  const double eta = o.eta != 0 ? o.eta : o.lr / std::pow(1 + o.lambd * o.lr * before, o.alpha);
  const double mu = o.mu != 0 ? o.mu : 1 / std::max(1.0, before - o.t0);
  const Step step{op, params, grads, {{{"axs", averages}}}};
  take_step(step, launch_asgd,
            {.lr = eta,
             .weight_decay = o.weight_decay,
             .lambd = o.lambd,
             .mu = mu,
             .maximize = o.maximize != 0});
}

void rprop_step_impl(const libdl_rprop_options& o, TensorSpan params, TensorSpan grads,
                     TensorSpan prevs, TensorSpan step_sizes) {
  const char* const op = "rprop";
  if (!(o.etaminus > 0 && o.etaminus < 1))
    fail_argument(LIBDL_ERROR_VALUE, op, "etaminus", "is " + std::to_string(o.etaminus),
                  "more than 0 and below 1");
  if (!(o.etaplus > 1) || std::isinf(o.etaplus))
    fail_argument(LIBDL_ERROR_VALUE, op, "etaplus", "is " + std::to_string(o.etaplus),
                  "more than 1 and finite");
  const Step step{op, params, grads, {{{"prevs", prevs}, {"step_sizes", step_sizes}}}};
  take_step(step, launch_rprop,
            {.etaminus = o.etaminus,
             .etaplus = o.etaplus,
             .step_size_min = o.step_size_min,
             .step_size_max = o.step_size_max,
             .maximize = o.maximize != 0});
}

}  // namespace libdl
