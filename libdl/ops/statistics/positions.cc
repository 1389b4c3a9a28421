// SPDX-License-Identifier: Apache-2.0

// Places in a tensor that is read as a vector.

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/statistics.h"
#include "entries/view.h"
#include "ops/core/call.h"

namespace libdl {

Tensor take_impl(const Tensor& input, const Tensor& index) {
  return reshape(index_select(flatten(input), 0, flatten(index)), index.shape());
}

std::vector<Tensor> unravel_index_impl(const Tensor& indices, Dims shape) {
  if (is_inexact(indices.dtype()) || indices.dtype() == Dtype::kBool)
    fail_argument(LIBDL_ERROR_DTYPE, "unravel_index", "indices",
                  std::string("is ") + name_of(indices.dtype()), "integers");
  for (const int64_t size : shape)
    if (size < 0 || (size == 0 && indices.numel() > 0))
      fail_argument(LIBDL_ERROR_VALUE, "unravel_index", "shape", "is " + to_string(shape),
                    "sizes above 0");
  std::vector<Tensor> coordinates(shape.size());
  Tensor rest = to(indices, Dtype::kInt64, {});
  for (size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = remainder(rest, number(shape[d]));
    if (d > 0) rest = floor_divide(rest, number(shape[d]));
  }
  return coordinates;
}

}  // namespace libdl
