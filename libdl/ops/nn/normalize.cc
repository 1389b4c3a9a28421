// SPDX-License-Identifier: Apache-2.0

// Vectors of length 1, and the cosine of the angle between them.

#include <optional>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/distance.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/operand.h"

namespace libdl {

Tensor normalize_impl(const Tensor& input, double p, std::optional<Dims> dims, double eps) {
  const Tensor order = number(p), least = number(eps);
  const int64_t columns[] = {1};
  return input / clamp(norm(input, &order, dims.value_or(columns), true), &least, nullptr);
}

Tensor cosine_similarity_impl(const Tensor& x1, const Tensor& x2, int32_t dim, double eps) {
  const char* const op = "cosine_similarity";
  require_tensor(op, {x1, "x1"});
  require_tensor(op, {x2, "x2"});
  const Tensor* const operands[] = {&x1, &x2};
  const char* const names[] = {"x1", "x2"};
  const Dtype dtype = result_dtype(operands);
  if (!is_floating(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, op, "x1", std::string("is ") + name_of(dtype),
                  "a floating dtype in common with argument (x2)");
  const Shape shape = broadcast_shape(op, names, operands);
  const int64_t dims[] = {checked_axis(op, "dim", dim, static_cast<int>(shape.size()))};
  const auto unit = [&](const Tensor& x) {
    return normalize(expand(to(x, dtype, std::nullopt), shape), 2, Dims(dims), eps);
  };
  return sum(unit(x1) * unit(x2), dims);
}

}  // namespace libdl
