// SPDX-License-Identifier: Apache-2.0

// The device meta, whose tensors have shapes but no elements.
#pragma once

#include <libdl/device.h>

#include <cstddef>

#include "base/source_location.h"
#include "device/device_id.h"

namespace libdl {

inline bool is_meta(Device device) { return device.type == LIBDL_DEVICE_META; }

// Where such bytes would be: addresses that nothing can read or write and that nobody else has.
void* addresses_without_memory(size_t bytes);

// Throws UNSUPPORTED: somebody asks for elements that there are not.
LIBDL_NORETURN [[gnu::cold]] void fail_without_values(const char* op LIBDL_SOURCE_LOCATION);
// Throws that of an argument that lies there.
inline void check_has_values(const char* op, Device device LIBDL_SOURCE_LOCATION) {
  if (is_meta(device)) fail_without_values(op LIBDL_SAME_SOURCE_LOCATION);
}

}  // namespace libdl
