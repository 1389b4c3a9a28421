// SPDX-License-Identifier: Apache-2.0

// Pinned memory of the host: a device copies from and to it by itself, while the host goes on.
#pragma once

#include "device/state.h"
#include "memory/allocator.h"

namespace libdl {

// Whether a device has such memory.
bool pins_memory(Device device);

// The allocator of a device's pinned memory. A freed block that copies still use (record_use, with
// their stream) is kept until they are done. Throws Error(UNSUPPORTED) for devices without it.
Allocator& pinned_allocator(Device device);

// Pass it to the allocator as the stream: the host's own order.
extern char host_order;

// Returns idle pinned memory to the driver: how many bytes.
size_t trim_pinned(Device device);

}  // namespace libdl
