// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/row_gradient.h"

#include <algorithm>
#include <vector>

#include "base/test_hooks.h"
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/summed.h"
#include "runtime/mechanism.h"
#include "tensor/sparse_rows.h"

namespace libdl {

void check_sparse(const char* op, bool sparse, const Tensor& weight) {
  if (sparse && !weight.device().is_cpu())
    fail_argument(LIBDL_ERROR_UNSUPPORTED, op, "sparse", "is true",
                  "false on " + device_name(weight.device()));
}

Tensor inverse_frequencies(const Tensor& row, int64_t rows, Dtype dtype) {
  const int64_t whole[] = {-1}, table[] = {rows};
  const Tensor flat = reshape(row, whole);
  const Tensor counts = zeros(table, Dtype::kInt64, row.device());
  const Tensor ones = full(flat.shape(), number(int64_t{1}), Dtype::kInt64, row.device());
  scatter_add(counts, 0, cast(flat, Dtype::kInt64), ones, Into(counts));
  const Tensor read = cast(index_select(counts, 0, flat), summed_as(dtype));
  return reshape(cast(reciprocal(read), dtype), row.shape());
}

// -- composed of other operators ------------------------------------------------------------------

// Each reading's part: [row's shape, columns].
static Tensor parts(const Readings& r, const Tensor& dy) {
  Shape shape(r.row.shape());
  Tensor part = r.from.defined() ? index_select(dy, 0, r.from) : dy;
  if (!r.factor.defined()) return part;
  shape.push_back(1);
  return mul(part, reshape(r.factor, shape));
}

static Tensor of_all_rows(const Readings& r, const Tensor& dy) {
  const Tensor dw = zeros(r.table, dy.dtype(), dy.device());
  const Tensor indices[] = {r.row};
  index_put(dw, indices, parts(r, dy), true, Into(dw));
  if (r.padding >= 0)
    index_fill(dw, 0, full({}, number(r.padding), Dtype::kInt64, dy.device()), number(int64_t{0}),
               Into(dw));
  return dw;
}

// -- in one pass on the CPU -----------------------------------------------------------------------

namespace {
// The readings grouped by row, in their order.
struct Groups {
  std::vector<int64_t> rows, starts, order;
};
}  // namespace

// Groups the readings by sorting: only rows that were read are listed.
static Groups by_row(const Readings& r) {
  const int64_t whole[] = {-1};
  const int64_t rows = std::max<int64_t>(r.table[0], 1);
  const Tensor read = remainder(cast(reshape(r.row, whole), Dtype::kInt64), number(rows));
  const auto in_order = sort(read, 0, false, true);
  const Tensor &sorted = std::get<0>(in_order), &positions = std::get<1>(in_order);
  const auto *const row = sorted.read_plain<int64_t>(), *const position =
                                                            positions.read_plain<int64_t>();
  Groups g;
  for (int64_t p = 0; p < sorted.numel(); ++p) {
    if (row[p] == r.padding) continue;
    if (g.rows.empty() || row[p] != g.rows.back())
      g.rows.push_back(row[p]), g.starts.push_back(std::ssize(g.order));
    g.order.push_back(position[p]);
  }
  g.starts.push_back(std::ssize(g.order));
  return g;
}

// Of all rows, most of them perhaps without a reading.
static void spread(Groups& g, int64_t rows) {
  std::vector<int64_t> starts;
  for (size_t i = 0; i < g.rows.size(); ++i)
    starts.resize(static_cast<size_t>(g.rows[i] + 1), g.starts[i]);
  starts.resize(static_cast<size_t>(rows + 1), g.starts.back());
  g.starts = std::move(starts);
}

static void sum_groups(const Readings& r, const Groups& g, const Tensor& dy, void* out) {
  const int64_t matrix[] = {-1, r.table[1]};
  const Tensor in = contiguous(r.table[1] ? reshape(dy, matrix) : dy);
  std::vector<int64_t> order = g.order;
  Tensor factors;
  if (r.factor.defined()) {
    const int64_t whole[] = {-1}, count[] = {std::ssize(order)};
    const Tensor positions = empty(count, Dtype::kInt64);
    std::ranges::copy(order, positions.overwrite_plain<int64_t>());
    factors = index_select(reshape(r.factor, whole), 0, positions);
  }
  if (r.from.defined()) {
    const Tensor from = plain(r.from);
    for (int64_t& position : order) position = from.read_plain<int64_t>()[position];
  }
  const void* const each = factors.defined() ? factors.read_plain<void>() : nullptr;
  launch_sum_rows(Device(),
                  {out, in.read_plain<void>(), std::ssize(g.starts) - 1, r.table[1], order.data(),
                   g.starts.data(), static_cast<int32_t>(dy.dtype()), each});
}

static Tensor of_rows_read(const Readings& r, const Tensor& dy) {
  LIBDL_OBSERVED_PART("embedding_backward", of_rows_read(r, dy), r.row, dy);
  const Groups g = by_row(r);
  SparseRows rows;
  const Tensor dw = empty_sparse_rows(r.table, dy.dtype(), std::ssize(g.rows), rows);
  std::ranges::copy(g.rows, rows.numbers);
  sum_groups(r, g, dy, rows.elements);
  if (r.sparse) declare_sparse(dw);
  return dw;
}

static Tensor of_all_rows_at_once(const Readings& r, const Tensor& dy) {
  LIBDL_OBSERVED_PART("embedding_backward", of_all_rows_at_once(r, dy), r.row, dy);
  Groups g = by_row(r);
  spread(g, r.table[0]);
  const Tensor dw = empty(r.table, dy.dtype());
  sum_groups(r, g, dy, dw.overwrite_plain());
  return dw;
}

// Where few rows of a large table were read.
static bool holds_few(const Readings& r, const Tensor& dy) {
  if (left_out(Mechanism::kSparseRows)) return false;
  const bool wide = dy.dtype() == Dtype::kFloat32 || dy.dtype() == Dtype::kFloat64;
  if (!wide || dy.numel() == 0) return false;
  return (r.table[0] * r.table[1] >= 1 << 14 && r.row.numel() <= r.table[0] / 2) || by_chance(2);
}

Tensor row_gradient(const Readings& r, const Tensor& dy, bool differentiated) {
  const Dtype dtype = dy.dtype(), wide = summed_as(dtype);
  if (r.factor.defined() && r.factor.dtype() != dtype)
    return cast(row_gradient(r, cast(dy, wide), differentiated), dtype);
  if (differentiated || !dy.device().is_cpu()) return of_all_rows(r, dy);
  if (r.sparse || holds_few(r, dy)) return of_rows_read(r, dy);
  // The parts of bags are read where they lie: no matrix of them is made. Sums of 16-bit rows are
  // made in float32 there, without a table of that.
  return r.from.defined() || wide != dtype ? of_all_rows_at_once(r, dy) : of_all_rows(r, dy);
}

}  // namespace libdl
