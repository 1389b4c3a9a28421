// SPDX-License-Identifier: Apache-2.0

#include "ops/activation.h"

#include <cmath>
#include <numbers>

#include "ops/pointwise.h"

namespace libdl {

const PointwiseOp k_tanh{.name = "tanh",
                         .expression = Expression::k_tanh,
                         .arguments = {"input"},
                         .promotion = Promotion::kFloat,
                         .partials = {[](const Symbols& s) {
                           return s.dy * conj(1.0 - s.y * s.y);
                         }}};
Tensor tanh(const Tensor& input, Into into) { return pointwise(k_tanh, input, into); }

const PointwiseOp k_sigmoid{.name = "sigmoid",
                            .expression = Expression::k_sigmoid,
                            .arguments = {"input"},
                            .promotion = Promotion::kFloat,
                            .partials = {[](const Symbols& s) {
                              return s.dy * conj(s.y * (1.0 - s.y));
                            }}};
Tensor sigmoid(const Tensor& input, Into into) { return pointwise(k_sigmoid, input, into); }

// erf' = 2/sqrt(pi) exp(-x^2)
const PointwiseOp k_erf{.name = "erf",
                        .expression = Expression::k_erf,
                        .arguments = {"input"},
                        .promotion = Promotion::kFloat,
                        .partials = {[](const Symbols& s) {
                          const double c = 2 * std::numbers::inv_sqrtpi;
                          return s.dy * exp(-(s.x[0] * s.x[0])) * c;
                        }}};
Tensor erf(const Tensor& input, Into into) { return pointwise(k_erf, input, into); }

// 1 where x > 0: the slope of relu, from its result. Its own slope is 0.
const PointwiseOp k_positive{.name = "relu_backward",
                             .expression = Expression::k_positive,
                             .arguments = {"input"},
                             .zero_gradient = true};
const PointwiseOp k_relu{.name = "relu",
                         .expression = Expression::k_relu,
                         .arguments = {"input"},
                         .partials = {[](const Symbols& s) {
                           return where(positive(s.y), s.dy, constant(0));
                         }}};
Tensor relu(const Tensor& input, Into into) { return pointwise(k_relu, input, into); }

// x sigmoid(x); slope s (1 + x (1 - s))
const PointwiseOp k_silu{.name = "silu",
                         .expression = Expression::k_silu,
                         .arguments = {"input"},
                         .partials = {[](const Symbols& s) {
                           const Expr p = sigmoid(s.x[0]);
                           return s.dy * conj(p * (1.0 + s.x[0] * (1.0 - p)));
                         }}};
Tensor silu(const Tensor& input, Into into) { return pointwise(k_silu, input, into); }

// -- gelu: x Phi(x), Hendrycks and Gimpel 2016 ---------------------------------------------------

const PointwiseOp k_gelu{.name = "gelu",
                         .expression = Expression::k_gelu,
                         .arguments = {"input"},
                         .partials = {[](const Symbols& s) { return s.dy * gelu_slope(s.x[0]); }}};
// gelu'' = (2 - x^2) phi(x), phi the normal density
const PointwiseOp k_gelu_slope{
    .name = "gelu_backward",
    .expression = Expression::k_gelu_slope,
    .arguments = {"input"},
    .partials = {[](const Symbols& s) {
      const Expr xx = s.x[0] * s.x[0];
      return s.dy * (2.0 - xx) * exp(xx * -0.5) *
             (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    }}};

const PointwiseOp k_gelu_tanh{.name = "gelu",
                              .expression = Expression::k_gelu_tanh,
                              .arguments = {"input"},
                              .partials = {[](const Symbols& s) {
                                return s.dy * gelu_tanh_slope(s.x[0]);
                              }}};
// With u = c (x + a x^3), t = tanh u, q = 1 - t^2:
//   gelu' = (1 + t + x q u') / 2,  gelu'' = q (2 u' + x u'' - 2 x t u'^2) / 2
const PointwiseOp k_gelu_tanh_slope{
    .name = "gelu_backward",
    .expression = Expression::k_gelu_tanh_slope,
    .arguments = {"input"},
    .partials = {[](const Symbols& s) {
      const double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, a = 0.044715;
      const Expr x = s.x[0], xx = x * x;
      const Expr t = tanh(x * (1.0 + xx * a) * c);
      const Expr du = (1.0 + xx * (3 * a)) * c;
      const Expr curve = du * 2.0 + xx * (6 * a * c) - x * t * du * du * 2.0;
      return s.dy * (1.0 - t * t) * curve * 0.5;
    }}};

Tensor gelu(const Tensor& input, std::optional<std::string_view> approximate, Into into) {
  if (!approximate || *approximate == "none") return pointwise(k_gelu, input, into);
  if (*approximate == "tanh") return pointwise(k_gelu_tanh, input, into);
  fail_argument(LIBDL_ERROR_VALUE, "gelu", 2, "approximate",
                "is \"" + std::string(*approximate) + "\"", "\"none\" or \"tanh\"");
}

}  // namespace libdl
