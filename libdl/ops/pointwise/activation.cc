// SPDX-License-Identifier: Apache-2.0

#include <numbers>

#include "entries/activation.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"

namespace libdl {

const PointwiseOp k_tanh{
    .name = "tanh",
    .expression = Expression::tanh,
    .arguments = {"input"},
    .promotion = Promotion::kFloat,
    .partials = {[](const Symbols& s) { return s.dy * conj(1.0 - s.y * s.y); }}};

const PointwiseOp k_sigmoid{
    .name = "sigmoid",
    .expression = Expression::sigmoid,
    .arguments = {"input"},
    .promotion = Promotion::kFloat,
    .partials = {[](const Symbols& s) { return s.dy * conj(s.y * (1.0 - s.y)); }}};

// erf' = 2/sqrt(pi) exp(-x^2)
const PointwiseOp k_erf{.name = "erf",
                        .expression = Expression::erf,
                        .arguments = {"input"},
                        .promotion = Promotion::kFloat,
                        .partials = {[](const Symbols& s) {
                          const double c = 2 * std::numbers::inv_sqrtpi;
                          return s.dy * exp(-(s.x[0] * s.x[0])) * c;
                        }}};

// 1 where x > 0: the derivative of relu, from its result. Its own derivative is 0.
const PointwiseOp k_positive{.name = "relu_backward",
                             .expression = Expression::positive,
                             .arguments = {"input"},
                             .zero_gradient = true};
const PointwiseOp k_relu{
    .name = "relu",
    .expression = Expression::relu,
    .arguments = {"input"},
    .partials = {[](const Symbols& s) { return where(positive(s.y), s.dy, constant(0)); }}};

// x sigmoid(x); derivative s (1 + x (1 - s))
const PointwiseOp k_silu{.name = "silu",
                         .expression = Expression::silu,
                         .arguments = {"input"},
                         .partials = {[](const Symbols& s) {
                           const Expr p = sigmoid(s.x[0]);
                           return s.dy * conj(p * (1.0 + s.x[0] * (1.0 - p)));
                         }}};

// -- units with a number of their own ------------------------------------------------------------

// x; alpha (e^x - 1) below 0. Derivative alpha e^x, which is its own derivative.
const PointwiseOp k_elu{
    .name = "elu",
    .expression = Expression::elu,
    .arguments = {"input", "alpha"},
    .partials = {[](const Symbols& s) { return s.dy * elu_derivative(s.x[0], s.x[1]); }}};
const PointwiseOp k_elu_derivative{
    .name = "elu_backward",
    .expression = Expression::elu_derivative,
    .arguments = {"input", "alpha"},
    .partials = {[](const Symbols& s) { return s.dy * elu_curve(s.x[0], s.x[1]); }}};
const PointwiseOp k_elu_curve{.name = "elu_backward",
                              .expression = Expression::elu_curve,
                              .arguments = {"input", "alpha"},
                              .partials = {[](const Symbols& s) { return s.dy * s.y; }}};

const PointwiseOp k_leaky_relu{
    .name = "leaky_relu",
    .expression = Expression::leaky_relu,
    .arguments = {"input", "negative_slope"},
    .partials = {[](const Symbols& s) { return s.dy * leaky_relu_derivative(s.x[0], s.x[1]); }}};
const PointwiseOp k_leaky_relu_derivative{.name = "leaky_relu_backward",
                                          .expression = Expression::leaky_relu_derivative,
                                          .arguments = {"input", "negative_slope"},
                                          .zero_gradient = true};

// 0 in [-lambd, lambd]. Derivative 1 outside of it.
const PointwiseOp k_hardshrink{.name = "hardshrink",
                               .expression = Expression::hardshrink,
                               .arguments = {"input", "lambd"},
                               .partials = {[](const Symbols& s) {
                                 return where(hardshrink_derivative(s.x[0], s.x[1]), s.dy,
                                              constant(0));
                               }}};
const PointwiseOp k_hardshrink_derivative{.name = "hardshrink_backward",
                                          .expression = Expression::hardshrink_derivative,
                                          .arguments = {"input", "lambd"},
                                          .zero_gradient = true};

// Derivative p = sigmoid(beta x), 1 above the threshold; p' = beta p (1 - p) is then 0 by itself.
const PointwiseOp k_softplus{.name = "softplus",
                             .expression = Expression::softplus,
                             .arguments = {"input", "beta", "threshold"},
                             .partials = {[](const Symbols& s) {
                               return s.dy * softplus_derivative(s.x[0], s.x[1], s.x[2]);
                             }}};
const PointwiseOp k_softplus_derivative{
    .name = "softplus_backward",
    .expression = Expression::softplus_derivative,
    .arguments = {"input", "beta", "threshold"},
    .partials = {[](const Symbols& s) { return s.dy * s.y * (1.0 - s.y) * s.x[1]; }}};

const PointwiseOp k_logsigmoid{
    .name = "logsigmoid",
    .expression = Expression::logsigmoid,
    .arguments = {"input"},
    .partials = {[](const Symbols& s) { return s.dy * sigmoid(-s.x[0]); }},
    .row_major = true};

// -- gelu: x Phi(x), Hendrycks and Gimpel 2016 ---------------------------------------------------

const PointwiseOp k_gelu{
    .name = "gelu",
    .expression = Expression::gelu,
    .arguments = {"input"},
    .partials = {[](const Symbols& s) { return s.dy * gelu_derivative(s.x[0]); }}};
// gelu'' = (2 - x^2) phi(x), phi the normal density
const PointwiseOp k_gelu_derivative{.name = "gelu_backward",
                                    .expression = Expression::gelu_derivative,
                                    .arguments = {"input"},
                                    .partials = {[](const Symbols& s) {
                                      const Expr xx = s.x[0] * s.x[0];
                                      return s.dy * (2.0 - xx) * exp(xx * -0.5) *
                                             (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
                                    }}};

const PointwiseOp k_gelu_tanh{
    .name = "gelu",
    .expression = Expression::gelu_tanh,
    .arguments = {"input"},
    .partials = {[](const Symbols& s) { return s.dy * gelu_tanh_derivative(s.x[0]); }}};
// With u = c (x + a x^3), t = tanh u, q = 1 - t^2:
//   gelu' = (1 + t + x q u') / 2,  gelu'' = q (2 u' + x u'' - 2 x t u'^2) / 2
const PointwiseOp k_gelu_tanh_derivative{
    .name = "gelu_backward",
    .expression = Expression::gelu_tanh_derivative,
    .arguments = {"input"},
    .partials = {[](const Symbols& s) {
      const double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, a = 0.044715;
      const Expr x = s.x[0], xx = x * x;
      const Expr t = tanh(x * (1.0 + xx * a) * c);
      const Expr du = (1.0 + xx * (3 * a)) * c;
      const Expr curve = du * 2.0 + xx * (6 * a * c) - x * t * du * du * 2.0;
      return s.dy * (1.0 - t * t) * curve * 0.5;
    }}};

Tensor gelu_impl(const Tensor& input, std::optional<std::string_view> approximate, Into into) {
  if (!approximate || *approximate == "none") return pointwise(k_gelu, input, into);
  if (*approximate == "tanh") return pointwise(k_gelu_tanh, input, into);
  fail_argument(LIBDL_ERROR_VALUE, "gelu", "approximate",
                "is \"" + std::string(*approximate) + "\"", "\"none\" or \"tanh\"");
}

}  // namespace libdl
