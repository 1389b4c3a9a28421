// SPDX-License-Identifier: Apache-2.0

// Losses. Meaning and errors: include/libdl/nn.h.
#pragma once

#include <string_view>

#include "ops/core/call.h"

namespace libdl {

Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor* weight,
                int64_t ignore_index, std::optional<std::string_view> reduction);
Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor* weight,
                     int64_t ignore_index, std::optional<std::string_view> reduction,
                     double label_smoothing);
Tensor mse_loss(const Tensor& input, const Tensor& target,
                std::optional<std::string_view> reduction, const Tensor* weight);

}  // namespace libdl
