// SPDX-License-Identifier: Apache-2.0

#include "tensor/export.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/lock.h"

namespace libdl {

namespace {

uint64_t fingerprint(const WritableExport& e) { return XXH3_64bits(e.first, e.bytes); }

uint64_t version_of(const Storage& storage) {
  return storage.version.load(std::memory_order_acquire);
}

bool same_bytes(const WritableExport& e) {
  return e.compared && e.version == version_of(*e.storage) && e.fingerprint == fingerprint(e);
}

void compare(WritableExport& e) {
  e.version = version_of(*e.storage);
  e.fingerprint = fingerprint(e);
  e.compared = true;
}

void written_by(Storage& storage, const char* who) noexcept {
  storage.writer.store(who, std::memory_order_relaxed);
  storage.version.fetch_add(1, std::memory_order_release);
}

// Under the storage's stripe: raises the version if an exporter wrote since the bytes were last
// compared.
void notice_writes(Storage& storage) noexcept {
  for (WritableExport* e = storage.exports.load(std::memory_order_relaxed); e; e = e->next)
    if (e->compared && e->version == version_of(storage) && !same_bytes(*e))
      written_by(storage, "an exporter of its memory");
}

}  // namespace

void begin_export(WritableExport& e, const Tensor& x) {
  Storage& storage = x.storage();
  e.storage = &storage;
  if (x.numel()) {
    const Extent reach = extent(x.shape(), x.strides(), "export");
    const int64_t size = size_of(x.dtype());
    e.first = x.update_plain<const std::byte>() + reach.low * size;
    e.bytes = static_cast<size_t>((reach.high - reach.low + 1) * size);
  }
  // A saved value holds the storage beside x and the export's holder. A device's memory is not
  // read.
  const bool may_be_saved = storage.saved.load(std::memory_order_relaxed) && storage.count() > 2;
  if (may_be_saved && storage.device.is_cpu()) compare(e);
  const StripeLock lock(&storage);
  WritableExport* const head = storage.exports.load(std::memory_order_relaxed);
  e.next = head;
  if (head) head->previous = &e;
  storage.exports.store(&e, std::memory_order_release);
  storage.writable_exports.fetch_add(1, std::memory_order_acq_rel);
}

void end_export(WritableExport& e, const char* who) noexcept {
  Storage& storage = *e.storage;
  {
    const StripeLock lock(&storage);
    if (e.next) e.next->previous = e.previous;
    if (e.previous)
      e.previous->next = e.next;
    else
      storage.exports.store(e.next, std::memory_order_release);
  }
  if (!same_bytes(e)) written_by(storage, who);
  storage.writable_exports.fetch_sub(1, std::memory_order_acq_rel);
}

void compare_exports(Storage& storage) {
  if (!storage.device.is_cpu()) return;
  const StripeLock lock(&storage);
  notice_writes(storage);  // before now they are no change of what is saved now
  for (WritableExport* e = storage.exports.load(std::memory_order_relaxed); e; e = e->next)
    compare(*e);
}

void check_exports(Storage& storage) noexcept {
  const StripeLock lock(&storage);
  notice_writes(storage);
}

void export_for_good(Storage& storage) {
  constexpr int32_t kForGood = 1 << 30;  // one bit, so that asking often does not count up
  storage.writable_exports.fetch_or(kForGood, std::memory_order_acq_rel);
}

}  // namespace libdl
