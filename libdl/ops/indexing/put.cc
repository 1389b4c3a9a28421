// SPDX-License-Identifier: Apache-2.0

// Writes to places counted in row-major order.
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"

namespace libdl {

// y itself, written and recorded.
static Tensor written(const Tensor& y, const Tensor& index, const Tensor& source, bool accumulate) {
  return rename_error("put", {{"index", "index"}, {"source", "source"}}, [&] {
    const int64_t all[] = {-1};
    const bool direct = y.is_contiguous();
    const Tensor flat = direct ? view(y, all) : flatten(y);
    const Tensor positions = flatten(index), values = flatten(source);
    if (accumulate)
      index_add(flat, 0, positions, values, nullptr, Into(flat));
    else
      index_copy(flat, 0, positions, values, Into(flat));
    return direct ? y : copy(reshape(flat, y.shape()), false, Into(y));
  });
}

Tensor put_impl(const Tensor& input, const Tensor& index, const Tensor& source, bool accumulate,
                Into into) {
  if (into && input.is(into.tensor())) return written(into.tensor(), index, source, accumulate);
  const Tensor* const operands[] = {&input, &index, &source};
  refuse_overlap("put", into, operands);
  const Tensor y = written(clone(input), index, source, accumulate);
  return into ? write_result("put", y, into, operands) : y;
}

}  // namespace libdl
