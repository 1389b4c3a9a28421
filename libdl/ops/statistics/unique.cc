// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/reduction.h"
#include "entries/statistics.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"

namespace libdl {

namespace {
struct Wanted {
  bool inverse, counts;
};
struct Unique {
  Tensor values, inverse, counts;  // of those that are not wanted nothing, [0]
};
}  // namespace

static Tensor nothing(Device device) { return empty(Shape{0}, Dtype::kInt64, device); }

static Tensor integers(std::initializer_list<int64_t> values, Dtype dtype, Device device) {
  Tensor y = empty(Shape{static_cast<int64_t>(values.size())}, Dtype::kInt64);
  std::ranges::copy(values, y.overwrite_plain<int64_t>());
  return to(y, dtype, device);
}

// -- runs of equal rows ---------------------------------------------------------------------------

// Where rows [n, ...] differ from the row before, as truths [n].
static Tensor begins_of_runs(const Tensor& rows) {
  const int64_t n = rows.size(0);
  Tensor first = full(Shape{1}, number(true), Dtype::kBool, rows.device());
  if (n == 1) return first;
  Tensor differs = ne(narrow(rows, 0, 1, n - 1), narrow(rows, 0, 0, n - 1));
  if (differs.ndim() > 1) {
    SmallVector<int64_t, 8> others;
    for (int d = 1; d < differs.ndim(); ++d) others.push_back(d);
    differs = any(differs, Dims(others));
  }
  const Tensor parts[] = {first, differs};
  return cat(parts, 0);
}

static Tensor places_of(const Tensor& begins) { return sub(cumsum(begins, 0), number(int64_t{1})); }

// The first of each run, the run that each row is in, and how long the runs are.
static Unique runs(const Tensor& rows, Wanted wanted) {
  const Device device = rows.device();
  if (rows.size(0) == 0) return {clone(rows), nothing(device), nothing(device)};
  const Tensor begins = begins_of_runs(rows), starts = flatten(nonzero(begins));
  Unique made{index_select(rows, 0, starts), nothing(device), nothing(device)};
  if (wanted.inverse) made.inverse = places_of(begins);
  if (wanted.counts) {
    const Tensor parts[] = {narrow(starts, 0, 1, starts.numel() - 1),
                            full(Shape{1}, number(rows.size(0)), Dtype::kInt64, device)};
    made.counts = sub(cat(parts, 0), starts);
  }
  return made;
}

// The runs of rows in this order, and the inverse at the places that the rows had before.
static Unique runs_in_order(const Tensor& ordered, const Tensor& order, Wanted wanted) {
  Unique made = runs(ordered, wanted);
  if (wanted.inverse)
    made.inverse =
        scatter(zeros(order.shape(), Dtype::kInt64, order.device()), 0, order, made.inverse);
  return made;
}

// -- elements -------------------------------------------------------------------------------------

static Unique of_truths(const Tensor& x, Wanted wanted) {
  const Device device = x.device();
  const int64_t yes = item_i64(count_nonzero(x)), no = x.numel() - yes;
  const bool both = yes > 0 && no > 0;
  const auto told = [&](int64_t of_false, int64_t of_true, Dtype dtype) {
    return both ? integers({of_false, of_true}, dtype, device)
                : integers({yes > 0 ? of_true : of_false}, dtype, device);
  };
  Unique made{told(0, 1, Dtype::kBool), nothing(device), nothing(device)};
  if (wanted.inverse)
    made.inverse = both ? to(x, Dtype::kInt64, {}) : zeros(x.shape(), Dtype::kInt64, device);
  if (wanted.counts) made.counts = told(no, yes, Dtype::kInt64);
  return made;
}

namespace {
struct Range {
  int64_t least, size;
};
}  // namespace

// Of integers, from the least to the greatest; without a look at them where they are few.
static std::optional<Range> range_of(const Tensor& x) {
  switch (x.dtype()) {
    case Dtype::kUint8: return Range{0, 256};
    case Dtype::kInt8: return Range{-128, 256};
    case Dtype::kInt16:
    case Dtype::kInt32:
    case Dtype::kInt64: break;
    default: return {};
  }
  const int64_t least = item_i64(amin(x)), greatest = item_i64(amax(x));
  int64_t size = 0;  // of all 64 bits it does not fit
  if (__builtin_sub_overflow(greatest, least, &size) || __builtin_add_overflow(size, 1, &size))
    return {};
  return Range{least, size};
}

// Integers of a small range: which of them occur.
static Unique by_table(const Tensor& x, Range range, Wanted wanted) {
  const Device device = x.device();
  const Tensor wide = to(x, Dtype::kInt64, {});
  const Tensor key = range.least ? sub(wide, number(range.least)) : wide;
  const Tensor table = zeros(Shape{range.size}, Dtype::kInt64, device);
  const Tensor count = wanted.counts ? bincount(key, nullptr, range.size)
                                     : index_fill(table, 0, key, number(int64_t{1}));
  const Tensor at = flatten(nonzero(count));
  Unique made{to(add(at, number(range.least)), x.dtype(), {}), nothing(device), nothing(device)};
  if (wanted.inverse) made.inverse = index_select(places_of(ne(count, number(int64_t{0}))), 0, key);
  if (wanted.counts) made.counts = index_select(count, 0, at);
  return made;
}

// Of a vector: by a table where there are few different ones at most, else sorted, which is faster
// for 32 bits.
static Unique of_elements(const Tensor& x, Wanted wanted) {
  if (x.dtype() == Dtype::kBool) return of_truths(x, wanted);
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (const auto range = range_of(x)) {
    if (range->size <= 2 * x.numel() + 256) return by_table(x, *range, wanted);
    const bool fits = range->least >= kLeast && range->least <= kMost &&
                      range->least + (range->size - 1) <= kMost;
    if (x.dtype() == Dtype::kInt64 && fits) {
      Unique made = of_elements(to(x, Dtype::kInt32, {}), wanted);
      made.values = to(made.values, Dtype::kInt64, {});
      return made;
    }
  }
  const auto [ordered, order] = sort(x, 0, false, true);
  return runs_in_order(ordered, order, wanted);
}

// -- rows -----------------------------------------------------------------------------------------

// The lexicographic order of rows: stable sorts by each column, from the last one.
static Tensor order_of(const Tensor& rows) {
  const Tensor flat = rows.ndim() > 1 ? flatten(rows, 1) : unsqueeze(rows, 1);
  Tensor order = arange(nullptr, number(rows.size(0)), nullptr, Dtype::kInt64, rows.device());
  for (int64_t column = flat.size(1); column-- > 0;) {
    const Tensor keys = index_select(select(flat, 1, column), 0, order);
    order = index_select(order, 0, argsort(keys, 0, false, true));
  }
  return order;
}

// -- operators ------------------------------------------------------------------------------------

// input's slices along dim as rows, or all its elements.
static Tensor rows_of(const Tensor& x, std::optional<int> axis) {
  if (!axis) return flatten(x);
  const int64_t from[] = {*axis}, to[] = {0};
  return movedim(x, Dims(from), Dims(to));
}

static std::tuple<Tensor, Tensor, Tensor> finished(const Tensor& x, std::optional<int> axis,
                                                   Wanted wanted, Unique made) {
  if (axis) {
    const int64_t from[] = {0}, to[] = {*axis};
    made.values = movedim(made.values, Dims(from), Dims(to));
  } else if (wanted.inverse) {
    made.inverse = reshape(made.inverse, x.shape());
  }
  return {std::move(made.values), std::move(made.inverse), std::move(made.counts)};
}

static void refuse_meta(const char* op, const Tensor& x) {
  if (is_meta(x.device()))
    fail(LIBDL_ERROR_UNSUPPORTED, op,
         "the number of different elements is asked for, and a meta tensor has no elements");
}

// Slices without elements are no rows to compare.
static std::optional<int> checked_dim(const Call& call, std::optional<int64_t> dim,
                                      const Tensor& x) {
  if (!dim) return {};
  const int axis = call.axis("dim", *dim, x.ndim());
  if (x.ndim() == 0)
    call.bad(LIBDL_ERROR_INDEX, "dim", "is " + std::to_string(*dim), "none, for input is 0-d");
  for (int d = 0; d < x.ndim(); ++d)
    if (d != axis && x.size(d) == 0)
      call.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(x.shape()),
               "slices that have elements");
  return axis;
}

std::tuple<Tensor, Tensor, Tensor> unique_consecutive_impl(const Tensor& input, bool return_inverse,
                                                           bool return_counts,
                                                           std::optional<int64_t> dim) {
  const Call call("unique_consecutive", {}, {});
  refuse_meta(call.op(), input);
  const std::optional<int> axis = checked_dim(call, dim, input);
  const Wanted wanted{return_inverse, return_counts};
  return finished(input, axis, wanted, runs(rows_of(input, axis), wanted));
}

std::tuple<Tensor, Tensor, Tensor> unique_impl(const Tensor& input, bool /*sorted*/,
                                               bool return_inverse, bool return_counts,
                                               std::optional<int64_t> dim) {
  const Call call("unique", {}, {});
  refuse_meta(call.op(), input);
  const std::optional<int> axis = checked_dim(call, dim, input);
  const Wanted wanted{return_inverse, return_counts};
  return rename_error("unique", {{"input", "input"}}, [&] {
    const Tensor rows = rows_of(input, axis);
    if (rows.size(0) == 0) return finished(input, axis, wanted, runs(rows, wanted));
    if (!axis) return finished(input, axis, wanted, of_elements(rows, wanted));
    const Tensor order = order_of(rows);
    return finished(input, axis, wanted,
                    runs_in_order(index_select(rows, 0, order), order, wanted));
  });
}

}  // namespace libdl
