// SPDX-License-Identifier: Apache-2.0

// Copies between devices.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// x on another device. With non_blocking a copy on the CPU is in pinned memory.
Tensor transferred(const Tensor& x, Dtype dtype, Device device, bool non_blocking);

}  // namespace libdl
