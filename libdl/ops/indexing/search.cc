// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>

#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/indexing.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"

namespace libdl {

// Numbers and 0-d tensors are weak: they take the sequence's dtype unless that is of a lower class.
static Dtype compared_as(const Tensor& sequence, const Tensor& input) {
  const bool weak = input.is_number() || input.ndim() == 0;
  if (weak && category(input.dtype()) <= category(sequence.dtype())) return sequence.dtype();
  if (input.is_number()) return default_dtype();
  return promote(sequence.dtype(), input.dtype());
}

// One of the dtypes that the kernel takes, with the same order.
static Dtype searched_as(Dtype dtype) {
  if (is_inexact(dtype)) return size_of(dtype) == 2 ? Dtype::kFloat32 : dtype;
  if (dtype == Dtype::kUint64 || dtype == Dtype::kInt64) return dtype;
  return dtype == Dtype::kUint32 ? Dtype::kInt64 : Dtype::kInt32;
}

static void check_order(const Call& call, const char* name, const Tensor& x) {
  if (x.is_complex())
    call.bad(LIBDL_ERROR_UNSUPPORTED, name, std::string("is ") + name_of(x.dtype()),
             "a real dtype: complex numbers have no order");
}

// Whether equal elements lie before what is searched.
static bool to_the_right(const Call& call, bool right, std::optional<std::string_view> side) {
  if (!side) return right;
  if (*side != "right" && (*side != "left" || right))
    call.bad(LIBDL_ERROR_VALUE, "side", "is \"" + std::string(*side) + "\"",
             right ? "\"right\", as right says" : "\"left\" or \"right\"");
  return *side == "right";
}

static void check_rows(const Call& call, const Tensor& sequence, const Tensor& input) {
  bool fits = sequence.ndim() > 0 && (sequence.ndim() == 1 || sequence.ndim() == input.ndim());
  for (int d = 0; fits && sequence.ndim() > 1 && d + 1 < sequence.ndim(); ++d)
    fits = sequence.size(d) == input.size(d);
  if (!fits)
    call.bad(LIBDL_ERROR_SHAPE, "sorted_sequence", "has shape " + to_string(sequence.shape()),
             "one dimension, or input's " + to_string(input.shape()) + " but for the last");
}

static Tensor in_order(const Call& call, const Tensor& sequence, const Tensor* sorter) {
  if (sorter == nullptr) return sequence;
  if (!std::ranges::equal(sorter->shape(), sequence.shape()))
    call.bad(LIBDL_ERROR_SHAPE, "sorter", "has shape " + to_string(sorter->shape()),
             "sorted_sequence's " + to_string(sequence.shape()));
  return rename_error("searchsorted", {{"index", "sorter"}, {"input", "sorted_sequence"}},
                      [&] { return gather(sequence, sequence.ndim() - 1, *sorter); });
}

// The kernel's steps, of all elements at once: [first, last) is halved until nothing is left.
static Tensor halved(const Tensor& rows, const Tensor& x, int64_t length, bool right) {
  const bool shared = rows.ndim() == 1;
  const Tensor values = shared ? unsqueeze(x, x.ndim()) : x;
  Shape shape(values.shape());
  shape.back() = length;
  const Tensor all = shared ? expand(rows, shape) : rows;
  const Tensor most = number(length - 1), one = number(int64_t{1});
  Tensor first = zeros(values.shape(), Dtype::kInt64, x.device());
  Tensor last = full(values.shape(), number(length), Dtype::kInt64, x.device());
  const auto halvings = static_cast<int>(std::bit_width(static_cast<uint64_t>(length)));
  for (int steps = halvings; steps > 0; --steps) {
    const Tensor middle = bitwise_right_shift(first + last, one);
    const Tensor element = gather(all, all.ndim() - 1, minimum(middle, most));
    const Tensor here = right ? gt(element, values) : ge(element, values);
    const Tensor after = logical_and(logical_not(here), lt(first, last));
    first = where(after, middle + one, first);
    last = where(after, last, middle);
  }
  return reshape(first, x.shape());
}

Tensor searchsorted_impl(const Tensor& sorted_sequence, const Tensor& input, bool out_int32,
                         bool right, std::optional<std::string_view> side, const Tensor* sorter,
                         Into into) {
  Call call("searchsorted", into, std::span<const Tensor* const>());
  check_order(call, "sorted_sequence", sorted_sequence);
  check_order(call, "input", input);
  const bool behind = to_the_right(call, right, side);
  check_rows(call, sorted_sequence, input);
  const Device device = sorted_sequence.device();
  if (!input.is_number() && input.device() != device)
    call.bad(LIBDL_ERROR_DEVICE, "input", "is on " + device_name(input.device()),
             "sorted_sequence's " + device_name(device));

  const Tensor sequence = in_order(call, sorted_sequence, sorter);
  const Dtype common = compared_as(sequence, input), type = searched_as(common);
  const Tensor values = input.is_number() ? full({}, input, common, device) : cast(input, common);
  const Tensor rows = plain(cast(sequence, common), type), x = plain(values, type);
  const int64_t length = rows.size(rows.ndim() - 1);
  if (into) call.check_index_result(x.shape(), device);
  const Dtype placed = out_int32 ? Dtype::kInt32 : Dtype::kInt64;
  if (length == 0) return call.done(zeros(x.shape(), placed, device));
  if (!has_kernel(device, KernelId::search))
    return call.done(cast(halved(rows, x, length, behind), placed));
  Tensor y = empty(x.shape(), placed, device);
  if (y.numel() > 0) {
    const int64_t each = rows.ndim() == 1 ? x.numel() : x.size(x.ndim() - 1);
    launch_search(device, {overwrites(y), reads(rows), reads(x), length, each, behind});
  }
  return call.done(std::move(y));
}

Tensor bucketize_impl(const Tensor& input, const Tensor& boundaries, bool out_int32, bool right,
                      Into into) {
  if (boundaries.ndim() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, "bucketize", "boundaries",
                  "has shape " + to_string(boundaries.shape()), "one dimension");
  return rename_error("bucketize", {{"sorted_sequence", "boundaries"}, {"input", "input"}}, [&] {
    return searchsorted(boundaries, input, out_int32, right, {}, nullptr, into);
  });
}

}  // namespace libdl
