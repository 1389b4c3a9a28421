// SPDX-License-Identifier: Apache-2.0

// Normalisations that are composed of layer_norm, batch_norm and elementwise operators.

#include <limits>

#include "entries/arithmetic.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/nn/layer_norm.h"
#include "ops/nn/rescaled.h"
#include "ops/nn/running.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/operand.h"
#include "ops/view/view.h"

namespace libdl {

namespace {
struct Affine {
  const Tensor *weight, *bias;
};
}  // namespace

static int64_t pixels_of(const Tensor& input) {
  int64_t pixels = 1;
  for (int d = 2; d < input.ndim(); ++d) pixels *= input.size(d);
  return pixels;
}

// -- groups of channels ---------------------------------------------------------------------------

// Each row of `groups` parts has mean 0 and variance 1; then weight and bias of each channel.
static Tensor of_groups(const Tensor& input, int64_t groups, Affine affine, double eps) {
  const Tensor x = cast(input, normalised_as(input.dtype()));
  // Of no channels there may be any number of groups.
  const int64_t rows = x.numel() ? x.size(0) * groups : 0, count = rows ? x.numel() / rows : 0;
  const int64_t shape[] = {rows, count}, row[] = {count};
  Tensor y = reshape(layer_norm(reshape(x, shape), row, nullptr, nullptr, eps), x.shape());
  const auto along = [&](const Tensor& vector) {
    return along_channels(cast(vector, y.dtype()), y.shape());
  };
  if (affine.weight && affine.bias) {
    y = addcmul(along(*affine.bias), y, along(*affine.weight), nullptr);
  } else if (affine.weight) {
    y = y * along(*affine.weight);
  } else if (affine.bias) {
    y = y + along(*affine.bias);
  }
  return cast(y, input.dtype());
}

Tensor group_norm_impl(const Tensor& input, int64_t num_groups, const Tensor* weight,
                       const Tensor* bias, double eps) {
  const char* const op = "group_norm";
  if (input.ndim() < 2)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "[n, c, ...]");
  if (num_groups > 0 && input.size(0) * input.size(1) / num_groups * pixels_of(input) == 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "more than one value per group");
  check_floating(op, {input, "input"});
  check_input_of(op, input, {weight, bias});
  if (num_groups < 1 || input.size(1) % num_groups)
    fail_argument(LIBDL_ERROR_VALUE, op, "num_groups", "is " + std::to_string(num_groups),
                  "a divisor of the channels, " + std::to_string(input.size(1)));
  check_channels(op, input, "weight", weight);
  check_channels(op, input, "bias", bias);
  const Named named(op);
  return named(of_groups(input, num_groups, {weight, bias}, eps));
}

// -- each sample for itself -----------------------------------------------------------------------

// The running statistics take up the samples' average mean and variance.
static void update(const Tensor& input, Running running, double momentum) {
  if (!running.mean && !running.var) return;
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor x = cast(input, normalised_as(input.dtype()));
  static constexpr int64_t kSamples[] = {0};
  Shape pixels;
  for (int d = 2; d < x.ndim(); ++d) pixels.push_back(d);
  const auto average = [](const Tensor& of_each) { return mean(of_each, Dims(kSamples)); };
  RunningUpdate both("instance_norm", running);
  both.prepare(average(mean(x, Dims(pixels))), average(var(x, Dims(pixels), nullptr, false)),
               momentum);
  both.write();
}

Tensor instance_norm_impl(const Tensor& input, const Tensor* running_mean,
                          const Tensor* running_var, const Tensor* weight, const Tensor* bias,
                          bool use_input_stats, double momentum, double eps) {
  const char* const op = "instance_norm";
  if (use_input_stats && pixels_of(input) == 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "more than one pixel if its statistics are used");
  check_floating(op, {input, "input"});
  if (input.ndim() < 2)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "[n, c, ...]");
  const Running running{running_mean, running_var};
  check_input_of(op, input, {running_mean, running_var, weight, bias});
  check_running(op, input, running, use_input_stats);
  check_channels(op, input, "weight", weight);
  check_channels(op, input, "bias", bias);
  const Named named(op);
  if (!use_input_stats)
    return named(rename_error(op, {{"eps", "eps"}}, [&] {
      return batch_norm(input, running_mean, running_var, weight, bias, false, momentum, eps);
    }));
  const Tensor y = named(of_groups(input, input.size(1), {weight, bias}, eps));
  if (input.numel()) update(input, running, momentum);
  return y;
}

// -- by the root of the mean square ---------------------------------------------------------------

Tensor rms_norm_impl(const Tensor& input, Dims normalized_shape, const Tensor* weight,
                     std::optional<double> eps) {
  const char* const op = "rms_norm";
  if (!input.is_complex()) check_floating(op, {input, "input"});
  check_normalized(op, input, normalized_shape, weight);
  if (weight && !same(weight->shape(), normalized_shape))
    fail_argument(LIBDL_ERROR_SHAPE, op, "weight", "has shape " + to_string(weight->shape()),
                  to_string(normalized_shape));
  if (weight && !is_floating(weight->dtype()) && !(weight->is_complex() && input.is_complex()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "weight", std::string("is ") + name_of(weight->dtype()),
                  "a floating dtype");
  const Named named(op);
  Shape dims;
  for (int d = input.ndim() - static_cast<int>(normalized_shape.size()); d < input.ndim(); ++d)
    dims.push_back(d);
  const Tensor x = cast(input, normalised_as(input.dtype()));
  const bool wide = x.dtype() == Dtype::kFloat64 || x.dtype() == Dtype::kComplex128;
  const double least =
      wide ? std::numeric_limits<double>::epsilon() : double{std::numeric_limits<float>::epsilon()};
  const Rooted root = rooted(x, Dims(dims), eps.value_or(least));
  Tensor y = root.x * root.rstd;
  if (weight) y = y * cast(*weight, y.dtype());
  return named(own(cast(y, input.dtype())));
}

}  // namespace libdl
