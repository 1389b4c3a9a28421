// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/bags.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/nn/running.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/launch.h"

namespace libdl {

// -- which rows -----------------------------------------------------------------------------------

static const int64_t* integers(const Tensor& x) { return x.read_plain<int64_t>(); }

// Where the bags begin, and where the last one ends.
static std::vector<int64_t> rows_of_matrix(const Tensor& input) {
  std::vector<int64_t> starts(static_cast<size_t>(input.size(0) + 1));
  for (size_t b = 0; b < starts.size(); ++b) starts[b] = static_cast<int64_t>(b) * input.size(1);
  return starts;
}

LIBDL_NORETURN [[gnu::cold]] static void refuse_no_end(const Call& call LIBDL_SOURCE_LOCATION) {
  call.bad(LIBDL_ERROR_SHAPE, "offsets", "is empty",
           "the end of the last bag at least, with include_last_offset" LIBDL_SAME_SOURCE_LOCATION);
}

// Of offsets on meta it is known how many there are: the last bag may have all readings.
static std::vector<int64_t> unseen_offsets(const Call& call, const BagArguments& a) {
  const int64_t count = a.offsets->numel();
  if (a.include_last_offset && count == 0) refuse_no_end(call);
  std::vector<int64_t> starts(static_cast<size_t>(count + (a.include_last_offset ? 0 : 1)), 0);
  if (count > 0) starts.back() = a.input.numel();
  return starts;
}

static void check_ascending(const Call& call, const std::vector<int64_t>& starts, int64_t most) {
  if (starts.empty()) return;
  int64_t bad = (starts[0] != 0) + (starts.back() > most);
  for (size_t b = 1; b < starts.size(); ++b) bad += starts[b] < starts[b - 1];
  if (bad == 0) return;
  for (size_t b = 0; b < starts.size(); ++b) {
    const int64_t least = b == 0 ? 0 : starts[b - 1];
    if (starts[b] < least || starts[b] > (b == 0 ? 0 : most))
      call.bad(LIBDL_ERROR_VALUE, "offsets",
               "holds " + std::to_string(starts[b]) + " at position [" + std::to_string(b) + "]",
               b == 0 ? "0, where the first bag begins"
                      : "ascending ones, " + std::to_string(least) + " to " + std::to_string(most));
  }
}

static std::vector<int64_t> checked_offsets(const Call& call, const BagArguments& a) {
  const Tensor& offsets = *a.offsets;
  if (offsets.ndim() != 1)
    call.bad(LIBDL_ERROR_SHAPE, "offsets", "has shape " + to_string(offsets.shape()),
             "one dimension");
  const Tensor index = as_index(call, "offsets", offsets);
  if (is_meta(index.device())) return unseen_offsets(call, a);
  const Tensor host = plain(on_host(index), Dtype::kInt64);
  const int64_t* const first = integers(host);
  std::vector<int64_t> starts;
  starts.reserve(static_cast<size_t>(host.numel() + 1));
  starts.assign(first, first + host.numel());
  const int64_t most = a.input.numel();
  if (a.include_last_offset && starts.empty()) refuse_no_end(call);
  check_ascending(call, starts, most);
  if (!a.include_last_offset) starts.push_back(starts.empty() ? 0 : most);
  return starts;
}

static std::vector<int64_t> bag_starts(const Call& call, const BagArguments& a) {
  if (a.input.ndim() != 1 && a.input.ndim() != 2)
    call.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(a.input.shape()),
             "[n] with offsets, or [bags, n]");
  if (a.input.ndim() == 2 && a.offsets)
    call.bad(LIBDL_ERROR_VALUE, "offsets", "is given, and each row of input is a bag", "NULL");
  if (a.input.ndim() == 1 && !a.offsets)
    call.bad(LIBDL_ERROR_VALUE, "offsets", "is absent, and input has one dimension",
             "where each bag begins");
  return a.input.ndim() == 2 ? rows_of_matrix(a.input) : checked_offsets(call, a);
}

// Shortens a vector to its first elements.
static Tensor first_of(const Tensor& x, int64_t count) {
  return x.numel() == count ? x : row_major_clone(narrow(x, 0, 0, count));
}

// All readings of `index`, of which bag b has those from ends[b] to before ends[b + 1].
static void list_all(Bags& bags, const Tensor& index, const std::vector<int64_t>& ends,
                     int64_t rows) {
  const int64_t* const in = integers(index);
  auto* const row = bags.row.overwrite_plain<int64_t>();
  const int64_t count[] = {ends.back()};
  for (int64_t p = 0; p < count[0]; ++p) row[p] = in[p] + (in[p] < 0 ? rows : 0);
  std::ranges::copy(ends, bags.starts.overwrite_plain<int64_t>());
  if (count[0] == index.numel()) return;
  bags.place = empty(count, Dtype::kInt64);
  auto* const place = bags.place.overwrite_plain<int64_t>();
  std::iota(place, place + count[0], 0);
}

// The same but for those of the row `padding`.
static void list_unpadded(Bags& bags, const Tensor& index, const std::vector<int64_t>& ends,
                          int64_t rows, int64_t padding) {
  bags.place = empty(bags.row.shape(), Dtype::kInt64);
  const int64_t* const in = integers(index);
  auto* const row = bags.row.overwrite_plain<int64_t>();
  auto* const starts = bags.starts.overwrite_plain<int64_t>();
  auto* const place = bags.place.overwrite_plain<int64_t>();
  int64_t count = 0;
  for (int64_t b = 0; b < bags.count; ++b) {
    starts[b] = count;
    for (int64_t p = ends[static_cast<size_t>(b)]; p < ends[static_cast<size_t>(b + 1)]; ++p) {
      const int64_t r = in[p] < 0 ? in[p] + rows : in[p];
      if (r == padding) continue;
      row[count] = r, place[count] = p;
      ++count;
    }
  }
  starts[bags.count] = count;
  bags.row = first_of(bags.row, count);
  bags.place = count == index.numel() ? Tensor() : first_of(bags.place, count);
}

Bags bags_of(const Call& call, const BagArguments& a) {
  const int64_t rows = a.weight.size(0);
  const std::vector<int64_t> ends = bag_starts(call, a);
  const Tensor given = checked_index(call, {}, "input", a.input, rows);
  const int64_t most[] = {ends.back()}, bounds[] = {std::ssize(ends)};
  const Device there = is_meta(given.device()) ? given.device() : Device();
  Bags bags{std::ssize(ends) - 1, empty(most, Dtype::kInt64, there),
            empty(bounds, Dtype::kInt64, there), Tensor()};
  if (is_meta(there)) return bags;
  const Tensor index = plain(on_host(given), Dtype::kInt64);
  if (a.padding < 0) {
    list_all(bags, index, ends, rows);
  } else {
    list_unpadded(bags, index, ends, rows, a.padding);
  }
  return bags;
}

Tensor bag_of_each(const Bags& bags) {
  const Tensor made = empty(bags.row.shape(), Dtype::kInt64, bags.row.device());
  if (is_meta(made.device())) return made;
  const int64_t* const starts = integers(bags.starts);
  auto* to = made.overwrite_plain<int64_t>();
  for (int64_t b = 0; b < bags.count; ++b) to = std::fill_n(to, starts[b + 1] - starts[b], b);
  return made;
}

// -- in one pass ---------------------------------------------------------------------------------

// Whether each bag has one reading, so that its sum and its mean are a row of the table.
static bool are_single(const Bags& bags) {
  if (bags.row.numel() != bags.count) return false;
  const int64_t* const starts = integers(bags.starts);
  int64_t others = 0;
  for (int64_t b = 0; b < bags.count; ++b) others += starts[b] != b;
  return others == 0;
}

static int64_t* integers_of(const Tensor& x, Access access = Access::kRead) {
  return static_cast<int64_t*>(kernel_data(x, access));
}

static Tensor reduce_at_once(const Bags& bags, BagMode mode, const Tensor& table,
                             const Tensor& factors, Tensor& from) {
  if (mode != BagMode::kMax && !factors.defined() && are_single(bags))
    return index_select(table, 0, bags.row);
  const Device device = table.device();
  const int64_t shape[] = {bags.count, table.size(1)};
  const Tensor y = empty(shape, table.dtype(), device), in = plain(table);
  const Tensor each = factors.defined() ? plain(factors) : Tensor();
  const Tensor row = on_device(bags.row, device), starts = on_device(bags.starts, device);
  if (mode == BagMode::kMax) from = empty(shape, Dtype::kInt64, device);
  if (y.numel() == 0) return y;
  const auto dtype = static_cast<int32_t>(table.dtype());
  using enum Access;
  if (mode == BagMode::kMax) {
    launch_max_rows(
        device, {kernel_data(y, kOverwrite), integers_of(from, kOverwrite), kernel_data(in, kRead),
                 bags.count, shape[1], integers_of(row), integers_of(starts), dtype});
  } else {
    launch_sum_rows(device,
                    {kernel_data(y, kOverwrite), kernel_data(in, kRead), bags.count, shape[1],
                     integers_of(row), integers_of(starts), dtype,
                     each.defined() ? kernel_data(each, kRead) : nullptr, mode == BagMode::kMean});
  }
  return y;
}

static Tensor dot_at_once(const Bags& bags, const Tensor& table, const Tensor& dy) {
  LIBDL_OBSERVED_PART("embedding_bag_backward", dot_at_once(bags, table, dy), table, dy);
  const Device device = table.device();
  const Tensor y = empty(bags.row.shape(), table.dtype(), device), a = plain(table), b = plain(dy);
  if (y.numel() == 0) return y;
  const Tensor row = on_device(bags.row, device), bag = on_device(bag_of_each(bags), device);
  using enum Access;
  launch_dot_rows(device, {kernel_data(y, kOverwrite), kernel_data(a, kRead), kernel_data(b, kRead),
                           y.numel(), table.size(1), integers_of(row), integers_of(bag),
                           static_cast<int32_t>(table.dtype())});
  return y;
}

// -- composed of other operators ------------------------------------------------------------------

Tensor bag_sizes(const Bags& bags, const Tensor& like) {
  const Tensor begins = narrow(bags.starts, 0, 0, bags.count),
               ends = narrow(bags.starts, 0, 1, bags.count);
  const Tensor sizes = maximum(sub(ends, begins), number(int64_t{1}));
  return unsqueeze(cast(on_device(sizes, like.device()), like.dtype()), 1);
}

static Tensor compose_sum(const Bags& bags, BagMode mode, const Tensor& table,
                          const Tensor& factors) {
  const Device device = table.device();
  const int64_t shape[] = {bags.count, table.size(1)};
  const Dtype dtype = table.dtype(), wide = normalised_as(dtype);
  Tensor rows = cast(index_select(table, 0, on_device(bags.row, device)), wide);
  if (factors.defined()) rows = mul(rows, unsqueeze(cast(factors, wide), 1));
  Tensor y = index_add(zeros(shape, wide, device), 0, on_device(bag_of_each(bags), device), rows);
  if (mode == BagMode::kMean) y = div(y, bag_sizes(bags, y), {});
  return cast(y, dtype);
}

// [count, longest]: the rows of each bag, as many as the longest has; those that are missing repeat
// its first one, which changes no maximum. -1: an empty bag.
static Tensor padded_rows(const Bags& bags) {
  const int64_t *const starts = integers(bags.starts), *const row = integers(bags.row);
  int64_t longest = 1;
  for (int64_t b = 0; b < bags.count; ++b) longest = std::max(longest, starts[b + 1] - starts[b]);
  const int64_t shape[] = {bags.count, longest};
  const Tensor made = empty(shape, Dtype::kInt64);
  auto* to = made.overwrite_plain<int64_t>();
  for (int64_t b = 0; b < bags.count; ++b)
    for (int64_t p = starts[b]; p < starts[b] + longest; ++p)
      *to++ = starts[b] == starts[b + 1] ? -1 : row[p < starts[b + 1] ? p : starts[b]];
  return made;
}

static Tensor compose_max(const Bags& bags, const Tensor& table, Tensor& from) {
  const Tensor none = number(int64_t{-1}), zero = number(int64_t{0});
  const int64_t made[] = {bags.count, table.size(1)};
  if (bags.row.numel() == 0) {
    from = full(made, none, Dtype::kInt64, table.device());
    return zeros(made, table.dtype(), table.device());
  }
  const int64_t one_each[] = {bags.count, 1};
  const Tensor rows = is_meta(table.device()) ? empty(one_each, Dtype::kInt64, table.device())
                                              : on_device(padded_rows(bags), table.device());
  const int64_t flat[] = {rows.numel()}, shape[] = {bags.count, rows.size(1), table.size(1)};
  const Tensor read = reshape(index_select(table, 0, reshape(maximum(rows, zero), flat)), shape);
  const auto [most, at] = max_dim(read, 1, false);
  from = gather(rows, 1, at);
  return where(lt(from, zero), number(0.0), most);
}

// -- the choice -----------------------------------------------------------------------------------

Tensor reduce_bags(const Bags& bags, BagMode mode, const Tensor& table, const Tensor& factors,
                   Tensor& from) {
  const auto kernel = mode == BagMode::kMax ? KernelId::max_rows : KernelId::sum_rows;
  if (has_kernel(table.device(), kernel)) return reduce_at_once(bags, mode, table, factors, from);
  return mode == BagMode::kMax ? compose_max(bags, table, from)
                               : compose_sum(bags, mode, table, factors);
}

Tensor dot_bags(const Bags& bags, const Tensor& table, const Tensor& dy, bool differentiated) {
  if (has_kernel(table.device(), KernelId::dot_rows) && !differentiated)
    return dot_at_once(bags, table, dy);
  const int64_t columns[] = {1};
  const Tensor row = on_device(bags.row, table.device());
  const Tensor bag = on_device(bag_of_each(bags), table.device());
  return sum(mul(index_select(table, 0, row), index_select(dy, 0, bag)), Dims(columns));
}

}  // namespace libdl
