// SPDX-License-Identifier: Apache-2.0

#include "ops/reduce_plan.h"

#include "ops/launch.h"
#include "ops/view.h"

namespace libdl {

Shape ReducedDims::kept_shape() const {
  Shape kept(shape);
  for (size_t d = 0; d < kept.size(); ++d)
    if (mask[d]) kept[d] = 1;
  return kept;
}

Shape ReducedDims::result_shape(bool keepdim) const {
  if (keepdim) return kept_shape();
  Shape result;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!mask[d]) result.push_back(shape[d]);
  return result;
}

int64_t ReducedDims::count() const {
  int64_t n = 1;
  for (size_t d = 0; d < shape.size(); ++d)
    if (mask[d]) n *= shape[d];
  return n;
}

Tensor ReducedDims::kept(const Tensor& y) const { return reshape(y, kept_shape()); }

Shape ReducedDims::reduced() const {
  Shape dims;
  for (size_t d = 0; d < mask.size(); ++d)
    if (mask[d]) dims.push_back(static_cast<int64_t>(d));
  return dims;
}

namespace {
// The input with its reduced dimensions last, in their order.
struct Permuted {
  int64_t sizes[kMaxDims], strides[kMaxDims];
  int32_t kept = 0, reduced = 0;

  Permuted(const Tensor& x, const ReducedDims& dims) {
    for (int d = 0; d < x.ndim(); ++d)
      if (!dims.mask[d]) place(kept++, x, d);
    for (int d = 0; d < x.ndim(); ++d)
      if (dims.mask[d]) place(kept + reduced++, x, d);
  }
  void place(int at, const Tensor& x, int d) {
    sizes[at] = x.size(d);
    strides[at] = x.stride(d);
  }
  kernels::View view(const Tensor& x) const {
    return {kernel_data(x, Access::kRead), sizes, strides, kept + reduced,
            static_cast<int32_t>(x.dtype())};
  }
};
}  // namespace

static kernels::View flat_result(const Tensor& y, const Permuted& in, int64_t* strides) {
  int64_t stride = 1;
  for (int d = in.kept; d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(in.sizes[d], 1);
  }
  return {kernel_data(y, Access::kOverwrite), in.sizes, strides, in.kept,
          static_cast<int32_t>(y.dtype())};
}

Tensor reduce(kernels::Reduction op, const Tensor& x, const ReducedDims& dims, bool keepdim,
              Dtype dtype, double number, bool root) {
  Tensor y = empty(dims.result_shape(keepdim), dtype, x.device());
  if (y.numel() == 0) return y;
  const Permuted in(x, dims);
  int64_t strides[kMaxDims];
  kernels::ReduceArgs args{};
  args.op = static_cast<int32_t>(op);
  args.reduced = in.reduced;
  args.out = flat_result(y, in, strides);
  args.indices = no_view();
  args.in = in.view(x);
  args.number = number;
  args.root = root;
  launch_reduce(x.device(), args);
  return y;
}

std::pair<Tensor, Tensor> reduce_with_index(kernels::Reduction op, const Tensor& x,
                                            const ReducedDims& dims, bool keepdim) {
  const Shape shape = dims.result_shape(keepdim);
  Tensor values = empty(shape, x.dtype(), x.device());
  Tensor indices = empty(shape, Dtype::kInt64, x.device());
  if (values.numel() == 0) return {values, indices};
  const Permuted in(x, dims);
  int64_t strides[kMaxDims];
  kernels::ReduceArgs args{};
  args.op = static_cast<int32_t>(op);
  args.reduced = in.reduced;
  args.out = flat_result(values, in, strides);
  args.indices = flat_result(indices, in, strides);
  args.in = in.view(x);
  launch_reduce(x.device(), args);
  return {values, indices};
}

}  // namespace libdl
