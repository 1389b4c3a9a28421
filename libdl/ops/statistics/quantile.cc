// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/rounding.h"
#include "entries/statistics.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/primitive/summed.h"

namespace libdl {

namespace {
enum class Between : uint8_t { kLinear, kLower, kHigher, kMidpoint, kNearest };
}

static Between between(const char* op, std::optional<std::string_view> interpolation) {
  const std::string_view word = interpolation.value_or("linear");
  if (word == "linear") return Between::kLinear;
  if (word == "lower") return Between::kLower;
  if (word == "higher") return Between::kHigher;
  if (word == "midpoint") return Between::kMidpoint;
  if (word == "nearest") return Between::kNearest;
  fail_argument(LIBDL_ERROR_VALUE, op, "interpolation", "is \"" + std::string(word) + "\"",
                "\"linear\", \"lower\", \"higher\", \"midpoint\" or \"nearest\"");
}

// q in the dtype of places, which 16 bits do not hold. Its elements are looked at on the CPU alone,
// as in PyTorch: nobody waits for a device.
static Tensor checked_q(const char* op, const Tensor& q, const Tensor& input) {
  const Dtype type = summed_as(input.dtype());
  if (!q.is_number() && q.dtype() != input.dtype() && q.dtype() != type)
    fail_argument(LIBDL_ERROR_DTYPE, op, "q", std::string("is ") + name_of(q.dtype()),
                  name_of(input.dtype()));
  const auto inside = [&] {
    return item_bool(all(logical_and(ge(q, number(0.0)), le(q, number(1.0)))));
  };
  if (q.ndim() > 1 || q.is_complex() || (q.device().is_cpu() && !inside()))
    fail_argument(LIBDL_ERROR_VALUE, op, "q",
                  "has shape " + to_string(q.shape()) + ", or numbers beside 0 to 1",
                  "0-d or 1-d, from 0 to 1");
  return q.is_number() ? full({}, q, type, input.device()) : to(q, type, {});
}

// The places [.., q] among sorted elements [.., size], of which `count`, [.., 1], are NaN and last:
// among the others, or, where those are not left out, at the last one, as in PyTorch.
static Tensor ranks(const Tensor& q, int64_t size, const Tensor& count, bool skips) {
  const Dtype type = size > int64_t{1} << 24 ? Dtype::kFloat64 : q.dtype();  // which holds them all
  const Tensor points = to(flatten(q), type, {}), zero = number(int64_t{0});
  if (skips) return mul(points, to(clamp(sub(number(size - 1), count), &zero), type, {}));
  const Tensor last = number(static_cast<double>(size - 1));
  return where(gt(count, zero), last, mul(points, last));
}

// The elements at the ranks, or what lies between two of them.
static Tensor at_ranks(const Tensor& sorted, const Tensor& rank, Between how) {
  const auto at = [&](const Tensor& place) {
    return gather(sorted, sorted.ndim() - 1, to(place, Dtype::kInt64, {}));
  };
  if (how == Between::kNearest) return at(round(rank));
  if (how == Between::kHigher) return at(ceil(rank));
  const Tensor low = floor(rank);
  Tensor below = at(low);
  if (how == Between::kLower) return below;
  const Dtype wide = summed_as(sorted.dtype());
  const Tensor way = how == Between::kLinear ? to(sub(rank, low), wide, {}) : number(0.5);
  return to(lerp(to(below, wide, {}), to(at(ceil(rank)), wide, {}), way), sorted.dtype(), {});
}

static Tensor quantiles(const char* op, const Tensor& input, const Tensor& q,
                        std::optional<int64_t> dim, bool keepdim,
                        std::optional<std::string_view> interpolation, bool skips) {
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a floating dtype");
  const int ndim = input.ndim();
  const int axis = checked_axis(op, "dim", dim.value_or(0), ndim);
  const Between how = between(op, interpolation);
  const Tensor points = checked_q(op, q, input);
  if (input.numel() == 0) fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has no elements", "some");

  const int64_t first[] = {0}, last[] = {-1}, along[] = {axis};
  const bool whole = !dim || ndim == 0;
  const Tensor x = whole ? flatten(input) : movedim(input, Dims(along), Dims(last));
  const Tensor sorted = std::get<0>(sort(x, -1));
  const Tensor count = sum(isnan(sorted), Dims(last), true);
  const Tensor rank = ranks(points, x.size(x.ndim() - 1), count, skips);
  Tensor y = movedim(at_ranks(sorted, rank, how), Dims(last), Dims(first));
  if (keepdim && whole) {
    Shape shape(static_cast<size_t>(ndim) + 1, 1);
    shape[0] = points.numel();
    y = reshape(y, shape);
  } else if (keepdim) {
    y = unsqueeze(y, axis + 1);
  }
  return q.ndim() ? y : select(y, 0, 0);
}

Tensor quantile_impl(const Tensor& input, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                     std::optional<std::string_view> interpolation) {
  return quantiles("quantile", input, q, dim, keepdim, interpolation, false);
}
Tensor nanquantile_impl(const Tensor& input, const Tensor& q, std::optional<int64_t> dim,
                        bool keepdim, std::optional<std::string_view> interpolation) {
  return quantiles("nanquantile", input, q, dim, keepdim, interpolation, true);
}

}  // namespace libdl
