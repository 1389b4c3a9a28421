// SPDX-License-Identifier: Apache-2.0

#include "device/pinned.h"

#include <algorithm>

#include "base/error.h"
#include "device/backend_source.h"
#include "device/device.h"
#include "device/events.h"
#include "device/per_device.h"

namespace libdl {

char host_order;

namespace {

class PinnedSource final : public BackendSource {
 public:
  using BackendSource::BackendSource;

  void* reserve(size_t& bytes, bool) override {
    constexpr size_t kUnit = size_t{2} << 20;
    bytes = (bytes + kUnit - 1) / kUnit * kUnit;
    void* data = nullptr;
    check_backend(backend_.host_allocate(device_, bytes, &data));
    return data;
  }
  void release(void* base, size_t) override { backend_.host_free(device_, base); }
  size_t granule(bool) const override { return 0; }
  size_t limit() const override { return 0; }
  // The next user is the host.
  void wait(void*, void* event) override {
    succeeded(backend_.event_synchronize(device_, event));
    give_event(backend_, device_, event);
  }
  // The host runs far ahead of the copies: it shall not wait for them.
  int spare() const override { return 32; }
};

constinit PerDevice<Allocator> pinned_allocators;

}  // namespace

bool pins_memory(Device device) {
  return !device.is_cpu() && backend(device.type).host_allocate &&
         pinned_allocators.has_slot(device);
}

Allocator& pinned_allocator(Device device) {
  if (Allocator* const existing = pinned_allocators.find(device)) return *existing;
  check_device("pin_memory", device);
  if (!pins_memory(device))
    fail(LIBDL_ERROR_UNSUPPORTED, "pin_memory", device_name(device) + " has no pinned memory");
  return pinned_allocators.find_or_make(device, [&] {
    return new Allocator("pinned memory of " + device_name(device),
                         std::make_shared<PinnedSource>(backend(device.type), device.index), 512);
  });
}

size_t trim_pinned(Device device) {
  Allocator* const existing = pinned_allocators.find(device);
  return existing ? existing->trim() : 0;
}

}  // namespace libdl
