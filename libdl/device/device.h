// SPDX-License-Identifier: Apache-2.0

// Which devices exist, and how work reaches them.
#pragma once

#include <cstdint>
#include <string>

#include "device/special.h"
#include "device/state.h"
#include "device/tables.h"
#include "memory/allocator.h"

namespace libdl {

// "cpu", "meta", "cuda:1"; "device type 7" for an unknown one.
std::string device_name(Device device);

// The backend of a device type. Its plugin is opened on first use. Throws Error(BACKEND), naming
// what is missing, or Error(DEVICE) for a type that libdl does not know.
const Backend& backend(int32_t device_type);

// The number of devices of a type; 0 if the plugin or the driver is missing.
int32_t device_count(int32_t device_type);

// Throws Error(DEVICE), naming the devices that exist, or backend()'s errors.
void check_device(const char* op, Device device);

DeviceProperties device_properties(Device device);
Allocator& allocator_for(Device device);

// Waits for all work on the device, and throws its errors.
void synchronize(Device device);

// Throws the error of a call that waited for a stream, if any; then throws what finished kernels
// complain of.
void check_waited(Device device, void* stream, libdl_error* error);

}  // namespace libdl
