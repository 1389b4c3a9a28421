// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ops/core/call.h"

namespace libdl {

// Rows of a table by bags, each reduced to one row. Meaning and errors: include/libdl/nn.h.
Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor* offsets = nullptr,
                     bool scale_grad_by_freq = false, std::optional<std::string_view> mode = {},
                     bool sparse = false, const Tensor* per_sample_weights = nullptr,
                     bool include_last_offset = false, std::optional<int64_t> padding_idx = {});

}  // namespace libdl
