// SPDX-License-Identifier: Apache-2.0

// What the order of elements tells: their ends, their middle, and which is the most frequent.

#include <cmath>
#include <limits>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/reduction.h"
#include "entries/statistics.h"
#include "entries/view.h"
#include "ops/core/call.h"

namespace libdl {

// The dimension, which has elements.
static int chosen_axis(const char* op, const Tensor& input, int64_t dim) {
  const int axis = checked_axis(op, "dim", dim, input.ndim());
  if (input.ndim() > 0 && input.size(axis) == 0)
    fail_argument(
        LIBDL_ERROR_SHAPE, op, "dim",
        "is " + std::to_string(dim) + ", of size 0, and there is no element to choose from",
        "a dimension of size 1 or more");
  return axis;
}

// The elements at a place along axis that is its own for each row, as new tensors.
static Tensor taken(const Tensor& x, int axis, const Tensor& at, bool keepdim) {
  const Tensor values = gather(x, axis, at);
  const int64_t dims[] = {axis};
  return keepdim ? values : clone(squeeze(values, Dims(dims)));
}

// -- ends -----------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> aminmax_impl(const Tensor& input, std::optional<int64_t> dim,
                                        bool keepdim) {
  if (!dim) return {amin(input, {}, keepdim), amax(input, {}, keepdim)};
  const int64_t dims[] = {chosen_axis("aminmax", input, *dim)};
  return {amin(input, Dims(dims), keepdim), amax(input, Dims(dims), keepdim)};
}

// -- median ---------------------------------------------------------------------------------------

// Where the median is among sorted elements, the last `count` of which are NaN: in the middle of
// the others, or where those are not left out at the first NaN.
static Tensor middle(int64_t size, const Tensor& count, bool skips) {
  const Tensor rest = sub(number(size), count), one = number(int64_t{1});
  if (skips) {
    const Tensor least = number(int64_t{0});
    return floor_divide(clamp(sub(rest, one), &least), number(int64_t{2}));
  }
  const Tensor most = number(size - 1);
  return where(gt(count, number(int64_t{0})), clamp(rest, nullptr, &most), number((size - 1) / 2));
}

static std::tuple<Tensor, Tensor> median_along(const char* op, const Tensor& input, int64_t dim,
                                               bool keepdim, bool skips) {
  const int axis = chosen_axis(op, input, dim);
  const auto [values, positions] = sort(input, axis, false, true);  // NaN last
  if (input.ndim() == 0) return {values, positions};
  const int64_t size = input.size(axis), dims[] = {axis};
  Shape rows(input.shape());
  rows[static_cast<size_t>(axis)] = 1;
  const Tensor at = is_floating(input.dtype())
                        ? middle(size, sum(isnan(values), Dims(dims), true), skips)
                        : full(rows, number((size - 1) / 2), Dtype::kInt64, input.device());
  return {taken(values, axis, at, keepdim), taken(positions, axis, at, keepdim)};
}

// Whether anybody may ask for the gradient.
static bool is_differentiated(const Tensor& input) {
  const uint32_t mode = state().mode;
  return intercepted() || (mode & kModeForward) || ((mode & kModeGrad) && has_history(input));
}

// value, whose gradient all elements share that are equal to it, as amax's and amin's.
static Tensor shared(const Tensor& input, const Tensor& value) {
  const Tensor x = detach(input), y = detach(value);
  const Tensor there = logical_or(eq(x, y), logical_and(isnan(x), isnan(y)));
  const Tensor largest = amax(where(there, input, number(-INFINITY)));
  const Tensor least = amin(where(there, input, number(INFINITY)));
  return where(eq(y, number(-INFINITY)), least, largest);  // where all others are -inf, too
}

// The median of nothing: NaN, or what PyTorch casts it to.
static Tensor median_of_nothing(const Tensor& input) {
  const Dtype dtype = input.dtype();
  if (is_inexact(dtype)) return add(sum(input), number(std::nan("")));  // with history
  int64_t value = 0;
  if (dtype == Dtype::kInt32) value = std::numeric_limits<int32_t>::min();
  if (dtype == Dtype::kInt64) value = std::numeric_limits<int64_t>::min();
  return full({}, number(value), dtype, input.device());
}

static Tensor median_of_all(const char* op, const Tensor& input, bool skips) {
  if (input.numel() == 0) return median_of_nothing(input);
  const Tensor value = std::get<0>(median_along(op, flatten(input), 0, false, skips));
  return is_floating(input.dtype()) && is_differentiated(input) ? shared(input, value) : value;
}

Tensor median_impl(const Tensor& input) { return median_of_all("median", input, false); }
Tensor nanmedian_impl(const Tensor& input) { return median_of_all("nanmedian", input, true); }
std::tuple<Tensor, Tensor> median_dim_impl(const Tensor& input, int32_t dim, bool keepdim) {
  return median_along("median", input, dim, keepdim, false);
}
std::tuple<Tensor, Tensor> nanmedian_dim_impl(const Tensor& input, int32_t dim, bool keepdim) {
  return median_along("nanmedian", input, dim, keepdim, true);
}

// -- mode -----------------------------------------------------------------------------------------

// The last dimension's places in runs of equal elements: 0 where one begins, then 1, 2, ...
static Tensor positions_in_runs(const Tensor& sorted) {
  const int32_t last = sorted.ndim() - 1;
  const int64_t size = sorted.size(last);
  const Tensor step = arange(nullptr, number(size), nullptr, Dtype::kInt64, sorted.device());
  const Tensor begins = ne(narrow(sorted, last, 1, size - 1), narrow(sorted, last, 0, size - 1));
  const Tensor later = narrow(step, 0, 1, size - 1);
  Shape first(sorted.shape());
  first[static_cast<size_t>(last)] = 1;
  const Tensor parts[] = {full(first, number(int64_t{0}), Dtype::kInt64, sorted.device()),
                          where(begins, later, number(int64_t{0}))};
  return sub(step, std::get<0>(cummax(cat(parts, last), last)));
}

std::tuple<Tensor, Tensor> mode_impl(const Tensor& input, int32_t dim, bool keepdim) {
  const int axis = chosen_axis("mode", input, dim);
  if (input.ndim() == 0)
    return {clone(input), full({}, number(int64_t{0}), Dtype::kInt64, input.device())};
  const int64_t from[] = {axis}, last[] = {-1};
  const auto [values, positions] = sort(movedim(input, Dims(from), Dims(last)), -1, false, true);
  const Tensor at = argmax(positions_in_runs(values), -1, true);
  const auto chosen = [&](const Tensor& x) {
    const Tensor y = taken(x, x.ndim() - 1, at, keepdim);
    return keepdim ? movedim(y, Dims(last), Dims(from)) : y;
  };
  return {chosen(values), chosen(positions)};
}

}  // namespace libdl
