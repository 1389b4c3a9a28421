// SPDX-License-Identifier: Apache-2.0

// What operators that create tensors have in common.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// The device on which an operator without inputs makes its result.
Device device_or_default(const char* op, int argument, std::optional<Device> device);
// Without a device the destination's, if there is one.
Device device_or_default(const char* op, int argument, std::optional<Device> device, Into into);

}  // namespace libdl
