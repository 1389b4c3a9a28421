// SPDX-License-Identifier: Apache-2.0

// Bytes, and the version that every write raises. Aliases share it by construction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/counted.h"
#include "base/slab.h"
#include "device/state.h"

namespace libdl {

struct Packed;          // tensor/packed.h
struct PackedForms;     // likewise
struct WritableExport;  // tensor/export.h

// What a caller does with plain bytes.
enum class Access : uint8_t {
  kRead,
  kOverwrite,  // all that the tensor shows, and none is read before
  kUpdate,
};

// Bytes up to this size live in the storage's own cell.
#ifdef LIBDL_BORN_PACKED
constexpr size_t kInlineBytes = 0;
#else
constexpr size_t kInlineBytes = 64;
#endif

struct Storage : Counted {
  Storage() : Counted(Tag::kStorage) {}

  std::atomic<uint64_t> version{0};
  std::atomic<uint64_t> aside{0};  // how many of them saved values do not mind; see kAside
  // As strides describe them; NULL while a form alone holds them. Once made they stay.
  std::atomic<void*> plain{nullptr};
  size_t bytes = 0;  // of the plain ones
  Device device;
  std::atomic<const char*> writer{nullptr};   // static name of the operator that wrote last
  std::atomic<PackedForms*> packed{nullptr};  // changed under the storage's stripe
  std::atomic<Packed*> form{nullptr};         // the one that alone holds the bytes; likewise
  std::atomic<int32_t> writable_exports{0};   // while any lives, the bytes may change unseen
  std::atomic<bool> saved{false};             // a rule saved its value once; see tensor/export.h
  std::atomic<bool> pointed_at{false};        // the host has the plain bytes' address, for reading
  std::atomic<WritableExport*> exports{nullptr};  // likewise
  bool read_only = false;
  bool inline_data = false;
#ifdef LIBDL_BORN_PACKED
  bool fresh = false;  // no operator has returned it yet
#endif
  void (*release)(void* context) = nullptr;  // foreign memory: runs once at the end
  void* context = nullptr;
  void* stream = nullptr;                         // on which a device's memory was allocated
  std::atomic<const char*> writer_site{nullptr};  // in anomaly mode: the line, owned by the process

  bool packed_only() const { return form.load(std::memory_order_acquire) != nullptr; }
  bool exclusive() const { return count() == 1; }
  std::byte* inline_bytes();
};
constexpr size_t kStorageHeader = (sizeof(Storage) + kCell - 1) / kCell * kCell;
inline std::byte* Storage::inline_bytes() {
  return reinterpret_cast<std::byte*>(this) + kStorageHeader;
}

void destroy(Storage* storage);

// Fresh, uninitialised bytes. Throws Error(OUT_OF_MEMORY).
Ref<Storage> allocate_storage(size_t bytes, Device device);
// In the host's memory, and none of them are there yet: its maker gives it a form.
Ref<Storage> storage_without_bytes(size_t bytes);

// Work on another stream than the one it was allocated on uses a device's memory: it is not given
// to anybody else before that work is done. Throws Error(OUT_OF_MEMORY).
void used_on_current_stream(Storage& storage);

// Memory of others; release(context) runs exactly once, on any thread, also when this throws.
Ref<Storage> adopt_storage(void* data, size_t bytes, Device device, bool read_only,
                           void (*release)(void*), void* context);

// A hidden representation was made of the storage's bytes: counted, and told to who asked for
// warnings (state mode kModeCheckCopies).
void count_conversion(Storage& storage, const char* op);
int64_t conversions();
// Whom to tell; NULL: nobody.
extern std::atomic<void (*)(const char* op, size_t bytes)> conversion_warning;

// In anomaly mode: who tells the running line of the host program, as text that stays; NULL:
// nobody.
extern const char* (*write_site)();

// After a successful write: raises the version and remembers who wrote.
void written(Storage& storage, const char* op);

}  // namespace libdl
