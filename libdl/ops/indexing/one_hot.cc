// SPDX-License-Identifier: Apache-2.0

#include "device/meta.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"

namespace libdl {

Tensor one_hot_impl(const Tensor& tensor, int64_t num_classes) {
  Call call("one_hot", {}, {});
  if (tensor.dtype() != Dtype::kInt64)
    call.bad(LIBDL_ERROR_DTYPE, "tensor", std::string("is ") + name_of(tensor.dtype()), "int64");
  if (num_classes < 0 && tensor.numel() == 0)
    call.bad(LIBDL_ERROR_SHAPE, "tensor", "has no class", "num_classes for it");
  if (tensor.numel() > 0 && (num_classes < 0 || !is_meta(tensor.device()))) {
    if (item_i64(amin(tensor)) < 0)
      call.bad(LIBDL_ERROR_VALUE, "tensor", "holds a negative class", "0 on");
    const int64_t most = item_i64(amax(tensor));
    if (num_classes < 0) num_classes = most + 1;
    if (most >= num_classes)
      call.bad(LIBDL_ERROR_VALUE, "num_classes", "is " + std::to_string(num_classes),
               "more than the largest class, " + std::to_string(most));
  }
  Shape shape(tensor.shape());
  shape.push_back(num_classes);
  checked_numel(shape, Dtype::kInt64, call.op(), "num_classes");
  const Tensor rows = zeros(shape, Dtype::kInt64, tensor.device());
  return call.done(scatter(rows, -1, unsqueeze(tensor, -1), number(int64_t{1}), {}, Into(rows)));
}

}  // namespace libdl
