// SPDX-License-Identifier: Apache-2.0

// The powers of elements, side by side.
#include <algorithm>

#include "entries/arrangement.h"
#include "entries/creation.h"
#include "entries/join.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/core/call.h"

namespace libdl {

// 1, x, ..., x^(count - 1) in a new last dimension; at least 1 of them.
static Tensor ascending_powers(const Tensor& x, int64_t count) {
  const Tensor column = unsqueeze(x, -1);
  Shape shape(x.shape());
  shape.push_back(count - 1);
  const Tensor one = ones_like(column, Dtype::kNone, std::nullopt);
  return cumprod(cat(std::vector{one, expand(column, shape)}, -1), -1);
}

Tensor vander_impl(const Tensor& x, std::optional<int64_t> n, bool increasing) {
  if (x.ndim() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, "vander", "x", "has shape " + to_string(x.shape()), "1-d");
  const int64_t count = n.value_or(x.size(0));
  if (count < 0)
    fail_argument(LIBDL_ERROR_VALUE, "vander", "n", "is " + std::to_string(count), "0 or more");
  checked_numel(Shape{x.size(0), count}, x.dtype(), "vander", "n");
  const Tensor powers = ascending_powers(x, std::max<int64_t>(count, 1));
  const Tensor selected = count == 0 ? narrow(powers, 1, 0, 0) : powers;
  return increasing ? selected : flip(selected, Shape{1});
}

Tensor linalg_vander_impl(const Tensor& x, std::optional<int64_t> n) {
  const char* const op = "linalg_vander";
  if (x.dtype() == Dtype::kBool)
    fail_argument(LIBDL_ERROR_UNSUPPORTED, op, "x", "is bool", "numbers");
  const int64_t count = n.value_or(x.ndim() == 0 ? 1 : x.size(x.ndim() - 1));
  if (count < 2)
    fail_argument(LIBDL_ERROR_VALUE, op, "n", "is " + std::to_string(count), "2 or more");
  Shape shape(x.shape());
  shape.push_back(count);
  checked_numel(shape, x.dtype(), op, "n");
  return ascending_powers(atleast_1d(x), count);
}

}  // namespace libdl
