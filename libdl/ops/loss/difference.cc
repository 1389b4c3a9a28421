// SPDX-License-Identifier: Apache-2.0

// Losses of the difference between input and target.
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/loss.h"
#include "entries/reduction.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/loss/reduced.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/summed.h"

namespace libdl {

// -- l1 -------------------------------------------------------------------------------------------

const PointwiseOp k_l1_loss{
    .name = "l1_loss",
    .expression = Expression::l1_loss,
    .arguments = {"input", "target"},
    .partials = {[](const Symbols& s) { return s.dy * sign(s.x[0] - s.x[1]); },
                 [](const Symbols& s) { return -(s.dy * sign(s.x[0] - s.x[1])); }}};

// Integers keep their dtype and complex numbers become real: no one expression does either.
static Tensor absolute_difference(const char* op, const Tensor& input, const Tensor& target) {
  return rename_error(op, {{"input", "input"}, {"target", "target"}, {"other", "target"}}, [&] {
    return is_floating(promote(input.dtype(), target.dtype())) ? pointwise(k_l1_loss, input, target)
                                                               : abs(sub(input, target));
  });
}

Tensor l1_loss_impl(const Tensor& input, const Tensor& target, Word reduction,
                    const Tensor* weight) {
  const char* const op = "l1_loss";
  const Reduce how = reduction_of(op, reduction);
  const Named named(op);
  const Tensor losses = absolute_difference(op, input, target);
  check_weights(op, weight, losses.shape());
  const Tensor each = weight ? mul(losses, *weight) : losses;
  if (weight && how == Reduce::kMean)
    return named(divided_sum(each, {}, sum(cast(*weight, summed_as(weight->dtype())))));
  return named(rename_error(op, {{"input", "input"}}, [&] { return reduced(each, how); }));
}

// -- squared near 0 -------------------------------------------------------------------------------

// In both, with d = x - t, the derivative is d limited to a range: the units' own.

static Expr smooth_l1_slope(const Symbols& s) {
  return hardtanh((s.x[0] - s.x[1]) / s.x[2], constant(-1), constant(1));
}
const PointwiseOp k_smooth_l1_loss{
    .name = "smooth_l1_loss",
    .expression = Expression::smooth_l1_loss,
    .arguments = {"input", "target", "beta"},
    .partials = {[](const Symbols& s) { return s.dy * smooth_l1_slope(s); },
                 [](const Symbols& s) { return -(s.dy * smooth_l1_slope(s)); }}};

static Expr huber_slope(const Symbols& s) { return hardtanh(s.x[0] - s.x[1], -s.x[2], s.x[2]); }
const PointwiseOp k_huber_loss{
    .name = "huber_loss",
    .expression = Expression::huber_loss,
    .arguments = {"input", "target", "delta"},
    .partials = {[](const Symbols& s) { return s.dy * huber_slope(s); },
                 [](const Symbols& s) { return -(s.dy * huber_slope(s)); }}};

// The width of the squared part, in the dtype of the computation.
static Tensor width(const char* op, const char* name, double value, const Tensor& input,
                    const Tensor& target) {
  const Tensor held = number(value);
  const bool wide = promote(input.dtype(), target.dtype()) == Dtype::kFloat64;
  check_number(op, name, held, wide ? Dtype::kFloat64 : Dtype::kFloat32);
  return held;
}

Tensor smooth_l1_loss_impl(const Tensor& input, const Tensor& target, Word reduction, double beta) {
  const char* const op = "smooth_l1_loss";
  const Reduce how = reduction_of(op, reduction);
  if (!(beta >= 0))
    fail_argument(LIBDL_ERROR_VALUE, op, "beta", "is " + std::to_string(beta), "0 or more");
  const Named named(op);
  if (beta == 0)
    return named(rename_error(op, {{"input", "input"}}, [&] {
      return reduced(absolute_difference(op, input, target), how);
    }));
  check_pair(op, {input, "input"}, {target, "target"});
  const Tensor bend = width(op, "beta", beta, input, target);
  return named(reduced(pointwise(k_smooth_l1_loss, input, target, bend), how));
}

Tensor huber_loss_impl(const Tensor& input, const Tensor& target, Word reduction, double delta,
                       const Tensor* weight) {
  const char* const op = "huber_loss";
  const Reduce how = reduction_of(op, reduction);
  if (!(delta > 0))
    fail_argument(LIBDL_ERROR_VALUE, op, "delta", "is " + std::to_string(delta), "above 0");
  check_pair(op, {input, "input"}, {target, "target"});
  const Tensor bend = width(op, "delta", delta, input, target);
  const Named named(op);
  const Tensor losses = pointwise(k_huber_loss, input, target, bend);
  check_weights(op, weight, losses.shape());
  return named(reduced(weight ? mul(losses, *weight) : losses, how));
}

}  // namespace libdl
