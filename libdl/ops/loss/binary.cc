// SPDX-License-Identifier: Apache-2.0

// Losses of decisions between two classes.
#include <cmath>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/loss.h"
#include "entries/reduction.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/loss/reduced.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/summed.h"

namespace libdl {

// -- of probabilities -----------------------------------------------------------------------------

constexpr double kLeast = 1e-12;  // of x (1 - x) in a divisor, as in PyTorch

namespace {
// d loss / dx = (x - t) / (x (1 - x)), of which the second derivative is not that of the expression
// at 0 and 1: where the divisor is kLeast instead, it would be 1 / kLeast even for x = t.
struct Slope {
  Tensor x, t, divisor;

  // 16 bits do not hold kLeast.
  Slope(const Tensor& input, const Tensor& target)
      : x(cast(input, summed_as(input.dtype()))), t(cast(target, x.dtype())) {
    const Tensor least = number(kLeast);
    divisor = maximum(x * (number(1.0) - x), least);
  }
  Tensor value() const { return (x - t) / divisor; }
  Tensor by_input() const {
    const Tensor from_0 = x + kLeast, from_1 = (number(1.0) - x) + kLeast;
    return (x * x - x * t * 2.0 + t) / (square(from_0) * square(from_1));
  }
  Tensor by_target() const { return number(-1.0) / divisor; }
};
}  // namespace

static void slope_vjp(Backward& b) {
  const Tensor dy = b.saved(0), input = b.saved(1), target = b.saved(2);
  const Slope slope(input, target);
  const auto set = [&](int i, const Tensor& dx, const Tensor& x) {
    b.set_grad(i, cast(sum_to(dx, x.shape()), x.dtype()));
  };
  if (b.needs(0)) set(0, b.dy() * slope.value(), dy);
  if (b.needs(1)) set(1, b.dy() * dy * slope.by_input(), input);
  if (b.needs(2)) set(2, b.dy() * dy * slope.by_target(), target);
}

// dy times the slope of x = {input, target}, for i = 0.
static Tensor slope_of_losses(int i, const Tensor& dy, const Tensor* const* x) {
  if (i != 0) return {};
  static const Rule kRule{"binary_cross_entropy_backward", slope_vjp};
  const Tensor &input = *x[0], &target = *x[1];
  Call call("binary_cross_entropy_backward", {}, {&dy, &input, &target});
  const auto as_given = [&](const Tensor& z) { return cast(z, dy.dtype()); };
  Tensor y;
  {
    const ModeGuard off(kModeGrad | kModeForward);
    y = as_given(dy * Slope(input, target).value());
  }
  y = call.done(std::move(y), kRule, 0,
                {saves_input(dy, 0), saves_input(input, 1), saves_input(target, 2)});
  if (call.forward())
    call.jvp(y, [&] {
      const Slope slope(input, target);
      const Tensor derivatives[] = {slope.value(), dy * slope.by_input(), dy * slope.by_target()};
      Tensor sum;
      for (int k = 0; k < 3; ++k) {
        if (!call.tangent(k).defined()) continue;
        const Tensor part = call.tangent(k) * derivatives[k];
        sum = sum.defined() ? sum + part : part;
      }
      return as_given(sum);
    });
  return y;
}

// The slope, and the difference of the logarithms.
const PointwiseOp k_binary_cross_entropy{
    .name = "binary_cross_entropy",
    .expression = Expression::binary_cross_entropy,
    .arguments = {"input", "target"},
    .partials = {[](const Symbols& s) {
                   const Expr x = s.x[0];
                   return s.dy * (x - s.x[1]) / maximum(x * (1.0 - x), constant(kLeast));
                 },
                 [](const Symbols& s) { return s.dy * (log1p(-s.x[0]) - log(s.x[0])); }},
    .differentiable = slope_of_losses};

static void refuse_out_of_range(const char* name, const Tensor& x) {
  const Tensor all = plain(x, Dtype::kFloat64);
  const double* const value = all.read_plain<double>();
  for (int64_t i = 0; i < all.numel(); ++i)
    if (!(value[i] >= 0 && value[i] <= 1))
      fail_argument(LIBDL_ERROR_VALUE, "binary_cross_entropy", name,
                    "holds " + std::to_string(value[i]), "0 to 1");
}

// Numbers out of range make their loss a NaN, so that one sum tells that all are in range.
static void check_range(const Tensor& input, const Tensor& target, const Tensor& losses) {
  if (!input.device().is_cpu()) return;
  const ModeGuard off(kModeGrad | kModeForward);
  if (!std::isnan(item_f64(sum(losses)))) return;
  refuse_out_of_range("input", input);
  refuse_out_of_range("target", target);
}

Tensor binary_cross_entropy_impl(const Tensor& input, const Tensor& target, const Tensor* weight,
                                 Word reduction) {
  const char* const op = "binary_cross_entropy";
  const Reduce how = reduction_of(op, reduction);
  check_floating(op, {input, "input"});
  const auto same_dtype = [&](const char* name, const Tensor& x) {
    if (x.dtype() != input.dtype())
      fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(x.dtype()),
                    name_of(input.dtype()));
  };
  same_dtype("target", target);
  if (weight) same_dtype("weight", *weight);
  if (!same(target.shape(), input.shape()))
    fail_argument(LIBDL_ERROR_SHAPE, op, "target", "has shape " + to_string(target.shape()),
                  to_string(input.shape()));
  check_factor(op, "weight", weight, input.shape());
  const Named named(op);
  const Tensor losses = pointwise(k_binary_cross_entropy, input, target);
  check_range(input, target, losses);
  return named(reduced(weighted(losses, weight), how));
}

// -- of scores ------------------------------------------------------------------------------------

// l = (1 - t) x - (1 + (w - 1) t) log sigmoid(x), with w the positive class's weight.
static Expr share_of_positive(const Symbols& s) { return (s.x[2] - 1.0) * s.x[1] + 1.0; }
const PointwiseOp k_cross_entropy_of_logits{
    .name = "binary_cross_entropy_with_logits",
    .expression = Expression::cross_entropy_of_logits,
    .arguments = {"input", "target", "pos_weight"},
    .partials = {
        [](const Symbols& s) {
          return s.dy * ((1.0 - s.x[1]) - share_of_positive(s) * sigmoid(-s.x[0]));
        },
        [](const Symbols& s) { return s.dy * (-s.x[0] - (s.x[2] - 1.0) * logsigmoid(s.x[0])); },
        [](const Symbols& s) { return -(s.dy * s.x[1] * logsigmoid(s.x[0])); }}};

Tensor binary_cross_entropy_with_logits_impl(const Tensor& input, const Tensor& target,
                                             const Tensor* weight, Word reduction,
                                             const Tensor* pos_weight) {
  const char* const op = "binary_cross_entropy_with_logits";
  const Reduce how = reduction_of(op, reduction);
  check_floating(op, {input, "input"});
  check_floating(op, {target, "target"});
  if (!same(target.shape(), input.shape()))
    fail_argument(LIBDL_ERROR_SHAPE, op, "target", "has shape " + to_string(target.shape()),
                  to_string(input.shape()));
  if (weight && weight->is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, op, "weight", std::string("is ") + name_of(weight->dtype()),
                  "a real dtype");
  if (pos_weight && pos_weight->is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, op, "pos_weight",
                  std::string("is ") + name_of(pos_weight->dtype()), "a real dtype");
  check_factor(op, "weight", weight, input.shape());
  check_factor(op, "pos_weight", pos_weight, input.shape());
  const Named named(op);
  const Tensor positive =
      pos_weight ? cast(*pos_weight, promote(input.dtype(), target.dtype())) : number(1.0);
  const Tensor losses = pointwise(k_cross_entropy_of_logits, input, target, positive);
  return named(reduced(weighted(losses, weight), how));
}

Tensor multilabel_soft_margin_loss_impl(const Tensor& input, const Tensor& target,
                                        const Tensor* weight, Word reduction) {
  const char* const op = "multilabel_soft_margin_loss";
  const Reduce how = reduction_of(op, reduction);
  check_floating(op, {input, "input"});
  check_pair(op, {input, "input"}, {target, "target"});
  if (input.ndim() == 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "is 0-d", "a dimension of classes");
  const Named named(op);
  const Tensor losses = pointwise(k_cross_entropy_of_logits, input, target, number(1.0));
  const Tensor each = rename_error(op, {{"other", "weight"}, {"input", "weight"}},
                                   [&] { return weight ? mul(losses, *weight) : losses; });
  const int64_t classes[] = {input.ndim() - 1};
  const Tensor rows = divided_sum(each, Dims(classes), number(input.size(input.ndim() - 1)));
  return named(reduced(rows, how));
}

// -- of a sign ------------------------------------------------------------------------------------

const PointwiseOp k_soft_margin{
    .name = "soft_margin_loss",
    .expression = Expression::soft_margin,
    .arguments = {"input", "target"},
    .partials = {[](const Symbols& s) { return -(s.dy * s.x[1] * sigmoid(-(s.x[0] * s.x[1]))); },
                 [](const Symbols& s) { return -(s.dy * s.x[0] * sigmoid(-(s.x[0] * s.x[1]))); }}};
Tensor soft_margin_loss_impl(const Tensor& input, const Tensor& target, Word reduction) {
  const char* const op = "soft_margin_loss";
  const Reduce how = reduction_of(op, reduction);
  check_pair(op, {input, "input"}, {target, "target"});
  const Named named(op);
  return named(reduced(pointwise(k_soft_margin, input, target), how));
}

}  // namespace libdl
