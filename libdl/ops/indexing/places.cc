// SPDX-License-Identifier: Apache-2.0

#include "ops/indexing/places.h"

#include <algorithm>
#include <numeric>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/summed.h"

namespace libdl {

static int64_t product(Dims sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// -- launching ------------------------------------------------------------------------------------

// base at the places, beside values. before: as in write_places, or NULL for a read.
static void launch(const Tensor* before, bool accumulate, const Tensor& base, const Tensor& values,
                   const Places& x) {
  if (values.numel() == 0) {
    if (before) begin_change(base, *before);
    return;
  }
  Shape rest_sizes, rest_strides, indexed_sizes, indexed_strides;
  size_t next = 0;
  for (int d = 0; d < base.ndim(); ++d) {
    const bool indexed = next < x.dims.size() && x.dims[next] == d;
    next += indexed;
    (indexed ? indexed_sizes : rest_sizes).push_back(base.size(d));
    (indexed ? indexed_strides : rest_strides).push_back(base.stride(d));
  }
  // The kernel wants the index dimensions first.
  Shape sizes(values.shape()), strides(values.strides());
  const auto first = static_cast<size_t>(x.at), count = x.shape.size();
  std::rotate(sizes.begin(), sizes.begin() + first, sizes.begin() + first + count);
  std::rotate(strides.begin(), strides.begin() + first, strides.begin() + first + count);

  if (before) begin_change(base, *before);  // may give base another form: no pointer lasts over it
  kernels::IndexArgs args;
  const auto dtype = static_cast<int32_t>(base.dtype());
  args.base = {kernel_data(base, before ? Access::kUpdate : Access::kRead), rest_sizes.data(),
               rest_strides.data(), static_cast<int32_t>(rest_sizes.size()), dtype};
  args.values = {kernel_data(values, before ? Access::kRead : Access::kOverwrite), sizes.data(),
                 strides.data(), values.ndim(), dtype};
  args.indices = static_cast<int32_t>(x.indices.size());
  for (size_t k = 0; k < x.indices.size(); ++k) args.index[k] = reads(x.indices[k]);
  args.indexed_sizes = indexed_sizes.data();
  args.indexed_strides = indexed_strides.data();
  args.accumulate = accumulate;
  if (!before) return launch_index_get(base.device(), args);
  launch_index_put(base.device(), args);
}

void read_places(const Tensor& base, const Tensor& values, const Places& places) {
  launch(nullptr, false, base, values, places);
}
void write_places(const Tensor& y, const Tensor& before, const Tensor& values,
                  const Places& places) {
  launch(&before, false, y, values, places);
}

// -- sums in a wider dtype ------------------------------------------------------------------------

bool adds_widely(Dtype dtype, int64_t updates) { return updates > 1 && summed_as(dtype) != dtype; }

Tensor from_start(const Tensor& index, int64_t size) {
  return remainder(cast(index, Dtype::kInt64), number(size));
}

Tensor numbered(const Tensor& places) {
  const auto [sorted, order] = sort(places, 0, false, true);
  const int64_t count = places.numel();
  // The place in sorted order changes from one to the next, or not.
  const Tensor changes = ne(narrow(sorted, 0, 1, count - 1), narrow(sorted, 0, 0, count - 1));
  const Tensor rank = zeros(places.shape(), Dtype::kInt64, places.device());
  copy_bytes(narrow(rank, 0, 1, count - 1), cumsum(changes, 0, Dtype::kInt64));
  const Tensor y = empty(places.shape(), Dtype::kInt64, places.device());
  launch_scatter(y.device(), {overwrites(y), reads(rank), reads(order), 0,
                              static_cast<int32_t>(kernels::ScatterOp::kSet)});
  return y;
}

// For each index, the place in row-major order of the indexed dimensions. [count]
static Tensor linear(const Tensor& base, const Places& x) {
  const int64_t whole[] = {-1};
  if (x.dims.size() == 1) return reshape(x.indices[0], whole);  // perhaps below 0
  Tensor place;
  for (size_t k = 0; k < x.dims.size(); ++k) {
    const int64_t size = base.size(static_cast<int>(x.dims[k]));
    const Tensor at = from_start(x.indices[k], size);
    place = k == 0 ? at : add(mul(place, number(size)), at);
  }
  return reshape(place, whole);
}

static Tensor linear_from_start(const Tensor& base, const Places& x) {
  const Tensor place = linear(base, x);
  return x.dims.size() == 1 ? from_start(place, base.size(static_cast<int>(x.dims[0]))) : place;
}

// values with the index dimensions first, as one: [count, rest...]; contiguous, of this dtype.
static Tensor rows_of(const Tensor& values, Dtype dtype, const Places& x) {
  Shape sizes(values.shape()), strides(values.strides());
  const auto first = static_cast<size_t>(x.at), count = x.shape.size();
  std::rotate(sizes.begin(), sizes.begin() + first, sizes.begin() + first + count);
  std::rotate(strides.begin(), strides.begin() + first, strides.begin() + first + count);
  const Tensor rows = plain(alias(values, sizes, strides, values.offset(), values.dtype()), dtype);
  Shape shape{product(x.shape)};
  for (size_t d = count; d < sizes.size(); ++d) shape.push_back(sizes[d]);
  return alias(rows, shape, contiguous_strides(shape), rows.offset(), dtype);
}
// The inverse, as a view.
static Tensor values_of(const Tensor& rows, const Places& x) {
  const size_t first = static_cast<size_t>(x.at), count = x.shape.size();
  Shape sizes(x.shape);
  for (int d = 1; d < rows.ndim(); ++d) sizes.push_back(rows.size(d));
  Shape strides = contiguous_strides(sizes);
  std::rotate(sizes.begin(), sizes.begin() + count, sizes.begin() + count + first);
  std::rotate(strides.begin(), strides.begin() + count, strides.begin() + count + first);
  return alias(rows, sizes, strides, rows.offset(), rows.dtype());
}

// All of `before` in the wider dtype.
static void add_to_whole(const Tensor& y, const Tensor& before, const Tensor& values,
                         const Places& x) {
  const Tensor wide = plain(before, summed_as(y.dtype()));
  launch(&wide, true, wide, values, x);
  copy_bytes(y, wide);
}
// Only what the places hold: rows of sums, one for each place that is named; each is written back
// wherever its place is named.
static void add_to_rows(const Tensor& y, const Tensor& before, const Tensor& values,
                        const Places& x) {
  const Dtype wide = values.dtype();
  const Tensor held = empty(x.result, y.dtype(), y.device());
  read_places(before, held, x);
  const Tensor start = rows_of(held, wide, x), terms = rows_of(values, wide, x);
  const Places row{
      {0}, {numbered(linear_from_start(y, x))}, {terms.size(0)}, 0, Shape(terms.shape())};
  const Tensor sums = empty(terms.shape(), wide, y.device());
  write_places(sums, sums, start, row);
  launch(&sums, true, sums, terms, row);
  const Tensor rows = empty(start.shape(), wide, y.device());  // start was read: it may have forms
  read_places(sums, rows, row);
  write_places(y, before, values_of(plain(rows, y.dtype()), x), x);
}

// -- sums of many ---------------------------------------------------------------------------------

bool is_crowded(Dtype dtype, int64_t updates, int64_t places) {
  return is_inexact(dtype) && updates >= 1024 && updates / 64 >= places;
}
int64_t run_of(int64_t places) { return std::max<int64_t>(128, 16 * places); }

// parts[r] takes what the rth run of terms adds to zeros. parts: [runs, places, rest]; place:
// [count]; terms: [count, rest], contiguous.
static void add_runs(const Tensor& parts, const Tensor& place, const Tensor& terms, int64_t run) {
  const int64_t count = place.numel(), rest = terms.size(1), whole = count / run;
  const auto add = [&](const Tensor& out, int64_t first, Shape sizes) {
    const int64_t step = place.stride(0), strides[] = {run * step, step, 0};
    const int dim = static_cast<int>(sizes.size()) - 2;
    const Tensor at = alias(place, sizes, Dims(strides).last(sizes.size()),
                            place.offset() + first * step, place.dtype());
    const Tensor src = alias(terms, sizes, contiguous_strides(sizes), terms.offset() + first * rest,
                             terms.dtype());
    launch_scatter(out.device(), {updates(out), reads(src), reads(at), dim,
                                  static_cast<int32_t>(kernels::ScatterOp::kAdd)});
  };
  if (whole > 0) add(narrow(parts, 0, 0, whole), 0, {whole, run, rest});
  if (whole * run < count) add(select(parts, 0, whole), whole * run, {count - whole * run, rest});
}

// Runs of terms are added apart, and the runs' sums pairwise: of a million equal numbers, added one
// after the other, float32 loses a hundredth.
static void add_in_runs(const Tensor& y, const Tensor& before, const Tensor& values,
                        const Places& x) {
  Places whole{x.dims, {}, {}, 0, {}};  // all places there are
  for (const int64_t d : x.dims) whole.shape.push_back(y.size(static_cast<int>(d)));
  const Tensor rows = rows_of(values, summed_as(y.dtype()), x), place = linear(y, x);
  const int64_t count = rows.size(0), places = product(whole.shape), run = run_of(places);
  const int64_t rest[] = {count, -1},
                shape[] = {(count + run - 1) / run, places, rows.numel() / count};
  const Tensor parts = zeros(shape, rows.dtype(), y.device());
  add_runs(parts, place, reshape(rows, rest), run);
  const int64_t runs[] = {0};
  Shape held(rows.shape());
  held[0] = places;
  Tensor total = values_of(reshape(sum(parts, Dims(runs)), held), whole);  // [indexed..., rest...]
  for (auto k = std::ssize(x.dims) - 1; k >= 0; --k)
    total = moved(total, static_cast<int>(k), static_cast<int>(x.dims[static_cast<size_t>(k)]));
  copy_bytes(y, add(plain(before, rows.dtype()), total));
}

// -- the choice -----------------------------------------------------------------------------------

void add_to_places(const Tensor& y, const Tensor& before, const Tensor& values, const Places& x) {
  const int64_t count = product(x.shape);
  int64_t places = 1;
  for (const int64_t d : x.dims) places *= y.size(static_cast<int>(d));
  if (values.numel() > 0 && is_crowded(y.dtype(), count, places))
    return add_in_runs(y, before, values, x);
  if (values.numel() == 0 || !adds_widely(y.dtype(), count)) {
    const bool fits = values.dtype() == y.dtype();
    return launch(&before, true, y, fits ? values : plain(values, y.dtype()), x);
  }
  constexpr int64_t kFew = 8;  // numbers of the whole for each of the sums, which go through more
  const Dtype wide = summed_as(y.dtype());
  const Tensor terms = values.dtype() == wide ? values : plain(values, wide);
  (y.numel() / kFew > values.numel() ? add_to_rows : add_to_whole)(y, before, terms, x);
}

}  // namespace libdl
