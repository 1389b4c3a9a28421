// SPDX-License-Identifier: Apache-2.0

// Cross entropy of a linear layer's scores.
#include "entries/copy.h"
#include "entries/linalg.h"
#include "entries/loss.h"
#include "entries/nn.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "tensor/dtype.h"

namespace libdl {

static constexpr const char* kLinearCrossEntropyName = "linear_cross_entropy";

static void check_shapes(const Tensor& input, const Tensor& weight, const Tensor* bias) {
  const auto bad = [](const char* name, const std::string& found,
                      const std::string& wanted LIBDL_SOURCE_LOCATION) {
    fail_argument(LIBDL_ERROR_SHAPE, kLinearCrossEntropyName, name, found,
                  wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  const auto dimensions = [](const Tensor& x) {
    return "has " + std::to_string(x.ndim()) + " dimensions";
  };
  const auto shape = [](const Tensor& x) { return "has shape " + to_string(x.shape()); };
  if (input.ndim() != 1 && input.ndim() != 2) bad("input", dimensions(input), "1 or 2");
  if (weight.ndim() < 2) bad("linear_weight", dimensions(weight), "2 or more");
  const int64_t features = input.size(input.ndim() - 1);
  if (weight.size(weight.ndim() - 1) != features)
    bad("linear_weight", shape(weight),
        "[classes, ..., " + std::to_string(features) + "] as input has features");
  const Dims front = weight.shape().first(static_cast<size_t>(weight.ndim() - 1));
  if (bias && !same(bias->shape(), front)) bad("linear_bias", shape(*bias), to_string(front));
  if (weight.ndim() > 2 && input.ndim() == 1)
    bad("input", shape(input), "[n, features]: linear_weight has more than 2 dimensions");
}

// The scores of all classes, [n, classes, d1, ...], from a layer without d1, ...
static Tensor scores(const Tensor& input, const Tensor& weight, const Tensor* bias) {
  const Dims front = weight.shape().first(static_cast<size_t>(weight.ndim() - 1));
  int64_t rows = 1;
  for (const int64_t size : front) rows *= size;
  const Tensor flat = reshape(weight, Shape{rows, weight.size(weight.ndim() - 1)});
  Tensor offsets;
  if (bias) offsets = reshape(*bias, Shape{rows});
  const Tensor y = linear(input, flat, bias ? &offsets : nullptr);
  Shape shape(input.shape().first(static_cast<size_t>(input.ndim() - 1)));
  for (const int64_t size : front) shape.push_back(size);
  return reshape(y, shape);
}

Tensor linear_cross_entropy_impl(const Tensor& input, const Tensor& linear_weight,
                                 const Tensor& target, const Tensor* linear_bias,
                                 const Tensor* weight, std::optional<std::string_view> reduction,
                                 std::optional<int64_t> ignore_index, double label_smoothing,
                                 Dtype dtype) {
  check_shapes(input, linear_weight, linear_bias);
  const bool probabilities = is_floating(target.dtype());
  if (probabilities && ignore_index)
    fail_argument(LIBDL_ERROR_VALUE, kLinearCrossEntropyName, "ignore_index",
                  "is " + std::to_string(*ignore_index) + " and target has probabilities",
                  "classes, or None");
  if (dtype == Dtype::kNone)
    dtype = probabilities ? promote(input.dtype(), target.dtype()) : input.dtype();
  const auto as_dtype = [&](const Tensor& x) { return to(x, dtype, std::nullopt); };
  Tensor factors;
  if (weight) factors = as_dtype(*weight);
  return cross_entropy(as_dtype(scores(input, linear_weight, linear_bias)),
                       probabilities ? as_dtype(target) : target, weight ? &factors : nullptr,
                       ignore_index.value_or(-100), reduction, label_smoothing);
}

}  // namespace libdl
