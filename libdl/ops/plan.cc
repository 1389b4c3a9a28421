// SPDX-License-Identifier: Apache-2.0

#include "ops/plan.h"

#include "ops/launch.h"

namespace libdl {

void Plan::general(const Tensor& out, std::span<const Tensor* const> in) {
  const int operands = static_cast<int>(in.size()) + 1;
  ndim_ = 0;
  for (int d = 0; d < out.ndim(); ++d) {
    const int64_t size = out.size(d);
    if (size == 1) continue;
    int64_t stride[kOperands];
    stride[0] = out.stride(d);
    for (int k = 1; k < operands; ++k) {
      const Tensor& x = *in[k - 1];
      const int at = d - (out.ndim() - x.ndim());
      stride[k] = at < 0 || x.size(at) == 1 ? 0 : x.stride(at);
    }
    bool merges = ndim_ > 0;
    for (int k = 0; k < operands && merges; ++k)
      merges = strides_[k][ndim_ - 1] == stride[k] * size;
    if (merges) {
      sizes_[ndim_ - 1] *= size;
    } else {
      sizes_[ndim_++] = size;
    }
    for (int k = 0; k < operands; ++k) strides_[k][ndim_ - 1] = stride[k];
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
