// SPDX-License-Identifier: Apache-2.0

#include "tensor/pinned.h"

#include <memory>

#include "device/pinned.h"
#include "device/stream.h"
#include "tensor/storage_life.h"

namespace libdl {
namespace {

struct Pinned {
  Device device;
  size_t bytes;
  void* data;
};

void release_pinned(void* context) {
  const std::unique_ptr<Pinned> owned(static_cast<Pinned*>(context));
  pinned_allocator(owned->device).deallocate(owned->data, owned->bytes);
}

const Pinned& pinned(const Storage& storage) {
  return *static_cast<const Pinned*>(storage.context);
}

}  // namespace

Ref<Storage> allocate_pinned(size_t bytes, Device device) {
  Allocator& allocator = pinned_allocator(device);
  auto pinned = std::make_unique<Pinned>(Pinned{device, bytes, nullptr});
  pinned->data = allocator.allocate(bytes, &host_order);
  void* const data = pinned->data;
  return adopt_storage(data, bytes, {}, false, release_pinned, pinned.release());
}

bool is_pinned(const Storage& storage) { return storage.release == release_pinned; }

bool is_pinned_for(const Storage& storage, Device device) {
  return is_pinned(storage) && pinned(storage).device == device;
}

void used_by_copy(Storage& storage, Device device) {
  pinned_allocator(device).record_use(pinned(storage).data, native_stream(device));
}

}  // namespace libdl
