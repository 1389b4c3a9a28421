// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/convolution.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor* bias = {},
              std::optional<Dims> stride = {}, std::optional<Dims> padding = {},
              std::optional<Dims> dilation = {}, int64_t groups = 1);
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor* bias = {},
              std::optional<Dims> stride = {}, std::optional<Dims> padding = {},
              std::optional<Dims> dilation = {}, int64_t groups = 1);
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor* bias = {},
              std::optional<Dims> stride = {}, std::optional<Dims> padding = {},
              std::optional<Dims> dilation = {}, int64_t groups = 1);

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor* bias = {},
                        std::optional<Dims> stride = {}, std::optional<Dims> padding = {},
                        std::optional<Dims> output_padding = {}, int64_t groups = 1,
                        std::optional<Dims> dilation = {});
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor* bias = {},
                        std::optional<Dims> stride = {}, std::optional<Dims> padding = {},
                        std::optional<Dims> output_padding = {}, int64_t groups = 1,
                        std::optional<Dims> dilation = {});
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor* bias = {},
                        std::optional<Dims> stride = {}, std::optional<Dims> padding = {},
                        std::optional<Dims> output_padding = {}, int64_t groups = 1,
                        std::optional<Dims> dilation = {});

}  // namespace libdl
