// SPDX-License-Identifier: Apache-2.0

// Units of newer networks: piecewise linear ones, and relatives of elu and silu.
#include <cmath>

#include "entries/activation.h"
#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/creation/draw.h"
#include "ops/pointwise/pointwise.h"
#include "ops/view/view.h"
#include "runtime/float_environment.h"
#include "tensor/memory_order.h"

namespace libdl {

// -- of straight lines ----------------------------------------------------------------------------

static Expr between(Expr x, double low, double high) {
  return hardtanh_derivative(x, constant(low), constant(high));
}

const PointwiseOp k_hardtanh{.name = "hardtanh",
                             .expression = Expression::hardtanh,
                             .arguments = {"input", "min_val", "max_val"},
                             .partials = {[](const Symbols& s) {
                               return where(hardtanh_derivative(s.x[0], s.x[1], s.x[2]), s.dy,
                                            constant(0));
                             }}};
const PointwiseOp k_hardtanh_derivative{.name = "hardtanh_backward",
                                        .expression = Expression::hardtanh_derivative,
                                        .arguments = {"input", "min_val", "max_val"},
                                        .zero_gradient = true};

// A limit of integers in their dtype, rounded towards 0.
static Tensor whole_limit(const char* name, double value, Dtype dtype) {
  return held("hardtanh", name, number(value), dtype);
}

Tensor hardtanh_impl(const Tensor& input, double min_val, double max_val, Into into) {
  const char* const op = "hardtanh";
  if (min_val > max_val)
    fail_argument(LIBDL_ERROR_VALUE, op, "min_val", "is " + std::to_string(min_val),
                  "at most max_val, which is " + std::to_string(max_val));
  if (is_integral(input.dtype())) {
    const bool from_zero = input.dtype() <= Dtype::kUint64 && min_val < 0;  // of unsigned ones
    const Tensor low = whole_limit("min_val", from_zero ? 0 : min_val, input.dtype());
    const Tensor high = whole_limit("max_val", max_val, input.dtype());
    return rename_error(op, {{"input", "input"}}, [&] { return clamp(input, &low, &high, into); });
  }
  const Tensor low = unit_number(op, "min_val", min_val, input);
  const Tensor high = unit_number(op, "max_val", max_val, input);
  return pointwise(k_hardtanh, input, low, high, into);
}

const PointwiseOp k_hardsigmoid{.name = "hardsigmoid",
                                .expression = Expression::hardsigmoid,
                                .arguments = {"input"},
                                .partials = {[](const Symbols& s) {
                                  return where(between(s.x[0], -3, 3), s.dy * (1.0 / 6),
                                               constant(0));
                                }}};

// Derivative x / 3 + 1 / 2 in (-3, 3), 0 below and 1 above; a NaN is kept.
const PointwiseOp k_hardswish{.name = "hardswish",
                              .expression = Expression::hardswish,
                              .arguments = {"input"},
                              .partials = {[](const Symbols& s) {
                                const Expr cut = hardtanh(s.x[0], constant(-3), constant(3));
                                const Expr above =
                                    leaky_relu_derivative(s.x[0], constant(0)) + (cut - cut);
                                const Expr line = s.x[0] * (1.0 / 3) + 0.5;
                                return s.dy * where(between(s.x[0], -3, 3), line, above);
                              }}};

const PointwiseOp k_softshrink{.name = "softshrink",
                               .expression = Expression::softshrink,
                               .arguments = {"input", "lambd"},
                               .partials = {[](const Symbols& s) {
                                 return where(hardshrink_derivative(s.x[0], s.x[1]), s.dy,
                                              constant(0));
                               }}};
Tensor softshrink_impl(const Tensor& input, double lambd, Into into) {
  const Tensor width = unit_number("softshrink", "lambd", lambd, input);
  if (!(lambd >= 0))
    fail_argument(LIBDL_ERROR_VALUE, "softshrink", "lambd", "is " + std::to_string(lambd),
                  "0 or more");
  return pointwise(k_softshrink, input, width, into);
}

// What elements are compared with, or replaced by: of integers in their dtype.
static Tensor limit(const char* name, const Tensor& value, const Tensor& input) {
  if (value.ndim() != 0)
    fail_argument(LIBDL_ERROR_SHAPE, "threshold", name, "has shape " + to_string(value.shape()),
                  "a number");
  if (!is_floating(input.dtype()) || value.is_complex())
    return held("threshold", name, value, input.dtype());
  return value.is_number() ? value : to(value, input.dtype(), std::nullopt);
}

Tensor threshold_impl(const Tensor& input, const Tensor& threshold, const Tensor& value) {
  const Tensor top = limit("threshold", threshold, input), other = limit("value", value, input);
  // itself, recorded: its second derivative is 0, where an operand's is absent
  const Tensor kept = has_history(input) ? leaky_relu(input, 1) : input;
  return where(le(input, top), other, kept);
}

Tensor relu6_impl(const Tensor& input) { return hardtanh(input, 0, 6); }

Tensor softsign_impl(const Tensor& input) {
  return div(input, add(abs(input), number(int64_t{1})));
}

Tensor tanhshrink_impl(const Tensor& input) { return sub(input, tanh(input)); }

// -- of exponentials ------------------------------------------------------------------------------

// Klambauer et al. 2017, as in kernels/expressions.h.
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;

const PointwiseOp k_selu{.name = "selu",
                         .expression = Expression::selu,
                         .arguments = {"input"},
                         .partials = {[](const Symbols& s) {
                           return s.dy * elu_derivative(s.x[0], constant(kSeluAlpha)) * kSeluScale;
                         }}};

// At 0 the slope has the derivative 0, as elu's.
const PointwiseOp k_celu{.name = "celu",
                         .expression = Expression::celu,
                         .arguments = {"input", "alpha"},
                         .partials = {[](const Symbols& s) {
                           const Expr below = hardtanh(s.x[0], constant(-INFINITY), constant(0));
                           const Expr slope = exp(below / s.x[1]);
                           return s.dy * where(leaky_relu_derivative(s.x[0], constant(0)),
                                               constant(1), slope);
                         }}};
Tensor celu_impl(const Tensor& input, double alpha, Into into) {
  const Tensor limit = unit_number("celu", "alpha", alpha, input);
  if (alpha == 0) fail_argument(LIBDL_ERROR_VALUE, "celu", "alpha", "is 0", "another number");
  return pointwise(k_celu, input, limit, into);
}

// With w = e^x and n = w (w + 2), mish is x n / (n + 2), and (n / (n + 2))' = 4 w (w + 1) / (n +
// 2)^2. From 20 on the quotient is 1 and its derivative 0.
const PointwiseOp k_mish{.name = "mish",
                         .expression = Expression::mish,
                         .arguments = {"input"},
                         .partials = {[](const Symbols& s) {
                           const Expr low = hardtanh(s.x[0], constant(-1000), constant(20));
                           const Expr w = exp(low), n = w * (w + 2.0), below = n + 2.0;
                           const Expr bend = low * w * (w + 1.0) * 4.0 / (below * below);
                           return s.dy * (n / below + bend);
                         }}};

// -- with a second operand ------------------------------------------------------------------------

const PointwiseOp k_glu{.name = "glu",
                        .expression = Expression::glu,
                        .arguments = {"input", "input"},
                        .partials = {[](const Symbols& s) { return s.dy * sigmoid(s.x[1]); },
                                     [](const Symbols& s) {
                                       const Expr p = sigmoid(s.x[1]);
                                       return s.dy * s.x[0] * p * (1.0 - p);
                                     }}};
Tensor glu_impl(const Tensor& input, int32_t dim) {
  const char* const op = "glu";
  if (input.ndim() == 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "is 0-d", "at least one dimension");
  const int axis = checked_axis(op, "dim", dim, input.ndim());
  const int64_t size = input.size(axis);
  if (size % 2 != 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "an even size of dimension " + std::to_string(axis));
  const Named named(op);
  return named(
      pointwise(k_glu, narrow(input, axis, 0, size / 2), narrow(input, axis, size / 2, size / 2)));
}

// The step is 1 where input is above 0.
static Expr step(Expr x) { return leaky_relu_derivative(x, constant(0)); }
const PointwiseOp k_prelu{
    .name = "prelu",
    .expression = Expression::prelu,
    .arguments = {"input", "weight"},
    .partials = {[](const Symbols& s) { return where(step(s.x[0]), s.dy, s.dy * s.x[1]); },
                 [](const Symbols& s) { return where(step(s.x[0]), constant(0), s.dy * s.x[0]); }}};
Tensor prelu_impl(const Tensor& input, const Tensor& weight) {
  const char* const op = "prelu";
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a floating dtype");
  if (!is_floating(weight.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "weight", std::string("is ") + name_of(weight.dtype()),
                  "a floating dtype");
  if (weight.dtype() != input.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  std::string(name_of(weight.dtype())) + ", as argument (weight)");
  const int64_t channels = input.ndim() > 1 ? input.size(1) : 1;
  if (weight.ndim() > 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "weight", "has shape " + to_string(weight.shape()),
                  "[" + std::to_string(channels) + "], one a channel, or one element");
  if (weight.numel() != 1 && weight.numel() != channels)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  std::to_string(weight.numel()) + " channels, as weight has");
  const Named named(op);
  if (weight.numel() == 1) {
    const Tensor slope = weight.ndim() ? reshape(weight, Dims()) : weight;
    return named(pointwise(k_prelu, input, slope));
  }
  return named(pointwise(k_prelu, input, along_channels(weight, input.shape())));
}

Tensor rrelu_impl(const Tensor& input, double lower, double upper, bool training,
                  Generator* generator, Into into) {
  const char* const op = "rrelu";
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a floating dtype");
  if (!std::isfinite(lower))
    fail_argument(LIBDL_ERROR_VALUE, op, "lower", "is " + std::to_string(lower), "a finite number");
  if (!std::isfinite(upper) || lower > upper)
    fail_argument(LIBDL_ERROR_VALUE, op, "upper", "is " + std::to_string(upper),
                  "a finite number, not below lower, which is " + std::to_string(lower));
  const Named named(op);
  if (!training) {
    const DefaultFloatEnvironment environment;
    const double mean = lower / 2 + upper / 2;
    return named(rename_error(op, {{"negative_slope", "lower"}},
                              [&] { return leaky_relu(input, mean, into); }));
  }
  const Tensor slopes = empty_as(input, input.dtype(), input.device());
  Refund refund(generator);
  draw_into(slopes, {Distribution::kUniform, lower, upper}, generator);
  refund.drawn();
  Tensor y = named(rename_error(op, {}, [&] { return pointwise(k_prelu, input, slopes, into); }));
  refund.spent();
  return y;
}

}  // namespace libdl
