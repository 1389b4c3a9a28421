// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/device_errors.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"

namespace libdl::cuda {

namespace {

using kernels::cuda::DeviceError;

constexpr int kSlots = 64;  // further streams share the last one

struct DeviceErrors {
  std::mutex mutex;
  std::atomic<DeviceError*> slots{nullptr};
  void* streams[kSlots];
  int count = 0;  // of streams

  // With the lock held; `count`, or the last slot, if the stream has none.
  int slot_of(void* stream) const {
    const auto index = static_cast<int>(std::find(streams, streams + count, stream) - streams);
    return std::min(index, kSlots - 1);
  }
};
DeviceErrors& device_errors_of(int32_t device) {
  static auto* const all = new DeviceErrors[kMostDevices];
  return all[device];
}

libdl_error* make_slots(DeviceErrors& c) {
  void* memory = nullptr;
  constexpr size_t kBytes = kSlots * sizeof(DeviceError);
  if (libdl_error* error =
          checked(opened_driver().cuMemHostAlloc(
                      &memory, kBytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                  "allocating pinned memory"))
    return error;
  std::memset(memory, 0, kBytes);
  c.slots.store(static_cast<DeviceError*>(memory), std::memory_order_release);
  return nullptr;
}

// Kernels write these at any time.
int32_t reported_so_far(const DeviceError& c) {
  return __atomic_load_n(&c.reported, __ATOMIC_ACQUIRE);
}

std::string text_of(const DeviceError& c, int32_t device) {
  if (c.finding) return std::string(c.op) + ": " + c.finding;
  const std::string wanted = c.size ? std::to_string(-c.size) + " to " + std::to_string(c.size - 1)
                                    : std::string("none: the dimension has size 0");
  return std::string(c.op) + ": an index on cuda:" + std::to_string(device) + " is " +
         std::to_string(c.value) + " at element " + std::to_string(c.position) + ", wanted " +
         wanted;
}

}  // namespace

DeviceError* device_error_slot(int32_t device, void* stream, libdl_error** error) {
  DeviceErrors& c = device_errors_of(device);
  const std::lock_guard lock(c.mutex);
  if (!c.slots && (*error = make_slots(c))) return nullptr;
  const int slot = c.slot_of(stream);
  if (slot == c.count) c.streams[c.count++] = stream;
  return &c.slots[slot];
}

// A stream whose slot is still full cannot report again, so that its own comes first.
libdl_error* device_error(int32_t device, void* stream) {
  DeviceErrors& c = device_errors_of(device);
  if (!c.slots.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard lock(c.mutex);
  const int count = c.count, own = c.slot_of(stream);
  for (int i = 0; i < count; ++i) {
    DeviceError& slot = c.slots[(own + i) % count];
    if (reported_so_far(slot) == slot.taken) continue;
    const std::string text = text_of(slot, device);
    const auto code = slot.finding ? LIBDL_ERROR_VALUE : LIBDL_ERROR_INDEX;
    __atomic_store_n(&slot.taken, slot.taken + 1, __ATOMIC_RELEASE);
    return host().error(code, text.c_str());
  }
  return nullptr;
}

}  // namespace libdl::cuda
