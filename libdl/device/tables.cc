// SPDX-License-Identifier: Apache-2.0

#include "device/tables.h"

#include <atomic>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/lock.h"
#include "device/known_plugins.h"

namespace libdl {
namespace {

constinit std::atomic<const Backend*> backends[kDeviceTypes];

// The table of a type that is part of the core; NULL: of none.
const Backend* built_in(int32_t type) {
  if (type == LIBDL_DEVICE_CPU) return &cpu_backend();
  return type == LIBDL_DEVICE_META ? &meta_backend() : nullptr;
}

}  // namespace

const Backend* registered_backend(int32_t type) {
  if (type < 0 || type >= kDeviceTypes) return nullptr;
  if (const Backend* const table = backends[type].load(std::memory_order_acquire)) return table;
  const Backend* const table = built_in(type);
  if (table) backends[type].store(table, std::memory_order_release);
  return table;
}

const char* device_type_name(int32_t type) {
  if (const Backend* const table = registered_backend(type)) return table->name;
  const KnownPlugin* const known = known_plugin(type);
  return known ? known->name : nullptr;
}

int32_t device_type_named(const char* name) {
  for (int32_t type = 1; type < kDeviceTypes; ++type) {
    const char* const type_name = device_type_name(type);
    if (type_name && std::strcmp(type_name, name) == 0) return type;
  }
  return 0;
}

std::string name_or_number(int32_t type) {
  const char* name = device_type_name(type);
  return name ? name : "device type " + std::to_string(type);
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

}  // namespace libdl
