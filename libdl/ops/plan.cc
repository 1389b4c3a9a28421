// SPDX-License-Identifier: Apache-2.0

#include "ops/plan.h"

#include "ops/launch.h"

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

void Plan::general(const Tensor& out, std::span<const Tensor* const> in) {
  clear();
  int64_t strides[kOperands];
  for (int d = 0; d < out.ndim(); ++d) {
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
