// SPDX-License-Identifier: Apache-2.0

// Copies from ordinary memory of the host to a device. A device reads pinned memory only, so the
// bytes are copied there first, and the call returns: neither the caller nor the device waits for
// the other. Pinned blocks are kept and reused when the copies from them are done.
#pragma once

#include "device/device.h"

namespace libdl {

// Queues the copy; `from` may change once this returns. Throws BACKEND.
void copy_to_device(Device device, void* to, const void* from, size_t bytes, void* stream);

// Returns idle pinned memory to the driver: how many bytes.
size_t trim_staging(Device device);

}  // namespace libdl
