// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/attention.h.
#pragma once

#include "ops/core/call.h"
#include "tensor/generator.h"

namespace libdl {

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor* attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa,
                                    Generator* generator);

}  // namespace libdl
