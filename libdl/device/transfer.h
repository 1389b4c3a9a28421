// SPDX-License-Identifier: Apache-2.0

// Bytes between the host and devices.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "device/device.h"

namespace libdl {

// Queues a copy of plain bytes on a native stream, of from_device unless that is the CPU. It may
// return before the copy is done.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes,
                void* stream);

// A LIBDL_SYNC_ constant: what a wait that nobody asked for does.
extern std::atomic<int32_t> sync_debug_mode;
// To be called before one: may warn, or throw Error(STATE). why: what the host waits for.
void about_to_wait(Device device, const char* why);

// Copies between the host and a device, on its current stream. read_bytes returns when the copy is
// done, write_bytes when `from` may change.
void read_bytes(void* to, Device device, const void* from, size_t bytes);
void write_bytes(Device device, void* to, const void* from, size_t bytes);
// Zero bytes, queued on the current stream.
void clear_bytes(Device device, void* data, size_t bytes);

}  // namespace libdl
