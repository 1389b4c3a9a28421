// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/nn.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor batch_norm(const Tensor& input, const Tensor* running_mean, const Tensor* running_var,
                  const Tensor* weight, const Tensor* bias, bool training, double momentum,
                  double eps);

}  // namespace libdl
