// SPDX-License-Identifier: Apache-2.0

#include "tensor/storage_life.h"

#include <cstdlib>
#include <new>

#include "base/contained.h"
#include "base/error.h"
#include "base/test_hooks.h"
#include "device/device.h"
#include "device/meta.h"
#include "device/stream.h"
#include "memory/account.h"
#include "tensor/held_rows.h"
#include "tensor/packed.h"

namespace libdl {

static size_t cell_bytes(const Storage& storage) {
  return storage.inline_data ? kStorageHeader + kInlineBytes : sizeof(Storage);
}

static void free_bytes(Storage& storage) {
  delete storage.held;
  if (void* const plain = storage.plain.load(std::memory_order_relaxed))
    allocator_for(storage.device).deallocate(plain, storage.bytes);
  else
    drop_form(storage);
}

// What an account is charged for: the bytes that there are.
static size_t charge(size_t bytes, Device device) { return is_meta(device) ? 0 : bytes; }

[[gnu::noinline]] static void settle(const Storage& storage) {
  storage.account->give(charge(storage.bytes, storage.device));
  storage.account->release();
}

void destroy(Storage* storage) {
  if (storage->account) settle(*storage);
  if (storage->packed.load(std::memory_order_relaxed)) drop_packed(*storage);
  count(slab::cache.live_storages, -1);
  count(slab::cache.live_bytes, -static_cast<int64_t>(storage->bytes));
  if (storage->release)
    run_destroy_in_turn(storage->release, storage->context);
  else if (!storage->inline_data)
    free_bytes(*storage);
  const size_t bytes = cell_bytes(*storage);
  storage->~Storage();
  slab_free(storage, bytes);
}

static Storage* make(size_t cell) {
  Storage* const storage = new (slab_allocate(cell)) Storage;
  count(slab::cache.live_storages, 1);
  return storage;
}

// make(), whose bytes are counted in the account before they are asked for.
template <class F>
[[gnu::noinline]] static Ref<Storage> charged(Account& account, size_t bytes, const F& make) {
  account.take(bytes);
  try {
    Ref<Storage> made = make();
    account.retain();
    made->account = &account;
    return made;
  } catch (...) {
    account.give(bytes);
    throw;
  }
}

// Tensors on meta have addresses that nobody else has, which is all that is looked at. Their bytes
// are nowhere counted: what destroy() subtracts is added here.
[[gnu::noinline, gnu::cold]] static Ref<Storage> of_no_memory(Ref<Storage> storage, size_t bytes) {
  storage->plain.store(addresses_without_memory(bytes), std::memory_order_relaxed);
  storage->bytes = bytes;
  storage->release = [](void* made) {
    count(slab::cache.live_bytes, static_cast<int64_t>(static_cast<Storage*>(made)->bytes));
  };
  storage->context = storage.get();
  return storage;
}

[[gnu::always_inline]] static inline Ref<Storage> allocate(size_t bytes, Device device) {
  if (bytes <= kInlineBytes && device.is_cpu()) {
    Storage* const storage = make(kStorageHeader + kInlineBytes);
    storage->inline_data = true;
    storage->plain.store(storage->inline_bytes(), std::memory_order_relaxed);
    storage->bytes = bytes;
    count(slab::cache.live_bytes, static_cast<int64_t>(bytes));
    return Ref<Storage>::take(storage);
  }
  Allocator& allocator = allocator_for(device);
  Ref<Storage> storage = Ref<Storage>::take(make(sizeof(Storage)));
  if (!device.is_cpu()) {
    note_memory_elsewhere();
    storage->device = device;
    if (is_meta(device)) return of_no_memory(std::move(storage), bytes);
    storage->stream = native_stream(device);
  }
  storage->plain.store(allocator.allocate(bytes, storage->stream), std::memory_order_relaxed);
  storage->bytes = bytes;
  storage->fresh = kResultsAreBornPacked;
  count(slab::cache.live_bytes, static_cast<int64_t>(bytes));
  return storage;
}

static Ref<Storage> without_bytes(size_t bytes) {
  Storage* const storage = make(sizeof(Storage));
  storage->bytes = bytes;
  count(slab::cache.live_bytes, static_cast<int64_t>(bytes));
  return Ref<Storage>::take(storage);
}

Ref<Storage> allocate_storage(size_t bytes, Device device) {
  if (Account* const account = current_account()) [[unlikely]]
    return charged(*account, charge(bytes, device), [=] { return allocate(bytes, device); });
  return allocate(bytes, device);
}

Ref<Storage> storage_without_bytes(size_t bytes) {
  if (Account* const account = current_account()) [[unlikely]]
    return charged(*account, bytes, [=] { return without_bytes(bytes); });
  return without_bytes(bytes);
}

void used_on_current_stream(Storage& storage) {
  if (storage.device.is_cpu() || storage.release) return;  // foreign memory: its owner's business
  void* const stream = native_stream(storage.device);
  if (stream != storage.stream)
    allocator_for(storage.device).record_use(storage.plain.load(std::memory_order_relaxed), stream);
}

Ref<Storage> adopt_storage(void* data, size_t bytes, Device device, bool read_only,
                           void (*release)(void*), void* context) {
  Storage* made;
  try {
    made = make(sizeof(Storage));
  } catch (...) {
    run_destroy(release, context);
    throw;
  }
  made->plain.store(data, std::memory_order_relaxed);
  made->bytes = bytes;
  made->device = device;
  if (!device.is_cpu()) note_memory_elsewhere();
  made->read_only = read_only;
  made->release = release ? release : [](void*) {};
  made->context = context;
  count(slab::cache.live_bytes, static_cast<int64_t>(bytes));
  return Ref<Storage>::take(made);
}

static std::atomic<int64_t> conversion_count{0};
std::atomic<void (*)(const char* op, size_t bytes)> conversion_warning{nullptr};

void count_conversion(Storage& storage, const char* op) {
  conversion_count.fetch_add(1, std::memory_order_relaxed);
  if (!(state().mode & kModeCheckCopies)) return;
  if (auto* const warn = conversion_warning.load(std::memory_order_relaxed))
    warn(op, storage.bytes);
}
int64_t conversions() { return conversion_count.load(std::memory_order_relaxed); }

const char* (*write_site)() = nullptr;

void written(Storage& storage, const char* op) {
  storage.version.fetch_add(1, std::memory_order_relaxed);
  storage.writer.store(op, std::memory_order_relaxed);
  if ((state().mode & kModeAnomaly) && write_site)
    storage.writer_site.store(write_site(), std::memory_order_relaxed);
  if (by_chance(2)) return;  // forms of older versions are never read
  if (storage.packed.load(std::memory_order_relaxed)) drop_packed(storage);
}

}  // namespace libdl
