// SPDX-License-Identifier: Apache-2.0

// Grids of coordinates, combinations of elements, and the common shape of tensors.
#include <algorithm>

#include "device/meta.h"
#include "entries/arrangement.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"

namespace libdl {

// -- grids ----------------------------------------------------------------------------------------

LIBDL_NORETURN static void bad_list(const char* op, libdl_error_code code, const std::string& found,
                                    const std::string& wanted LIBDL_SOURCE_LOCATION) {
  fail_argument(code, op, "tensors", found, wanted LIBDL_SAME_SOURCE_LOCATION);
}

static std::string at_position(TensorSpan tensors, const Tensor& x) {
  return " at position " + std::to_string(&x - tensors.data());
}

static void check_grid(const char* op, TensorSpan tensors) {
  if (tensors.empty()) bad_list(op, LIBDL_ERROR_VALUE, "is empty", "at least one tensor");
  for (const Tensor& x : tensors) {
    if (x.ndim() > 1)
      bad_list(op, LIBDL_ERROR_SHAPE,
               "holds shape " + to_string(x.shape()) + at_position(tensors, x),
               "tensors of one dimension or none");
    if (x.dtype() != tensors[0].dtype())
      bad_list(op, LIBDL_ERROR_VALUE,
               std::string("holds ") + name_of(x.dtype()) + at_position(tensors, x),
               std::string(name_of(tensors[0].dtype())) + ", as the first one");
  }
}

std::vector<Tensor> meshgrid_impl(TensorSpan tensors, std::optional<std::string_view> indexing) {
  if (indexing && *indexing != "ij" && *indexing != "xy")
    fail_argument(LIBDL_ERROR_VALUE, "meshgrid", "indexing", "is '" + std::string(*indexing) + "'",
                  "'ij' or 'xy'");
  check_grid("meshgrid", tensors);
  const size_t count = tensors.size();
  const bool swapped = indexing == "xy" && count > 1;
  const auto along = [swapped](size_t i) { return swapped && i < 2 ? 1 - i : i; };
  Shape shape(count, 1);
  for (size_t i = 0; i < count; ++i) shape[along(i)] = tensors[i].numel();
  std::vector<Tensor> grids;
  for (size_t i = 0; i < count; ++i) {
    Shape line(count, 1);
    line[along(i)] = tensors[i].numel();
    grids.push_back(expand(reshape(tensors[i], line), shape));
  }
  return grids;
}

Tensor cartesian_prod_impl(TensorSpan tensors) {
  check_grid("cartesian_prod", tensors);
  for (const Tensor& x : tensors)
    if (x.ndim() == 0)
      bad_list("cartesian_prod", LIBDL_ERROR_SHAPE, "holds a 0-d tensor" + at_position(tensors, x),
               "vectors");
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = meshgrid_impl(tensors, "ij");
  for (Tensor& column : columns) column = flatten(column);
  return stack(columns, 1);
}

// -- combinations ---------------------------------------------------------------------------------

// How many choices of r of n elements there are: n over r, or n + r - 1 over r.
static int64_t count_choices(int64_t n, int64_t r, bool with_replacement) {
  if (with_replacement && n == 0) return 0;
  const int64_t from = with_replacement ? n - 1 : n - r;  // elements that are left, or may repeat
  if (from < 0) return 0;
  __int128 count = 1;
  const int64_t steps = std::min(r, from), more = std::max(r, from);
  for (int64_t i = 1; i <= steps; ++i) {
    count = count * (more + i) / i;  // exact: (more + i) over i
    if (count > INT64_MAX)
      fail_argument(LIBDL_ERROR_OVERFLOW, "combinations", "r", "is " + std::to_string(r),
                    "fewer than 2^63 choices");
  }
  return static_cast<int64_t>(count);
}

// The places of the elements of each choice, one row after the other, in lexicographic order.
static void fill_choices(int64_t* row, int64_t count, int64_t n, int64_t r, bool with_replacement) {
  const int64_t apart = with_replacement ? 0 : 1;
  for (int64_t k = 0; k < r && count > 0; ++k) row[k] = k * apart;
  for (; count > 1; --count, row += r) {
    int64_t* const next = row + r;
    std::copy_n(row, r, next);
    int64_t k = r - 1;
    while (next[k] == n - 1 - (r - 1 - k) * apart) --k;  // one of them can still grow
    ++next[k];
    for (++k; k < r; ++k) next[k] = next[k - 1] + apart;
  }
}

Tensor combinations_impl(const Tensor& input, int64_t r, bool with_replacement) {
  const char* const op = "combinations";
  if (input.ndim() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()), "1-d");
  if (r < 0) fail_argument(LIBDL_ERROR_VALUE, op, "r", "is " + std::to_string(r), "0 or more");
  if (r == 0) return narrow(input, 0, 0, 0);  // PyTorch's answer, too, is a vector
  const int64_t n = input.size(0), count = count_choices(n, r, with_replacement);
  const Shape shape{count, r};
  const Shape length{checked_numel(shape, Dtype::kInt64, op, "r")};
  const bool unseen = is_meta(input.device());
  const Tensor places = empty(length, Dtype::kInt64, unseen ? input.device() : Device{});
  if (!unseen) fill_choices(places.overwrite_plain<int64_t>(), count, n, r, with_replacement);
  return reshape(index_select(input, 0, on_device(places, input.device())), shape);
}

// -- the common shape -----------------------------------------------------------------------------

std::vector<Tensor> broadcast_tensors_impl(TensorSpan tensors) {
  Shape shape;
  for (const Tensor& x : tensors) {
    while (static_cast<int>(shape.size()) < x.ndim()) shape.insert(0, 1);
    const size_t lead = shape.size() - static_cast<size_t>(x.ndim());
    for (int d = 0; d < x.ndim(); ++d) {
      int64_t& size = shape[lead + static_cast<size_t>(d)];
      if (size == 1) size = x.size(d);
      if (x.size(d) != size && x.size(d) != 1)
        bad_list("broadcast_tensors", LIBDL_ERROR_SHAPE,
                 "holds shape " + to_string(x.shape()) + at_position(tensors, x),
                 "one that broadcasts with " + to_string(shape));
    }
  }
  std::vector<Tensor> made;
  for (const Tensor& x : tensors) made.push_back(same(x.shape(), shape) ? x : expand(x, shape));
  return made;
}

Tensor sum_to_size_impl(const Tensor& input, Dims shape) {
  if (!broadcasts_to(shape, input.shape()))
    fail_argument(LIBDL_ERROR_SHAPE, "sum_to_size", "shape", "is " + to_string(shape),
                  "one that broadcasts to " + to_string(input.shape()));
  if (shape.empty()) return sum(input);  // also of a 0-d tensor: int64 of integers
  const size_t lead = static_cast<size_t>(input.ndim()) - shape.size();
  Shape repeated;
  for (int d = 0; d < input.ndim(); ++d) {
    const auto at = static_cast<size_t>(d);
    if (at < lead || shape[at - lead] != input.size(d)) repeated.push_back(d);
  }
  return repeated.empty() ? input : reshape(sum(input, Dims(repeated), true), shape);
}

}  // namespace libdl
