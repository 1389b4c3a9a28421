// SPDX-License-Identifier: Apache-2.0

#include "ops/reduction/reduce_plan.h"

#include "entries/copy.h"
#include "entries/view.h"
#include "kernels/reduction_order.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/primitive/launch.h"
#include "tensor/forms.h"
#include "tensor/memory_order.h"

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
Tensor ReducedDims::kept(const Tensor& dy, const Backward& b) const {
  return reshape(dy, b.batched(kept_shape()));
}

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
  PackedReader form;  // where the input is read in it

  // free: see order_is_free. A form that alone holds the bytes is then read as it lies; for others
  // the kernel would jump through it.
  Permuted(const Tensor& x, const ReducedDims& dims, bool free = false) {
    if (free && !x.is_number() && x.storage().packed_only()) [[unlikely]]
      form = form_of(x, Layout::kChannelsInnermost);
    const Shape packed = form.data() ? channels_innermost(x.shape()) : Shape();
    const Dims steps = form.data() ? Dims(packed) : x.strides();
    for (int d = 0; d < x.ndim(); ++d)
      if (!dims.mask[d]) place(kept++, x, d, steps);
    for (int d = 0; d < x.ndim(); ++d)
      if (dims.mask[d]) place(kept + reduced++, x, d, steps);
  }
  void place(int at, const Tensor& x, int d, Dims steps) {
    sizes[at] = x.size(d);
    strides[at] = steps[static_cast<size_t>(d)];
  }
  kernels::View view(const Tensor& x) const {
    void* const data = form.data() ? const_cast<void*>(form.data()) : kernel_data(x, Access::kRead);
    return {data, sizes, strides, kept + reduced, static_cast<int32_t>(x.dtype())};
  }
};
}  // namespace

// Sums have their order by logical indices. Where all of a permuted tensor is summed that is a walk
// across the lines of memory, which takes longer than a copy; one that is too large is not made.
constexpr int64_t kLeastCopy = 1 << 12, kMostCopy = 1 << 24;  // elements

// What is read twice and is too large for a cache is better copied.
constexpr int64_t kMostTwice = 1 << 21;

// Whether the kernel on the CPU walks along the lines of all of x nevertheless.
static bool is_summed_across(kernels::Reduction op, const Tensor& x, Dtype result, double number) {
  const bool sums = op == kernels::Reduction::kSum || op == kernels::Reduction::kVar ||
                    (op == kernels::Reduction::kNorm && (number == 1 || number == 2));
  if (!sums || !x.device().is_cpu() || !is_floating(x.dtype())) return false;
  if (op == kernels::Reduction::kVar && x.numel() > kMostTwice) return false;
  if ((x.dtype() == Dtype::kFloat64) != (result == Dtype::kFloat64)) return false;
  int64_t columns = 1;
  for (int d = x.ndim(); d-- > 0; columns *= x.size(d))
    if (x.size(d) > 1 && x.stride(d) == 1) return kernels::are_read_across(x.size(d), columns);
  return false;
}

// Whole permuted tensors as they lie, where the order is free or the kernel can follow it, else as
// row-major copies.
static Tensor readable(const Tensor& x, const ReducedDims& dims, bool free, bool across) {
  if (x.is_contiguous() || x.stride(x.ndim() - 1) == 1) return x;
  if (x.numel() < kLeastCopy || dims.count() != x.numel() || !is_dense(x)) return x;
  if (!free) return across || x.numel() > kMostCopy ? x : plain(x);
  const auto n = static_cast<size_t>(x.ndim());
  Shape sizes(n, 1);
  sizes[n - 1] = x.numel();
  return alias(x, sizes, Shape(n, 1), x.offset(), x.dtype());
}

static kernels::View flat_result(const Tensor& y, const Permuted& in, int64_t* strides) {
  int64_t stride = 1;
  for (int d = in.kept; d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(in.sizes[d], 1);
  }
  return {kernel_data(y, Access::kOverwrite), in.sizes, strides, in.kept,
          static_cast<int32_t>(y.dtype())};
}

Tensor reduce(kernels::Reduction op, const Tensor& input, const ReducedDims& dims, bool keepdim,
              Dtype dtype, double number, bool root) {
  Tensor y = empty(dims.result_shape(keepdim), dtype, input.device());
  if (y.numel() == 0) return y;
  const bool free = kernels::order_is_free(op, !is_inexact(dtype));
  const Tensor x = readable(input, dims, free, is_summed_across(op, input, dtype, number));
  const Permuted in(x, dims, free);
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

std::pair<Tensor, Tensor> reduce_with_index(kernels::Reduction op, const Tensor& input,
                                            const ReducedDims& dims, bool keepdim) {
  const Tensor x = readable(input, dims, false, false);
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
