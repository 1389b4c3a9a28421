// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/nn.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor max_pool2d(const Tensor& input, Dims kernel_size, std::optional<Dims> stride = {},
                  std::optional<Dims> padding = {}, std::optional<Dims> dilation = {},
                  bool ceil_mode = false);
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, Dims kernel_size,
                                                   std::optional<Dims> stride = {},
                                                   std::optional<Dims> padding = {},
                                                   std::optional<Dims> dilation = {},
                                                   bool ceil_mode = false);

}  // namespace libdl
