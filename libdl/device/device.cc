// SPDX-License-Identifier: Apache-2.0

#include "device/device.h"

#include <cstring>

#include "base/error.h"
#include "base/lock.h"
#include "device/backend_source.h"
#include "device/meta.h"
#include "device/per_device.h"
#include "device/plugin.h"
#include "device/staging.h"
#include "device/stream.h"
#include "runtime/log.h"

namespace libdl {
namespace device_detail {

constinit std::atomic<const Backend*> backends[kDeviceTypes];
constinit std::atomic<uint8_t> special{0};

}  // namespace device_detail

namespace {

using device_detail::backends;

// Devices without a name are numbers.
std::string name_or_number(int32_t type) {
  const char* name = device_type_name(type);
  return name ? name : "device type " + std::to_string(type);
}

constinit PerDevice<Allocator> allocators;

// The table of a type that is part of the core; NULL: of none.
const Backend* built_in(int32_t type) {
  if (type == LIBDL_DEVICE_CPU) return &cpu_backend();
  return type == LIBDL_DEVICE_META ? &meta_backend() : nullptr;
}

}  // namespace

const char* device_type_name(int32_t type) {
  if (const Backend* table = built_in(type)) return table->name;
  if (type >= 0 && type < kDeviceTypes) {
    if (const Backend* table = backends[type].load(std::memory_order_acquire)) return table->name;
  }
  const KnownPlugin* const known = known_plugin(type);
  return known ? known->name : nullptr;
}

int32_t device_type_named(const char* name) {
  for (int32_t type = 1; type < kDeviceTypes; ++type) {
    const char* const found = device_type_name(type);
    if (found && std::strcmp(found, name) == 0) return type;
  }
  return 0;
}

std::string device_name(Device device) {
  std::string name = name_or_number(device.type);
  const bool only_one = built_in(device.type) && device.index == 0;
  if (only_one || !device_type_name(device.type)) return name;
  return name + ":" + std::to_string(device.index);
}

const Backend& backend(int32_t type) {
  if (type < 0 || type >= kDeviceTypes) {
    fail_unnamed(LIBDL_ERROR_DEVICE, "device type " + std::to_string(type) + " is unknown");
  }
  if (const Backend* table = backends[type].load(std::memory_order_acquire)) return *table;
  if (const Backend* const table = built_in(type)) {
    backends[type].store(table, std::memory_order_release);
    return *table;
  }
  const KnownPlugin* const known = known_plugin(type);
  if (known && known->library) return open_known(*known);
  fail_unnamed(LIBDL_ERROR_DEVICE, device_name({type, 0}) + ": no backend for this device type");
}

// The rest may be NULL: without `granule` memory comes in whole segments.
static void check_table(const Backend& b) {
  const bool pieces = b.granule != nullptr;
  const struct {
    bool there;
    const char* name;
  } entries[] = {
      {b.name && *b.name, "name"},
      {b.kernels != nullptr, "kernels"},
      {b.device_count != nullptr, "device_count"},
      {b.properties != nullptr, "properties"},
      {!pieces || b.reserve, "reserve"},
      {!pieces || b.commit, "commit"},
      {!pieces || b.decommit, "decommit"},
      {!pieces || b.unreserve, "unreserve"},
      {b.allocate != nullptr, "allocate"},
      {b.free != nullptr, "free"},
      {b.copy != nullptr, "copy"},
      {b.fill != nullptr, "fill"},
      {b.stream_create != nullptr, "stream_create"},
      {b.stream_destroy != nullptr, "stream_destroy"},
      {b.stream_query != nullptr, "stream_query"},
      {b.stream_synchronize != nullptr, "stream_synchronize"},
      {b.device_synchronize != nullptr, "device_synchronize"},
      {b.event_create != nullptr, "event_create"},
      {b.event_destroy != nullptr, "event_destroy"},
      {b.event_record != nullptr, "event_record"},
      {b.stream_wait != nullptr, "stream_wait"},
      {b.event_query != nullptr, "event_query"},
      {b.event_synchronize != nullptr, "event_synchronize"},
      {b.event_elapsed != nullptr, "event_elapsed"},
      {!b.host_allocate || b.host_free, "host_free"},
  };
  for (const auto& entry : entries)
    if (!entry.there)
      fail_unnamed(LIBDL_ERROR_BACKEND, "device " + std::string(b.name ? b.name : "(no name)") +
                                            ": its table lacks " + entry.name);
}

void register_backend(const Backend& backend) {
  const int32_t type = backend.device_type;
  if (type <= 0 || type >= kDeviceTypes) {
    fail_unnamed(LIBDL_ERROR_DEVICE, "device type " + std::to_string(type) + " is unknown");
  }
  check_table(backend);
  static Mutex mutex;
  const std::lock_guard lock(mutex);
  const Backend* const before = backends[type].load(std::memory_order_relaxed);
  if (before == &backend) return;
  if (before || built_in(type))
    fail_unnamed(LIBDL_ERROR_DEVICE,
                 "device type " + std::to_string(type) + " is taken by " + name_or_number(type));
  const int32_t namesake = device_type_named(backend.name);
  if (namesake != 0 && namesake != type)
    fail_unnamed(LIBDL_ERROR_DEVICE, std::string("device name ") + backend.name +
                                         " is taken by device type " + std::to_string(namesake));
  backends[type].store(&backend, std::memory_order_release);
}

void check_backend(libdl_error* error) {
  if (error) throw Error::take(error);
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
  if (Allocator* const made = allocators.find(device)) return *made;
  check_device("allocator", device);
  if (!allocators.has_place(device)) {
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
  if (table.complaint) check_backend(table.complaint(device.index, stream));
}

void synchronize(Device device) {
  check_device("synchronize", device);
  check_waited(device, nullptr, backend(device.type).device_synchronize(device.index));
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes,
                void* stream) {
  if (is_meta(from_device) && !is_meta(to_device)) fail_without_values("copy");
  const Device where = from_device.is_cpu() ? to_device : from_device;
  check_backend(backend(where.type).copy(where.index, to, from, bytes, stream));
}

std::atomic<int32_t> sync_debug_mode{LIBDL_SYNC_ALLOWED};

void about_to_wait(Device device, const char* why) {
  const int32_t mode = sync_debug_mode.load(std::memory_order_relaxed);
  if (mode == LIBDL_SYNC_ALLOWED) return;
  const std::string message = "the host waits for " + device_name(device) + ": " + why;
  if (mode == LIBDL_SYNC_FAILS) fail_unnamed(LIBDL_ERROR_STATE, message);
  warn(message.c_str());
}

void read_bytes(void* to, Device device, const void* from, size_t bytes) {
  if (!bytes) return;
  if (device.is_cpu()) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (is_meta(device)) fail_without_values("copy");
  about_to_wait(device, "its values are copied to the host");
  void* const stream = native_stream(device);
  copy_bytes(to, {}, from, device, bytes, stream);
  check_waited(device, stream, backend(device.type).stream_synchronize(device.index, stream));
}

void write_bytes(Device device, void* to, const void* from, size_t bytes) {
  if (!bytes) return;
  if (device.is_cpu())
    std::memcpy(to, from, bytes);
  else
    copy_to_device(device, to, from, bytes, native_stream(device));
}

void clear_bytes(Device device, void* data, size_t bytes) {
  if (!bytes) return;
  check_backend(backend(device.type).fill(device.index, data, 0, bytes, native_stream(device)));
}

}  // namespace libdl
