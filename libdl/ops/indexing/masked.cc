// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "device/meta.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/indexing/index_select.h"
#include "ops/indexing/indices.h"
#include "ops/indexing/nonzero.h"
#include "ops/pointwise/pointwise.h"

namespace libdl {

static void check_mask(const char* op, const Tensor& mask) {
  if (mask.dtype() != Dtype::kBool)
    fail_argument(LIBDL_ERROR_DTYPE, op, "mask", std::string("is ") + name_of(mask.dtype()),
                  "bool");
}

static Shape common_shape(const char* op, const Tensor& input, const Tensor& mask) {
  static constexpr const char* kNames[] = {"input", "mask"};
  const Tensor* const operands[] = {&input, &mask};
  return broadcast_shape(op, kNames, operands);
}

// Where mask, seen in `shape`, is true, as positions in the row-major order.
static Tensor positions(const Tensor& mask, Dims shape) {
  const Tensor flat = plain(expanded(mask.is_number() ? plain(mask) : mask, shape));
  const int64_t size[] = {flat.numel()}, step[] = {1};
  const Tensor found = nonzero_coordinates(alias(flat, size, step, flat.offset(), Dtype::kBool));
  const int64_t count[] = {found.numel()};
  return alias(found, count, step, 0, Dtype::kInt64);
}

static constexpr int64_t kWhole[] = {-1};

// -- masked_fill ----------------------------------------------------------------------------------

// A choice element by element, whose rules are where's; only the words of the errors differ.
Tensor masked_fill_impl(const Tensor& input, const Tensor& mask, const Tensor& value, Into into) {
  const char* const op = "masked_fill";
  check_mask(op, mask);
  common_shape(op, input, mask);  // or an error that names the mask
  if (value.ndim() > 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "value", "has shape " + to_string(value.shape()),
                  "a number or a 0-d tensor");
  const Tensor one = held(op, "value", value, input.dtype());
  const Named named(op);
  return named(rename_error(op, {{"condition", "mask"}, {"input", "value"}, {"other", "input"}},
                            [&] { return pointwise(k_where_row_major, mask, one, input, into); }));
}

// -- masked_select --------------------------------------------------------------------------------

Tensor masked_select_impl(const Tensor& input, const Tensor& mask, Into into) {
  check_mask("masked_select", mask);
  const Shape shape = common_shape("masked_select", input, mask);
  const Tensor at = positions(mask, shape);
  return rename_error("masked_select", {{"input", "input"}}, [&] {
    return select_found(reshape(expand(input, shape), kWhole), at, into);
  });
}

// -- masked_scatter -------------------------------------------------------------------------------

// On meta as many as can be: the result's shape does not depend on it.
static Tensor unseen_coordinates(const Tensor& mask, const Tensor& source, bool flat) {
  const int64_t shape[] = {std::min(mask.numel(), source.numel()), mask.ndim()};
  return empty(Dims(shape).first(flat ? 1 : 2), Dtype::kInt64, mask.device());
}

Tensor masked_scatter_impl(const Tensor& input, const Tensor& mask, const Tensor& source,
                           Into into) {
  const char* const op = "masked_scatter";
  check_mask(op, mask);
  const Shape shape = common_shape(op, input, mask);
  if (!same(shape, input.shape())) {
    if (!into || same(shape, into.tensor().shape()))
      return masked_scatter(expand(input, shape), mask, source, into);
    fail_argument(LIBDL_ERROR_SHAPE, op, "mask", "has shape " + to_string(mask.shape()),
                  "one that broadcasts to " + to_string(input.shape()));
  }
  if (source.dtype() != input.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, op, "source", std::string("is ") + name_of(source.dtype()),
                  name_of(input.dtype()));
  const Tensor seen = expanded(mask.is_number() ? plain(mask) : mask, shape);
  // Of a new tensor that nobody differentiates positions do, in the place of coordinates.
  const uint32_t mode = state().mode;
  const bool recorded = (mode & kModeGrad) && (has_history(input) || has_history(source));
  const bool flat = !into && input.ndim() > 1 && !recorded && !(mode & kModeForward);
  const Tensor coordinates = is_meta(seen.device()) ? unseen_coordinates(seen, source, flat)
                             : flat                 ? positions(seen, shape)
                                                    : nonzero_coordinates(seen);
  const int64_t count = coordinates.size(0);
  if (source.numel() < count)
    fail_argument(LIBDL_ERROR_SHAPE, op, "source",
                  "has " + std::to_string(source.numel()) + " elements",
                  "at least " + std::to_string(count) + ", one for each true element of mask");
  const Tensor values = narrow(reshape(source, kWhole), 0, 0, count);
  if (input.ndim() == 0)
    return rename_error(op, {{"input", "input"}, {"mask", "mask"}, {"value", "source"}}, [&] {
      // The sum of nothing is 0, and the source's history goes on through it.
      return masked_fill(input, mask, count ? reshape(values, {}) : sum(values), into);
    });
  if (flat) {
    const int64_t size[] = {input.numel()}, step[] = {1};
    const Tensor dense = plain(input);
    const Tensor line = alias(dense, size, step, dense.offset(), dense.dtype());
    const Tensor at[] = {coordinates};
    const bool own = dense.get() != input.get();
    const Tensor y = index_put(line, at, values, false, own ? Into(line) : Into());
    return alias(y, shape, contiguous_strides(shape), y.offset(), y.dtype());
  }
  std::vector<Tensor> list;
  for (int d = 0; d < input.ndim(); ++d) {
    const int64_t size[] = {count}, step[] = {input.ndim()};
    list.push_back(alias(coordinates, size, step, d, Dtype::kInt64));
  }
  return rename_error(op, {{"input", "input"}, {"values", "source"}},
                      [&] { return index_put(input, list, values, false, into); });
}

}  // namespace libdl
