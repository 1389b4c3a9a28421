// SPDX-License-Identifier: Apache-2.0

#include "device/events.h"

#include <vector>

#include "base/lock.h"
#include "device/per_device.h"

namespace libdl {
namespace {

struct IdleEvents {
  Mutex mutex;
  std::vector<void*> events;
};
constinit PerDevice<IdleEvents> idle;

}  // namespace

libdl_error* take_event(const Backend& table, int32_t device, void** event) {
  *event = nullptr;
  if (IdleEvents* const kept = idle.find({table.device_type, device})) {
    const std::lock_guard lock(kept->mutex);
    if (!kept->events.empty()) {
      *event = kept->events.back();
      kept->events.pop_back();
      return nullptr;
    }
  }
  return table.event_create(device, 0, event);
}

void give_event(const Backend& table, int32_t device, void* event) noexcept {
  const Device where{table.device_type, device};
  try {
    if (!idle.has_slot(where)) return table.event_destroy(device, event);
    IdleEvents& kept = idle.find_or_make(where, [] { return new IdleEvents; });
    const std::lock_guard lock(kept.mutex);
    kept.events.push_back(event);
  } catch (...) {  // there is no memory for the list
    table.event_destroy(device, event);
  }
}

}  // namespace libdl
