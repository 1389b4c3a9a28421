// SPDX-License-Identifier: Apache-2.0

// Copies between devices.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// An inner step: copies src's elements to dst on another device, converted; shapes agree. The host
// waits for a copy to its memory, unless that is pinned and non_blocking is set.
void transfer(const Tensor& dst, const Tensor& src, bool non_blocking);

// x on another device. With non_blocking a copy on the CPU is in pinned memory.
Tensor transferred(const Tensor& x, Dtype dtype, Device device, bool non_blocking);

}  // namespace libdl
