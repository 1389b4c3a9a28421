// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/plan.h"

#include "ops/primitive/launch.h"

namespace libdl {

void Plan::add(int64_t size, std::span<const int64_t> strides) {
  if (size == 1) return;
  bool merges = ndim_ > 0;
  for (size_t k = 0; k < strides.size() && merges; ++k)
    merges = strides_[k][ndim_ - 1] == strides[k] * size;
  if (merges) {
    sizes_[ndim_ - 1] *= size;
  } else {
    sizes_[ndim_++] = size;
  }
  for (size_t k = 0; k < strides.size(); ++k) strides_[k][ndim_ - 1] = strides[k];
}

// The dimensions as out lies in memory, outermost first: what is dense there becomes one.
static void order_of(const Tensor& out, uint8_t* order) {
  for (int d = 0; d < out.ndim(); ++d) {
    int at = d;
    for (; at > 0 && out.stride(order[at - 1]) < out.stride(d); --at) order[at] = order[at - 1];
    order[at] = static_cast<uint8_t>(d);
  }
}

void Plan::general(const Tensor& out, std::span<const Tensor* const> in) {
  clear();
  int64_t strides[kOperands];
  uint8_t order[kMaxDims];
  order_of(out, order);
  for (int i = 0; i < out.ndim(); ++i) {
    const int d = order[i];
    strides[0] = out.stride(d);
    for (size_t k = 0; k < in.size(); ++k) {
      const Tensor& x = *in[k];
      const int at = d - (out.ndim() - x.ndim());
      strides[k + 1] = at < 0 || x.size(at) == 1 ? 0 : x.stride(at);
    }
    add(out.size(d), {strides, in.size() + 1});
  }
}

void Plan::make_ready(const Tensor& out, std::span<const Tensor* const> in) {
  for (size_t k = 0; k < in.size(); ++k) {
    kernel_data(*in[k], Access::kRead);
    if (!out.device().is_cpu() && in[k]->device().is_cpu()) host_inputs_ |= 1u << k;
  }
  kernel_data(out, Access::kOverwrite);  // after the operands, of which it may be one
}

}  // namespace libdl
