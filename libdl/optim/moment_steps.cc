// SPDX-License-Identifier: Apache-2.0

// Adam and its relatives: steps along a mean of the gradient, divided by one of its size.

#include "entries/optim.h"
#include "optim/lists.h"
#include "runtime/float_environment.h"
#include "tensor/sparse_rows.h"

#include "ops/core/call.h"

namespace libdl {

// O: the options of one of them; not all have a weight decay, or one that can be decoupled.
template <class O>
static void check_moments(const char* op, const O& o) {
  check_factor(op, "lr", o.lr);
  check_factor(op, "beta1", o.beta1, true);
  check_factor(op, "beta2", o.beta2, true);
  check_factor(op, "eps", o.eps);
  if constexpr (requires { o.weight_decay; }) check_factor(op, "weight_decay", o.weight_decay);
  check_step(op, o.step);
}

// Both biases are those of a mean that began at 0.
template <class O>
static kernels::OptimizerOptions for_kernel(const O& o) {
  const double step = static_cast<double>(o.step);
  kernels::OptimizerOptions k = {.lr = o.lr,
                                 .beta1 = o.beta1,
                                 .beta2 = o.beta2,
                                 .eps = o.eps,
                                 .bias1 = 1 - std::pow(o.beta1, step),
                                 .bias2 = 1 - std::pow(o.beta2, step),
                                 .maximize = o.maximize != 0};
  if constexpr (requires { o.weight_decay; }) k.weight_decay = o.weight_decay;
  if constexpr (requires { o.decoupled; }) k.decoupled = o.decoupled != 0;
  return k;
}

void adam_step_impl(const libdl_adam_options& o, TensorSpan params, TensorSpan grads,
                    TensorSpan exp_avgs, TensorSpan exp_avg_sqs, TensorSpan max_exp_avg_sqs) {
  const char* const op = "adam";
  check_moments(op, o);
  const DefaultFloatEnvironment environment;
  kernels::OptimizerOptions k = for_kernel(o);
  k.amsgrad = o.amsgrad != 0;
  States largest;
  if (o.amsgrad) largest = {"max_exp_avg_sqs", max_exp_avg_sqs};
  const Step step{
      op, params, grads, {{{"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}, largest}}};
  take_step(step, launch_adam, k);
}

static void check_gradients_sparse(const char* op, TensorSpan grads) {
  for (size_t i = 0; i < grads.size(); ++i)
    if (grads[i].defined() && !is_sparse(grads[i]))
      fail_argument(LIBDL_ERROR_VALUE, op, "grads", "holds a dense gradient" + at_position(i),
                    "sparse ones, as embedding(sparse=True) has; adam takes dense ones");
}

// Adam of the rows alone that have a gradient. eps is added to the root before the correction of
// its bias: p = p - lr sqrt(bias2) / bias1 m / (sqrt(v) + eps).
void sparse_adam_step_impl(const libdl_sparse_adam_options& o, TensorSpan params, TensorSpan grads,
                           TensorSpan exp_avgs, TensorSpan exp_avg_sqs) {
  const char* const op = "sparse_adam";
  check_moments(op, o);
  check_gradients_sparse(op, grads);
  const DefaultFloatEnvironment environment;
  kernels::OptimizerOptions k = for_kernel(o);
  k.eps = o.eps / std::sqrt(k.bias2);
  const Step step{
      op, params, grads, {{{"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}}}, Still::kRows};
  take_step(step, launch_adam, k);
}

void adamax_step_impl(const libdl_adamax_options& o, TensorSpan params, TensorSpan grads,
                      TensorSpan exp_avgs, TensorSpan exp_infs) {
  const char* const op = "adamax";
  check_moments(op, o);
  const DefaultFloatEnvironment environment;
  const Step step{op, params, grads, {{{"exp_avgs", exp_avgs}, {"exp_infs", exp_infs}}}};
  take_step(step, launch_adamax, for_kernel(o));
}

static double nadam_mu(const libdl_nadam_options& o, double step) {
  return o.beta1 * (1 - 0.5 * std::pow(0.96, step * o.momentum_decay));
}

// The product of the steps' mu. Once it is too small to change 1 - product, the rest is left out.
static double nadam_product(const libdl_nadam_options& o) {
  double product = 1;
  for (int64_t t = 1; t <= o.step && product > 0x1p-60; ++t)
    product *= nadam_mu(o, static_cast<double>(t));
  return product;
}

void nadam_step_impl(const libdl_nadam_options& o, TensorSpan params, TensorSpan grads,
                     TensorSpan exp_avgs, TensorSpan exp_avg_sqs) {
  const char* const op = "nadam";
  check_moments(op, o);
  check_factor(op, "momentum_decay", o.momentum_decay);
  check_factor(op, "mu_product", o.mu_product, true);
  const DefaultFloatEnvironment environment;
  kernels::OptimizerOptions k = for_kernel(o);
  const double product = o.mu_product != 0 ? o.mu_product : nadam_product(o);
  const double now = nadam_mu(o, static_cast<double>(o.step));
  const double next = nadam_mu(o, static_cast<double>(o.step + 1));
  k.grad_rate = o.lr * (1 - now) / (1 - product);
  k.mean_rate = o.lr * next / (1 - product * next);
  const Step step{op, params, grads, {{{"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}}}};
  take_step(step, launch_nadam, k);
}

// 0 while the mean of squares is of too few steps for its variance to be known.
static double rectification(const libdl_radam_options& o, double bias2) {
  const double n = static_cast<double>(o.step);
  const double most = 2 / (1 - o.beta2) - 1;
  const double length = most - 2 * n * std::pow(o.beta2, n) / bias2;
  if (!(length > 5)) return 0;
  return std::sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length));
}

void radam_step_impl(const libdl_radam_options& o, TensorSpan params, TensorSpan grads,
                     TensorSpan exp_avgs, TensorSpan exp_avg_sqs) {
  const char* const op = "radam";
  check_moments(op, o);
  const DefaultFloatEnvironment environment;
  kernels::OptimizerOptions k = for_kernel(o);
  k.rectification = rectification(o, k.bias2);
  const Step step{op, params, grads, {{{"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}}}};
  take_step(step, launch_radam, k);
}

}  // namespace libdl
