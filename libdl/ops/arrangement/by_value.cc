// SPDX-License-Identifier: Apache-2.0

// What the elements' values decide: the indices of those that are not 0, and their order.
#include <algorithm>

#include "device/meta.h"
#include "entries/arrangement.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/view.h"
#include "ops/core/call.h"

namespace libdl {

Tensor argwhere_impl(const Tensor& input) { return nonzero(input); }

Tensor nonzero_static_impl(const Tensor& input, int64_t size, int64_t fill_value) {
  const char* const op = "nonzero_static";
  if (size < 0)
    fail_argument(LIBDL_ERROR_VALUE, op, "size", "is " + std::to_string(size), "0 or more");
  Shape shape{size, input.ndim()};
  checked_numel(shape, Dtype::kInt64, op, "size");
  if (is_meta(input.device())) return empty(shape, Dtype::kInt64, input.device());
  const Tensor coordinates = nonzero(input);
  const int64_t rows = std::min(size, coordinates.size(0));
  shape[0] = size - rows;
  const Tensor rest = full(shape, number(fill_value), Dtype::kInt64, input.device());
  return cat(std::vector{narrow(coordinates, 0, 0, rows), rest}, 0);
}

Tensor msort_impl(const Tensor& input) {
  return input.ndim() == 0 ? clone(input) : std::get<0>(sort(input, 0));
}

}  // namespace libdl
