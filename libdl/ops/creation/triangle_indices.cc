// SPDX-License-Identifier: Apache-2.0

// Rows and columns of the elements of a triangle, from what its rows have of it.
#include <algorithm>

#include "device/meta.h"
#include "entries/sequence.h"
#include "ops/copy/copy.h"
#include "ops/creation/creation.h"

namespace libdl {

namespace {
// The elements of a matrix on and below a diagonal: row i has min(i + width, col) of them,
// beginning with row `first`, where width = offset + 1.
struct Lower {
  int64_t row, col, width, first;

  Lower(int64_t row, int64_t col, int64_t offset)
      : row(row),
        col(col),
        width(std::clamp(offset, -row - 1, col) + 1),
        first(std::clamp<int64_t>(1 - width, 0, row)) {}
  int64_t columns(int64_t i) const { return std::clamp<int64_t>(i + width, 0, col); }
  __int128 count() const {
    const int64_t whole = std::clamp<int64_t>(col - width, first, row);  // from here on all of them
    const __int128 growing = whole - first;
    return growing * (first + width + whole - 1 + width) / 2 + __int128{row - whole} * col;
  }
};
}  // namespace

static void check_size(const char* op, const char* name, int64_t size) {
  if (size < 0)
    fail_argument(LIBDL_ERROR_VALUE, op, name, "is " + std::to_string(size), "0 or more");
}

// The columns from..to of each row between first and last.
template <class From, class To>
static void fill_rows(int64_t* rows, int64_t* columns, int64_t first, int64_t last, From from,
                      To to) {
  for (int64_t i = first; i < last; ++i)
    for (int64_t j = from(i), end = to(i); j < end; ++j) *rows++ = i, *columns++ = j;
}

// The upper triangle is what the lower one leaves.
static Tensor triangle_indices(const char* op, bool lower, int64_t row, int64_t col, int64_t offset,
                               Dtype dtype, std::optional<Device> device) {
  check_size(op, "row", row);
  check_size(op, "col", col);
  const Lower below(row, col, lower || offset == INT64_MIN ? offset : offset - 1);
  const __int128 count = lower ? below.count() : __int128{row} * col - below.count();
  const bool by_rows = row >= col;  // the larger one is to blame for too many elements
  const char* const name = by_rows ? "row" : "col";
  if (count > INT64_MAX / 2)
    fail_argument(LIBDL_ERROR_OVERFLOW, op, name, "is " + std::to_string(std::max(row, col)),
                  "fewer than 2^62 elements");
  const auto n = static_cast<int64_t>(count);
  const Dtype type = dtype == Dtype::kNone ? Dtype::kInt64 : dtype;
  const int64_t shape[] = {2, n};
  checked_numel(shape, Dtype::kInt64, op, name);
  const Tensor y = created_place(op, shape, type, device, {});
  if (is_meta(y.device()) || n == 0) return y;
  const bool direct = type == Dtype::kInt64 && y.device().is_cpu();
  const Tensor places = direct ? y : empty(shape, Dtype::kInt64);
  int64_t* const rows = places.overwrite_plain<int64_t>();
  const auto edge = [&](int64_t i) { return below.columns(i); };
  if (lower)
    fill_rows(rows, rows + n, below.first, row, [](int64_t) { return int64_t{0}; }, edge);
  else
    fill_rows(rows, rows + n, 0, std::clamp<int64_t>(col - below.width, 0, row), edge,
              [&](int64_t) { return col; });
  if (!direct) copy_bytes(y, places);
  return y;
}

Tensor tril_indices_impl(int64_t row, int64_t col, int64_t offset, Dtype dtype,
                         std::optional<Device> device) {
  return triangle_indices("tril_indices", true, row, col, offset, dtype, device);
}

Tensor triu_indices_impl(int64_t row, int64_t col, int64_t offset, Dtype dtype,
                         std::optional<Device> device) {
  return triangle_indices("triu_indices", false, row, col, offset, dtype, device);
}

}  // namespace libdl
