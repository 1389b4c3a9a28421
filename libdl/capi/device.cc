// SPDX-License-Identifier: Apache-2.0

#include "device/device.h"

#include <libdl/device.h>

#include <string>

#include "capi/device_arguments.h"
#include "device/transfer.h"

using namespace libdl;
using namespace libdl::capi;

int32_t libdl_device_count(int32_t type) {
  try {
    return device_count(type);
  } catch (...) {
    return 0;  // without memory there are none to be used either
  }
}

int32_t libdl_device_type_named(const char* name) { return name ? device_type_named(name) : 0; }

const char* libdl_device_type_name(int32_t type) { return device_type_name(type); }

libdl_error* libdl_device_get_properties(const libdl_device* device, libdl_device_properties* out) {
  constexpr const char* function = "device_get_properties";
  return door(function, [&] {
    output(function, "out", out);
    const DeviceProperties p = device_properties(in_device(function, device));
    libdl_device_properties values = {};
    values.processors = p.processors;
    values.total_memory = p.total_memory;
    values.free_memory = p.free_memory;
    values.capability_major = p.capability_major;
    values.capability_minor = p.capability_minor;
    static_assert(sizeof values.name == sizeof p.name);
    std::memcpy(values.name, p.name, sizeof p.name);
    give_sized(function, out, values, sizeof(libdl_device_properties));
  });
}

libdl_sync_debug_mode libdl_get_sync_debug_mode(void) {
  return sync_debug_mode.load(std::memory_order_relaxed);
}

libdl_error* libdl_set_sync_debug_mode(libdl_sync_debug_mode mode) {
  constexpr const char* function = "set_sync_debug_mode";
  return door(function, [&] {
    if (mode < LIBDL_SYNC_ALLOWED || mode > LIBDL_SYNC_FAILS)
      fail_argument(LIBDL_ERROR_OPTION, function, "mode", "is " + std::to_string(mode),
                    "a LIBDL_SYNC_ constant");
    sync_debug_mode.store(mode, std::memory_order_relaxed);
  });
}

libdl_error* libdl_device_synchronize(const libdl_device* device) {
  constexpr const char* function = "device_synchronize";
  return door(function, [&] { synchronize(in_device(function, device)); });
}
