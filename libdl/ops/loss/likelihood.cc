// SPDX-License-Identifier: Apache-2.0

// Losses that compare distributions.
#include <cmath>
#include <numbers>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/exponential.h"
#include "entries/indexing.h"
#include "entries/loss.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/loss/reduced.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "runtime/float_environment.h"

namespace libdl {

// -- Kullback and Leibler -------------------------------------------------------------------------

const PointwiseOp k_kl_div{
    .name = "kl_div",
    .expression = Expression::kl_div,
    .arguments = {"input", "target"},
    .partials = {[](const Symbols& s) { return -(s.dy * s.x[1]); },
                 [](const Symbols& s) { return s.dy * (log(s.x[1]) + 1.0 - s.x[0]); }}};
const PointwiseOp k_kl_div_of_logs{
    .name = "kl_div",
    .expression = Expression::kl_div_of_logs,
    .arguments = {"input", "target"},
    .partials = {[](const Symbols& s) { return -(s.dy * exp(s.x[1])); },
                 [](const Symbols& s) { return s.dy * exp(s.x[1]) * (s.x[1] - s.x[0] + 1.0); }}};

Tensor kl_div_impl(const Tensor& input, const Tensor& target, Word reduction, bool log_target) {
  const char* const op = "kl_div";
  const bool by_batch = reduction && *reduction == "batchmean";
  if (!by_batch && reduction && *reduction != "mean" && *reduction != "sum" && *reduction != "none")
    fail_argument(LIBDL_ERROR_VALUE, op, "reduction", "is \"" + std::string(*reduction) + "\"",
                  "\"mean\", \"batchmean\", \"sum\" or \"none\"");
  const Reduce how = by_batch ? Reduce::kSum : reduction_of(op, reduction);
  check_pair(op, {input, "input"}, {target, "target"});
  const Named named(op);
  const Tensor losses = pointwise(log_target ? k_kl_div_of_logs : k_kl_div, input, target);
  if (!by_batch || input.ndim() == 0) return named(reduced(losses, how));
  return named(divided_sum(losses, {}, number(input.size(0))));
}

// -- Poisson --------------------------------------------------------------------------------------

const PointwiseOp k_poisson_nll{
    .name = "poisson_nll_loss",
    .expression = Expression::poisson_nll,
    .arguments = {"input", "target"},
    .partials = {[](const Symbols& s) { return s.dy * (exp(s.x[0]) - s.x[1]); },
                 [](const Symbols& s) { return -(s.dy * s.x[0]); }}};

// log(t!) by Stirling's formula: t log t - t + log(2 pi t) / 2, and 0 up to 1.
static Tensor log_factorial(const Tensor& t) {
  const Tensor sum = t * log(t) - t + log(t * (2 * std::numbers::pi)) * 0.5;
  return masked_fill(sum, le(t, number(int64_t{1})), number(int64_t{0}));
}

Tensor poisson_nll_loss_impl(const Tensor& input, const Tensor& target, bool log_input, bool full,
                             double eps, Word reduction) {
  const char* const op = "poisson_nll_loss";
  const Reduce how = reduction_of(op, reduction);
  check_real_pair(op, {input, "input"}, {target, "target"});
  const bool whole = !is_floating(promote(input.dtype(), target.dtype()));
  const Named named(op);
  Tensor losses = rename_error(op, {{"input", "input"}, {"other", "target"}}, [&] {
    if (!log_input) return input - target * log(input + eps);
    return whole ? exp(input) - target * input : pointwise(k_poisson_nll, input, target);
  });
  if (full)
    losses =
        rename_error(op, {{"other", "target"}}, [&] { return losses + log_factorial(target); });
  return named(reduced(losses, how));
}

// -- Gauss ----------------------------------------------------------------------------------------

// The variances, so that they broadcast to the samples.
static Tensor fitted(const char* op, const Tensor& var, Dims shape) {
  if (same(var.shape(), shape)) return var;
  if (!shape.empty() && same(var.shape(), shape.first(shape.size() - 1))) return unsqueeze(var, -1);
  bool fits = var.shape().size() == shape.size();
  int64_t own = 0;  // the sizes of var that differ; 1 if it is one of size 1
  for (size_t d = 0; fits && d < shape.size(); ++d)
    if (var.shape()[d] != shape[d]) own += var.shape()[d];
  if (!fits || own != 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "var", "has shape " + to_string(var.shape()),
                  to_string(shape) + ", without its last dimension or with one size 1");
  return var;
}

// At least eps, of which the gradient knows nothing.
static Tensor limited(const char* op, const Tensor& var, double eps) {
  const Tensor own = clone(var), least = number(eps);
  const ModeGuard off(kModeGrad | kModeForward);
  rename_error(op, {{"min", "eps"}}, [&] { clamp(own, &least, nullptr, Into(own)); });
  return own;
}

static void refuse_variance(const std::string& found) {
  fail_argument(LIBDL_ERROR_VALUE, "gaussian_nll_loss", "var", found, "0 or more");
}

// log(var) and var for the loss.
static std::pair<Tensor, Tensor> variance(const Tensor& var, double eps, Dims shape) {
  if (var.is_number()) {
    const double v = item_f64(var);
    if (v < 0) refuse_variance("is " + std::to_string(v));
    const double held = v < eps ? eps : v;
    return {number(std::log(held)), number(held)};
  }
  if (var.device().is_cpu()) {
    const ModeGuard off(kModeGrad | kModeForward);
    if (item_bool(any(lt(var, number(int64_t{0}))))) refuse_variance("holds a negative number");
  }
  const Tensor held = limited("gaussian_nll_loss", fitted("gaussian_nll_loss", var, shape), eps);
  return {log(held), held};
}

Tensor gaussian_nll_loss_impl(const Tensor& input, const Tensor& target, const Tensor& var,
                              bool full, double eps, Word reduction) {
  const char* const op = "gaussian_nll_loss";
  const Reduce how = reduction_of(op, reduction);
  const DefaultFloatEnvironment environment;
  if (var.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, op, "var", std::string("is ") + name_of(var.dtype()),
                  "a real dtype");
  if (!var.is_number()) check_floating(op, {var, "var"});  // it is limited by eps in place
  check_real_pair(op, {input, "input"}, {target, "target"});
  const Named named(op);
  const auto of_var = variance(var, eps, input.shape());
  const auto& [logs, variances] = of_var;
  const Tensor squares = rename_error(op, {{"input", "input"}, {"other", "target"}},
                                      [&] { return square(input - target); });
  Tensor losses = (logs + squares / variances) * 0.5;
  if (full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return named(reduced(losses, how));
}

}  // namespace libdl
