// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/pooling.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor avg_pool1d(const Tensor& input, Dims kernel_size, std::optional<Dims> stride = {},
                  std::optional<Dims> padding = {}, bool ceil_mode = false,
                  bool count_include_pad = true);
Tensor avg_pool2d(const Tensor& input, Dims kernel_size, std::optional<Dims> stride = {},
                  std::optional<Dims> padding = {}, bool ceil_mode = false,
                  bool count_include_pad = true, std::optional<int64_t> divisor_override = {});
Tensor avg_pool3d(const Tensor& input, Dims kernel_size, std::optional<Dims> stride = {},
                  std::optional<Dims> padding = {}, bool ceil_mode = false,
                  bool count_include_pad = true, std::optional<int64_t> divisor_override = {});

Tensor adaptive_avg_pool1d(const Tensor& input, Dims output_size);
Tensor adaptive_avg_pool2d(const Tensor& input, Dims output_size);
Tensor adaptive_avg_pool3d(const Tensor& input, Dims output_size);

Tensor lp_pool1d(const Tensor& input, double norm_type, Dims kernel_size,
                 std::optional<Dims> stride = {}, bool ceil_mode = false);
Tensor lp_pool2d(const Tensor& input, double norm_type, Dims kernel_size,
                 std::optional<Dims> stride = {}, bool ceil_mode = false);
Tensor lp_pool3d(const Tensor& input, double norm_type, Dims kernel_size,
                 std::optional<Dims> stride = {}, bool ceil_mode = false);

}  // namespace libdl
