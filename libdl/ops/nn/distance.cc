// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/distance.h"

#include "ops/creation/copy.h"
#include "ops/indexing/index_select.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduction/reduction.h"

namespace libdl {

static Tensor norm_of_rows(const Tensor& x, double p, bool keepdim) {
  const int64_t last[] = {-1};
  const Tensor order = number(p);
  return norm(x, &order, Dims(last), keepdim, Dtype::kNone);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  LIBDL_OBSERVED(pairwise_distance, x1, x2, p, eps, keepdim);
  const char* const op = "pairwise_distance";
  static constexpr const char* kNames[] = {"x1", "x2"};
  const Tensor* const operands[] = {&x1, &x2};
  if (broadcast_shape(op, kNames, operands).empty())
    fail_argument(LIBDL_ERROR_SHAPE, op, 1, "x1", "is 0-d", "at least one dimension");
  const Named named(op);
  return named(rename_error(op, {{"input", 1, "x1"}, {"other", 2, "x2"}, {"p", 3, "p"}},
                            [&] { return norm_of_rows((x1 - x2) + eps, p, keepdim); }));
}

Tensor pdist(const Tensor& input, double p) {
  LIBDL_OBSERVED(pdist, input, p);
  const char* const op = "pdist";
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, 1, "input", std::string("is ") + name_of(input.dtype()),
                  "a floating dtype");
  if (input.ndim() != 2)
    fail_argument(LIBDL_ERROR_SHAPE, op, 1, "input", "has shape " + to_string(input.shape()),
                  "[n, d]");
  if (!(p >= 0))
    fail_argument(LIBDL_ERROR_VALUE, op, 2, "p", "is " + std::to_string(p), "0 or more");
  const int64_t n = input.size(0), pairs[] = {n > 1 ? n * (n - 1) / 2 : 0};
  const Tensor first = empty(pairs, Dtype::kInt64), second = empty(pairs, Dtype::kInt64);
  if (pairs[0] > 0) {
    int64_t *a = first.overwrite_plain<int64_t>(), *b = second.overwrite_plain<int64_t>();
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) *a++ = i, *b++ = j;
  }
  const Named named(op);
  const auto points = [&](const Tensor& numbers) {
    return index_select(input, 0, on_device(numbers, input.device()));
  };
  return named(rename_error(op, {{"input", 1, "input"}, {"p", 2, "p"}}, [&] {
    return norm_of_rows(points(first) - points(second), p, false);
  }));
}

}  // namespace libdl
