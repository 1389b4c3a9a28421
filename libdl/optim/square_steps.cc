// SPDX-License-Identifier: Apache-2.0

// Steps along the gradient, divided by the root of a sum or mean of its squares.

#include "entries/optim.h"
#include "optim/lists.h"
#include "runtime/float_environment.h"

#include "ops/core/call.h"

namespace libdl {

void adagrad_step_impl(const libdl_adagrad_options& o, TensorSpan params, TensorSpan grads,
                       TensorSpan state_sums) {
  const char* const op = "adagrad";
  check_factor(op, "lr", o.lr);
  check_factor(op, "lr_decay", o.lr_decay);
  check_factor(op, "weight_decay", o.weight_decay);
  check_factor(op, "eps", o.eps);
  check_step(op, o.step);
  const DefaultFloatEnvironment environment;
  // Without a gradient p - lr 0 / (sqrt(s) + eps) is p, unless it is 0 / 0.
  Still still = o.maximize != 0 || o.eps == 0 ? Still::kRowsOfSparse : Still::kRows;
  if (o.weight_decay != 0) still = Still::kNoRow;
  const Step step{op, params, grads, {{{"state_sums", state_sums}}}, still};
  take_step(step, launch_adagrad,
            {.lr = o.lr / (1 + static_cast<double>(o.step - 1) * o.lr_decay),
             .eps = o.eps,
             .weight_decay = o.weight_decay,
             .maximize = o.maximize != 0});
}

void adadelta_step_impl(const libdl_adadelta_options& o, TensorSpan params, TensorSpan grads,
                        TensorSpan square_avgs, TensorSpan acc_deltas) {
  const char* const op = "adadelta";
  check_factor(op, "lr", o.lr);
  if (!(o.rho >= 0 && o.rho <= 1))
    fail_argument(LIBDL_ERROR_VALUE, op, "rho", "is " + std::to_string(o.rho), "0 to 1");
  check_factor(op, "eps", o.eps);
  check_factor(op, "weight_decay", o.weight_decay);
  const Step step{op, params, grads, {{{"square_avgs", square_avgs}, {"acc_deltas", acc_deltas}}}};
  take_step(step, launch_adadelta,
            {.lr = o.lr,
             .eps = o.eps,
             .weight_decay = o.weight_decay,
             .rho = o.rho,
             .maximize = o.maximize != 0});
}

void rmsprop_step_impl(const libdl_rmsprop_options& o, TensorSpan params, TensorSpan grads,
                       TensorSpan square_avgs, TensorSpan momentum_buffers, TensorSpan grad_avgs) {
  const char* const op = "rmsprop";
  check_factor(op, "lr", o.lr);
  check_factor(op, "alpha", o.alpha);
  check_factor(op, "eps", o.eps);
  check_factor(op, "weight_decay", o.weight_decay);
  check_factor(op, "momentum", o.momentum);
  States momenta, means;
  if (o.momentum > 0) momenta = {"momentum_buffers", momentum_buffers};
  if (o.centered) means = {"grad_avgs", grad_avgs};
  const Step step{op, params, grads, {{{"square_avgs", square_avgs}, momenta, means}}};
  take_step(step, launch_rmsprop,
            {.lr = o.lr,
             .momentum = o.momentum,
             .eps = o.eps,
             .weight_decay = o.weight_decay,
             .rho = o.alpha,
             .centered = o.centered != 0,
             .maximize = o.maximize != 0});
}

}  // namespace libdl
