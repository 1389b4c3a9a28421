// SPDX-License-Identifier: Apache-2.0

#include "device/device.h"

#include "base/error.h"
#include "device/backend_source.h"
#include "device/meta.h"
#include "device/per_device.h"
#include "device/plugin.h"

namespace libdl {

static constinit PerDevice<Allocator> allocators;

std::string device_name(Device device) {
  std::string name = name_or_number(device.type);
  const bool only_one = (device.is_cpu() || is_meta(device)) && device.index == 0;
  if (only_one || !device_type_name(device.type)) return name;
  return name + ":" + std::to_string(device.index);
}

const Backend& backend(int32_t type) {
  if (type < 0 || type >= kDeviceTypes) {
    fail_unnamed(LIBDL_ERROR_DEVICE, "device type " + std::to_string(type) + " is unknown");
  }
  if (const Backend* const table = registered_backend(type)) return *table;
  const KnownPlugin* const known = known_plugin(type);
  if (known && known->library) return open_known(*known);
  fail_unnamed(LIBDL_ERROR_DEVICE, device_name({type, 0}) + ": no backend for this device type");
}

int32_t device_count(int32_t type) {
  int32_t count = 0;
  try {
    check_backend(backend(type).device_count(&count));
  } catch (const Error&) {
    return 0;
  }
  return count;
}

void check_device(const char* op, Device device) {
  int32_t count = 0;
  check_backend(backend(device.type).device_count(&count));
  if (device.index >= 0 && device.index < count) return;
  fail(LIBDL_ERROR_DEVICE, op,
       "device " + name_or_number(device.type) + ":" + std::to_string(device.index) +
           " does not exist; there are " + std::to_string(count));
}

DeviceProperties device_properties(Device device) {
  check_device("device_properties", device);
  DeviceProperties properties = {};
  properties.struct_size = sizeof properties;
  check_backend(backend(device.type).properties(device.index, &properties));
  return properties;
}

Allocator& allocator_for(Device device) {
  if (device.is_cpu()) return host_allocator();
  // Once made it is found without the driver, which may have failed since: memory can always be
  // freed.
  if (Allocator* const existing = allocators.find(device)) return *existing;
  check_device("allocator", device);
  if (!allocators.has_slot(device)) {
    fail_unnamed(LIBDL_ERROR_LIMIT, device_name(device) + ": more devices than libdl has room for");
  }
  return allocators.find_or_make(device, [&] {
    return new Allocator(device_name(device),
                         std::make_shared<BackendSource>(backend(device.type), device.index),
                         BackendSource::rounding());
  });
}

void check_waited(Device device, void* stream, libdl_error* error) {
  check_backend(error);
  const Backend& table = backend(device.type);
  if (table.device_error) check_backend(table.device_error(device.index, stream));
}

void synchronize(Device device) {
  check_device("synchronize", device);
  check_waited(device, nullptr, backend(device.type).device_synchronize(device.index));
}

}  // namespace libdl
