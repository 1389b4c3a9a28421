// SPDX-License-Identifier: Apache-2.0

// Pixels moved or resampled. Meaning and errors: include/libdl/image.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor pad(const Tensor& input, Dims pads, std::string_view mode = "constant",
           std::optional<double> value = {});

Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor);
Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor);
Tensor channel_shuffle(const Tensor& input, int64_t groups);

Tensor im2col(const Tensor& input, Dims kernel_size, std::optional<Dims> dilation = {},
              std::optional<Dims> padding = {}, std::optional<Dims> stride = {});
Tensor col2im(const Tensor& input, Dims output_size, Dims kernel_size,
              std::optional<Dims> dilation = {}, std::optional<Dims> padding = {},
              std::optional<Dims> stride = {});

Tensor interpolate(const Tensor& input, std::optional<Dims> size,
                   std::optional<double> scale_factor_d, std::optional<double> scale_factor_h,
                   std::optional<double> scale_factor_w, std::string_view mode = "nearest",
                   bool align_corners = false, bool recompute_scale_factor = false,
                   bool antialias = false);

Tensor affine_grid(const Tensor& theta, Dims size, bool align_corners);
Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode,
                   std::string_view padding_mode, bool align_corners);

}  // namespace libdl
