// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace libdl::kernels {

// One optimizer step over a list of tensors, in one pass; arrays of `count` contiguous float
// pointers and lengths. state* may be NULL where the rule needs none.
struct OptimizerArgs {
  int32_t count;
  const int32_t* dtype;
  const int64_t* numel;
  void* const* param;
  const void* const* grad;
  void* const* state1;  // SGD: momentum; Adam: first moment
  void* const* state2;  // Adam: second moment
  void* const* state3;  // AMSGrad: largest second moment
  double lr, momentum, dampening, beta1, beta2, eps, weight_decay, bias1, bias2;
  bool nesterov, maximize, first, amsgrad, decoupled;
};

}  // namespace libdl::kernels
