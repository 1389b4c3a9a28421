// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "device/device.h"
#include "entries/copy.h"
#include "entries/sparse.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/nn/row_gradient.h"
#include "tensor/sparse_rows.h"

namespace libdl {

// No rule would pass a gradient on.
static void refuse_history(const Call& call, const char* name) {
  if (call.recording() || call.forward())
    call.bad(LIBDL_ERROR_AUTOGRAD, name, "requires grad, but no gradient flows there",
             "detach() of it");
}

std::tuple<Tensor, Tensor> sparse_rows_impl(const Tensor& input) {
  const Call call("sparse_rows", {}, {&input});
  const std::vector<int64_t>* const rows = held_rows(input);
  if (!rows)
    call.bad(LIBDL_ERROR_VALUE, "input", "is dense",
             "a sparse matrix, as the gradient of embedding(sparse=True)");
  refuse_history(call, "input");
  const int64_t count[] = {std::ssize(*rows)};
  const Tensor indices = empty(count, Dtype::kInt64);
  std::ranges::copy(*rows, indices.overwrite_plain<int64_t>());
  return {indices, held_values(input)};
}

Tensor sparse_from_rows_impl(const Tensor& indices, const Tensor& values, int64_t rows) {
  const Call call("sparse_from_rows", {}, {&values});
  const auto bad_shape = [&](const char* name, const Tensor& x,
                             const std::string& wanted LIBDL_SOURCE_LOCATION) {
    call.bad(LIBDL_ERROR_SHAPE, name, "has shape " + to_string(x.shape()),
             wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  if (values.ndim() != 2) bad_shape("values", values, "[n, columns]");
  if (indices.ndim() != 1 || indices.size(0) != values.size(0))
    bad_shape("indices", indices, "[" + std::to_string(values.size(0)) + "], one a row of values");
  if (!is_inexact(values.dtype()))
    call.bad(LIBDL_ERROR_DTYPE, "values", std::string("is ") + name_of(values.dtype()),
             "a floating or complex dtype");
  if (!values.device().is_cpu())
    call.bad(LIBDL_ERROR_UNSUPPORTED, "values", "is on " + device_name(values.device()), "the CPU");
  if (rows < 0) call.bad(LIBDL_ERROR_VALUE, "rows", "is " + std::to_string(rows), "0 or more");
  refuse_history(call, "values");
  const int64_t table[] = {rows, values.size(1)};
  checked_numel(table, values.dtype(), call.op(), "rows");
  const Tensor row = checked_index(call, {}, "indices", indices, rows);
  return row_gradient({table, -1, true, row, {}, {}}, values, false);
}

}  // namespace libdl
