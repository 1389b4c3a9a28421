// SPDX-License-Identifier: Apache-2.0

#include "tensor/packed.h"

#include <pthread.h>

#include <mutex>

#include "base/slab.h"
#include "device/allocator.h"
#include "device/pressure.h"

namespace libdl {

namespace {

// Forms wait for the storage's next exclusive writer, so a storage that is only read, in many
// geometries or between exports, must not gather them without end.
constexpr int kMostForms = 16;

// The forms with data, oldest first. Its lock is taken before a storage's.
struct Registry {
  std::mutex mutex;
  Packed *oldest = nullptr, *newest = nullptr;
  std::atomic<int64_t> bytes{0};

  void add(Packed* form) {
    form->older = newest;
    form->newer = nullptr;
    (newest ? newest->newer : oldest) = form;
    newest = form;
    bytes.fetch_add(static_cast<int64_t>(form->bytes), std::memory_order_relaxed);
  }
  void remove(Packed* form) {
    (form->older ? form->older->newer : oldest) = form->newer;
    (form->newer ? form->newer->older : newest) = form->older;
    bytes.fetch_sub(static_cast<int64_t>(form->bytes), std::memory_order_relaxed);
  }
};
Registry& registry() {
  static Registry* const instance = new Registry;  // static objects may still drop tensors
  return *instance;
}

void free_form(Packed* form) {
  if (form->data) host_allocator().deallocate(form->data, form->bytes);
  slab_delete(form);
}

void free_all(Packed* form) {
  while (form) free_form(std::exchange(form, form->next));
}

void unlink(Storage& storage, Packed* form) {
  Packed* at = storage.packed.load(std::memory_order_relaxed);
  if (at == form) return storage.packed.store(form->next, std::memory_order_relaxed);
  while (at->next != form) at = at->next;
  at->next = form->next;
}

// Memory runs out: the oldest forms that nobody reads go first.
void relieve(int64_t wanted) {
  Packed* freed = nullptr;
  {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    for (Packed* form = r.oldest; form && wanted > 0;) {
      Packed* const following = form->newer;
      const StorageLock own(*form->storage);
      if (form->readers == 0) {
        unlink(*form->storage, form);
        r.remove(form);
        wanted -= static_cast<int64_t>(form->bytes);
        form->next = std::exchange(freed, form);
      }
      form = following;
    }
  }
  free_all(freed);
}

// A fork finds the list whole.
[[maybe_unused]] const int fork_safe = pthread_atfork([] { registry().mutex.lock(); },
                                                      [] { registry().mutex.unlock(); },
                                                      [] { registry().mutex.unlock(); });

Packed* make_form(Storage& storage, const PackedKey& key, void* data, size_t bytes) {
  Packed* const form = slab_new<Packed>();
  *form = {key, &storage, bytes, data, 0, nullptr, nullptr, nullptr};
  return form;
}

// True if the storage took it. The storage's lock is held.
bool put(Storage& storage, Packed* form) {
  int count = 0;
  for (const Packed* f = storage.packed.load(std::memory_order_relaxed); f; f = f->next) {
    if (f->key == form->key && (f->data || !form->data)) return false;
    ++count;
  }
  if (count >= kMostForms || storage.writable_exports.load(std::memory_order_relaxed) > 0)
    return false;
  form->next = storage.packed.load(std::memory_order_relaxed);
  storage.packed.store(form, std::memory_order_relaxed);
  return true;
}

}  // namespace

PackedReader::~PackedReader() {
  if (!form_) return;
  const StorageLock lock(*form_->storage);
  --form_->readers;
}

PackedReader find_packed(Storage& storage, const PackedKey& key, bool& noted) {
  PackedReader reader;
  noted = false;
  if (!storage.packed.load(std::memory_order_relaxed)) return reader;
  const StorageLock lock(storage);
  for (Packed* form = storage.packed.load(std::memory_order_relaxed); form; form = form->next) {
    if (form->key != key) continue;
    noted = true;
    if (!form->data) continue;
    ++form->readers;
    reader.form_ = form;
    break;
  }
  return reader;
}

void note_packed(Storage& storage, const PackedKey& key) {
  Packed* const form = make_form(storage, key, nullptr, 0);
  bool taken;
  {
    const StorageLock lock(storage);
    taken = put(storage, form);
  }
  if (!taken) free_form(form);
}

PackedReader keep_packed(Storage& storage, const PackedKey& key, void* data, size_t bytes) {
  [[maybe_unused]] static const bool registered = (add_pressure_handler(relieve), true);
  Packed* const form = make_form(storage, key, data, bytes);
  PackedReader reader;
  {
    Registry& r = registry();
    const std::lock_guard list(r.mutex);
    const StorageLock lock(storage);
    if (put(storage, form)) {
      r.add(form);
      ++form->readers;
      reader.form_ = form;
    }
  }
  if (!reader.form_) slab_delete(form);
  return reader;
}

void drop_packed(Storage& storage) noexcept {
  Packed* all;
  {
    Registry& r = registry();
    const std::lock_guard list(r.mutex);
    const StorageLock lock(storage);
    all = storage.packed.exchange(nullptr, std::memory_order_relaxed);
    for (Packed* form = all; form; form = form->next)
      if (form->data) r.remove(form);
  }
  free_all(all);
}

int64_t packed_bytes() { return registry().bytes.load(std::memory_order_relaxed); }

}  // namespace libdl
