// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/pooling.h, and nn.h for two dimensions.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor max_pool1d(const Tensor& input, Dims kernel_size, std::optional<Dims> stride = {},
                  std::optional<Dims> padding = {}, std::optional<Dims> dilation = {},
                  bool ceil_mode = false);
Tensor max_pool2d(const Tensor& input, Dims kernel_size, std::optional<Dims> stride = {},
                  std::optional<Dims> padding = {}, std::optional<Dims> dilation = {},
                  bool ceil_mode = false);
Tensor max_pool3d(const Tensor& input, Dims kernel_size, std::optional<Dims> stride = {},
                  std::optional<Dims> padding = {}, std::optional<Dims> dilation = {},
                  bool ceil_mode = false);

std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, Dims kernel_size,
                                                   std::optional<Dims> stride = {},
                                                   std::optional<Dims> padding = {},
                                                   std::optional<Dims> dilation = {},
                                                   bool ceil_mode = false);
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, Dims kernel_size,
                                                   std::optional<Dims> stride = {},
                                                   std::optional<Dims> padding = {},
                                                   std::optional<Dims> dilation = {},
                                                   bool ceil_mode = false);
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, Dims kernel_size,
                                                   std::optional<Dims> stride = {},
                                                   std::optional<Dims> padding = {},
                                                   std::optional<Dims> dilation = {},
                                                   bool ceil_mode = false);

std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& input, Dims output_size);
std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& input, Dims output_size);
std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& input, Dims output_size);

std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& input, Dims kernel_size,
                                                 Dims output_size, const Tensor& random_samples);
std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& input, Dims kernel_size,
                                                 Dims output_size, const Tensor& random_samples);

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, Dims kernel_size,
                    std::optional<Dims> stride = {}, std::optional<Dims> padding = {},
                    std::optional<Dims> output_size = {});
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, Dims kernel_size,
                    std::optional<Dims> stride = {}, std::optional<Dims> padding = {},
                    std::optional<Dims> output_size = {});
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, Dims kernel_size,
                    std::optional<Dims> stride = {}, std::optional<Dims> padding = {},
                    std::optional<Dims> output_size = {});

}  // namespace libdl
