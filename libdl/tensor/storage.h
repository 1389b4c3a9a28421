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

// A second form of the same bytes in a layout that a kernel likes (GEMM panels, …). It belongs to
// one whole geometry and to the version at which it was made. Readers build one aside and publish
// it by one atomic exchange; an exclusive writer or the last reference frees it.
struct Packed {
  uint64_t version;
  int32_t layout;  // which kernel's panels
  int64_t rows, cols, row_stride, col_stride, offset;
  size_t bytes;
  void* data;
  Packed* next;  // superseded forms wait here for the exclusive writer
};

struct WritableExport;

// Bytes up to this size live in the storage's own cell.
constexpr size_t kInlineBytes = 64;

struct Storage : Counted {
  Storage() : Counted(Tag::kStorage) {}

  std::atomic<uint64_t> version{0};
  void* data = nullptr;
  size_t bytes = 0;
  Device device;
  const char* writer = nullptr;              // static name of the operator that wrote last
  std::atomic<Packed*> packed{nullptr};
  std::atomic<int32_t> writable_exports{0};  // while any lives, no packed form is kept
  std::atomic<bool> saved{false};            // a rule saved its value once; see tensor/export.h
  std::atomic<bool> exports_busy{false};     // the lock of the list:
  std::atomic<WritableExport*> exports{nullptr};
  bool read_only = false;
  bool inline_data = false;
  void (*release)(void* context) = nullptr;  // foreign memory: runs once at the end
  void* context = nullptr;
  const char* writer_site = nullptr;         // in anomaly mode: the line, owned by the process

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

// Memory of others; release(context) runs exactly once, on any thread, also when this throws.
Ref<Storage> adopt_storage(void* data, size_t bytes, Device device, bool read_only,
                           void (*release)(void*), void* context);

// A hidden representation was made of the storage's bytes: counted, and told to who asked for
// warnings (state mode kModeCheckCopies).
void count_conversion(Storage& storage, const char* op);
int64_t conversions();
// Whom to tell; NULL: nobody.
extern std::atomic<void (*)(const char* op, size_t bytes)> conversion_warning;

// In anomaly mode: who tells the running line of the host program, as text that stays; NULL: nobody.
extern const char* (*write_site)();

// After a successful write: raises the version and remembers who wrote.
void written(Storage& storage, const char* op);

}  // namespace libdl
