// SPDX-License-Identifier: Apache-2.0

#include "ops/reduction.h"

#include "ops/copy.h"
#include "ops/reduce_plan.h"
#include "ops/view.h"

namespace libdl {

// -- sum --------------------------------------------------------------------------------------

// dx = dy, spread over what was summed.
static void sum_vjp(Backward& b) {
  const ReducedDims& r = b.attr<ReducedDims>();
  b.give(0, expand(reshape(b.dy(), r.kept_shape()), r.shape));
}
static const Rule kSum{"sum", sum_vjp};

// Bool and small integers are summed as int64, as PyTorch does.
static Dtype sum_dtype(const Tensor& x, Dtype dtype) {
  if (dtype != Dtype::kNone) return dtype;
  return is_inexact(x.dtype()) || x.dtype() == Dtype::kUint64 ? x.dtype() : Dtype::kInt64;
}

Tensor sum(const Tensor& input, std::optional<Dims> dims, bool keepdim, Dtype dtype, Into into) {
  Call call("sum", into, {&input});
  const ReducedDims r(input.shape(), call.axes(2, "dims", dims, input.ndim()));
  const Tensor y = reduce(kernels::Reduction::kSum, input, r, keepdim, sum_dtype(input, dtype));
  Tensor result = call.done(y, kSum, r);
  if (call.forward())
    call.jvp(result, [&] { return sum(call.tangent(0), dims, keepdim, y.dtype()); });
  return result;
}

Tensor sum_to(const Tensor& x, Dims shape) {
  if (same(x.shape(), shape)) return x;
  const int lead = x.ndim() - static_cast<int>(shape.size());
  Shape dims;
  for (int d = 0; d < x.ndim(); ++d)
    if (d < lead || (shape[d - lead] == 1 && x.size(d) != 1)) dims.push_back(d);
  const Tensor y = dims.empty() ? x : sum(x, dims, true, x.dtype());
  return lead > 0 ? reshape(y, shape) : y;
}

// -- all, any ---------------------------------------------------------------------------------

static Tensor truth(const char* op, kernels::Reduction kind, const Tensor& input,
                    std::optional<Dims> dims, bool keepdim, Into into) {
  Call call(op, into, {});
  const ReducedDims r(input.shape(), call.axes(2, "dims", dims, input.ndim()));
  return call.done(reduce(kind, input, r, keepdim, Dtype::kBool));
}
Tensor all(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into) {
  return truth("all", kernels::Reduction::kAll, input, dims, keepdim, into);
}
Tensor any(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into) {
  return truth("any", kernels::Reduction::kAny, input, dims, keepdim, into);
}

}  // namespace libdl
