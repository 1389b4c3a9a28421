// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ops/core/call.h"

namespace libdl {

// Looking up rows of a table. Meaning and errors: include/libdl/nn.h.
Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx = {},
                 bool scale_grad_by_freq = false, bool sparse = false);

}  // namespace libdl
