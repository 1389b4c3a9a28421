// SPDX-License-Identifier: Apache-2.0

// Which device: numbers of DLPack.
#pragma once

#include <libdl/device.h>

#include <cstdint>

namespace libdl {

constexpr int32_t kDeviceTypes = 32;  // DLPack's numbers, and room for more

struct Device {
  int32_t type = LIBDL_DEVICE_CPU;
  int32_t index = 0;
  bool operator==(const Device&) const = default;
  bool is_cpu() const { return type == LIBDL_DEVICE_CPU; }
};

}  // namespace libdl
