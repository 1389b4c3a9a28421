// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/nn.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor* weight, const Tensor* bias,
                  double eps);
Tensor instance_norm(const Tensor& input, const Tensor* running_mean, const Tensor* running_var,
                     const Tensor* weight, const Tensor* bias, bool use_input_stats,
                     double momentum, double eps);
Tensor rms_norm(const Tensor& input, Dims normalized_shape, const Tensor* weight,
                std::optional<double> eps);

}  // namespace libdl
