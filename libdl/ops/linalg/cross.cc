// SPDX-License-Identifier: Apache-2.0

#include <array>

#include "entries/arithmetic.h"
#include "entries/join.h"
#include "entries/linalg.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/linalg/linalg.h"

namespace libdl {

// With indices in a circle: y_i = a_(i+1) b_(i+2) - a_(i+2) b_(i+1).
static Tensor vector_product(const char* op, const Tensor& input, const Tensor& other, int dim) {
  const std::optional<Shape> shape = broadcast_batch(input.shape(), other.shape());
  if (!shape)
    fail_argument(LIBDL_ERROR_SHAPE, op, "other", "has shape " + to_string(other.shape()),
                  "one that broadcasts with " + to_string(input.shape()));
  const Tensor a = expand(input, *shape), b = expand(other, *shape);
  const std::array<int64_t, 1> along{dim}, once{-1}, twice{-2};
  const auto turned = [&](const Tensor& x, const std::array<int64_t, 1>& by) {
    return roll(x, by, Dims(along));
  };
  return sub(mul(turned(a, once), turned(b, twice)), mul(turned(a, twice), turned(b, once)));
}

static void check_vectors(const char* op, const Tensor& input, const Tensor& other, int dim) {
  if (input.ndim() == 0 || input.size(dim) != 3)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "size 3 in dimension " + std::to_string(dim));
  if (other.size(dim) != 3)
    fail_argument(LIBDL_ERROR_SHAPE, op, "other", "has shape " + to_string(other.shape()),
                  "size 3 in dimension " + std::to_string(dim));
}

static void check_ranks(const char* op, const Tensor& input, const Tensor& other) {
  if (input.ndim() != other.ndim())
    fail_argument(LIBDL_ERROR_SHAPE, op, "other", "has shape " + to_string(other.shape()),
                  std::to_string(input.ndim()) + " dimensions, as argument (input)");
}

static int checked_dim(const char* op, const Tensor& input, int64_t dim) {
  if (input.ndim() == 0)
    fail_argument(LIBDL_ERROR_INDEX, op, "dim", "is " + std::to_string(dim),
                  "none: argument (input) has no dimensions");
  return checked_axis(op, "dim", dim, input.ndim());
}

Tensor cross_impl(const Tensor& input, const Tensor& other, std::optional<int64_t> dim) {
  check_ranks("cross", input, other);
  int at = 0;
  if (dim)
    at = checked_dim("cross", input, *dim);
  else
    while (at < input.ndim() - 1 && input.size(at) != 3) ++at;
  check_vectors("cross", input, other, at);
  return vector_product("cross", input, other, at);
}

Tensor linalg_cross_impl(const Tensor& input, const Tensor& other, int32_t dim) {
  check_ranks("linalg_cross", input, other);
  const int at = checked_dim("linalg_cross", input, dim);
  check_vectors("linalg_cross", input, other, at);
  return vector_product("linalg_cross", input, other, at);
}

}  // namespace libdl
