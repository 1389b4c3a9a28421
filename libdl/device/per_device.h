// SPDX-License-Identifier: Apache-2.0

// An object for each device, made at its first use and never destroyed.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/device_id.h"

namespace libdl {

template <class T>
class PerDevice {
 public:
  static bool has_slot(Device device) {
    return device.type >= 0 && device.type < kDeviceTypes && device.index >= 0 &&
           device.index < kMaxDevices;
  }
  // NULL if there is none yet, or no place for one.
  T* find(Device device) const {
    return has_slot(device) ? slot(device).load(std::memory_order_acquire) : nullptr;
  }
  // For a device that has a place; make() returns a new one.
  template <class Make>
  T& find_or_make(Device device, Make make) {
    if (T* const existing = find(device)) return *existing;
    T* const fresh = make();
    T* expected = nullptr;
    if (slot(device).compare_exchange_strong(expected, fresh, std::memory_order_acq_rel))
      return *fresh;
    delete fresh;
    return *expected;
  }

 private:
  static constexpr int32_t kMaxDevices = 64;
  std::atomic<T*>& slot(Device d) { return slots_[d.type][d.index]; }
  const std::atomic<T*>& slot(Device d) const { return slots_[d.type][d.index]; }
  std::atomic<T*> slots_[kDeviceTypes][kMaxDevices] = {};
};

}  // namespace libdl
