// SPDX-License-Identifier: Apache-2.0

// Operators that create tensors. Meaning and errors: include/libdl/creation.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor empty(Dims shape, Dtype dtype, std::optional<Device> device);
Tensor empty_strided(Dims shape, Dims strides, Dtype dtype, std::optional<Device> device);
Tensor zeros(Dims shape, Dtype dtype, std::optional<Device> device, Into into = {});
Tensor ones(Dims shape, Dtype dtype, std::optional<Device> device, Into into = {});
Tensor full(Dims shape, const Tensor& fill_value, Dtype dtype, std::optional<Device> device,
            Into into = {});
Tensor arange(const Tensor* start, const Tensor& end, const Tensor* step, Dtype dtype,
              std::optional<Device> device, Into into = {});
Tensor linspace(const Tensor& start, const Tensor& end, int64_t steps, Dtype dtype,
                std::optional<Device> device, Into into = {});
Tensor eye(int64_t n, std::optional<int64_t> m, Dtype dtype, std::optional<Device> device,
           Into into = {});
Tensor empty_like(const Tensor& input, Dtype dtype, std::optional<Device> device);
Tensor zeros_like(const Tensor& input, Dtype dtype, std::optional<Device> device);
Tensor ones_like(const Tensor& input, Dtype dtype, std::optional<Device> device);
Tensor full_like(const Tensor& input, const Tensor& fill_value, Dtype dtype,
                 std::optional<Device> device);

// The device on which an operator without inputs makes its result.
Device device_or_default(const char* op, int argument, std::optional<Device> device);
// Without a device the destination's, if there is one.
Device device_or_default(const char* op, int argument, std::optional<Device> device, Into into);

}  // namespace libdl
