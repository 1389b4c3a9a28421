// SPDX-License-Identifier: Apache-2.0

// What the result of a call is: its dtype, shape and device.
#pragma once

#include <optional>
#include <span>

#include "device/device.h"
#include "ops/primitive/into.h"

namespace libdl {

// PyTorch's promotion: tensors with dimensions, then 0-d tensors, then host numbers; a lower class
// counts only if its category is higher.
Dtype result_dtype(std::span<const Tensor* const> operands);
// The device of the result: that of the first operand not in host memory.
Device device_among(std::span<const Tensor* const> operands);
inline Device result_device(std::span<const Tensor* const> operands) {
  return memory_elsewhere() ? device_among(operands) : Device{};
}
Dtype default_dtype();

// The common shape, or an error that names the first argument that does not fit.
Shape broadcast_shape(const char* op, const char* const* names,
                      std::span<const Tensor* const> operands);

// The device on which an operator without inputs makes its result.
Device device_or_default(const char* op, std::optional<Device> device);
// Without a device the destination's, if there is one.
Device device_or_default(const char* op, std::optional<Device> device, Into into);

}  // namespace libdl
