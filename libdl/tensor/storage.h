// SPDX-License-Identifier: Apache-2.0

// Bytes, and the version that every write raises. Aliases share a storage, so they share both.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/counted.h"
#include "base/slab.h"
#include "base/test_hooks.h"
#include "device/state.h"

namespace libdl {

struct Packed;          // tensor/packed.h
struct PackedForms;     // likewise
struct WritableExport;  // tensor/export.h
struct HeldRows;        // tensor/held_rows.h

// What a caller is going to do with plain bytes.
enum class Access : uint8_t {
  kRead,
  kOverwrite,  // writes every element of the tensor, and reads none before
  kUpdate,
};

// Bytes up to this size live in the storage's own cell.
constexpr size_t kInlineBytes = kResultsAreBornPacked ? 0 : 64;

struct Storage : Counted {
  Storage() : Counted(Tag::kStorage) {}

  std::atomic<uint64_t> version{0};
  std::atomic<uint64_t> aside{0};  // how many of these writes saved values ignore; see kAside
  // The plain bytes, as strides describe them; NULL while a form alone holds them. Once made they
  // stay.
  std::atomic<void*> plain{nullptr};
  size_t bytes = 0;  // of the plain ones
  Device device;
  std::atomic<const char*> writer{nullptr};   // static name of the operator that wrote last
  std::atomic<PackedForms*> packed{nullptr};  // changed under the storage's stripe
  std::atomic<Packed*> form{nullptr};         // the one that alone holds the bytes; likewise
  std::atomic<int32_t> writable_exports{0};   // while there are any, the bytes may change unnoticed
  std::atomic<bool> saved{false};             // a rule saved its value once; see tensor/export.h
  std::atomic<bool> pointed_at{false};        // the host has the plain bytes' address, for reading
  std::atomic<WritableExport*> exports{nullptr};  // likewise
  Account* account = nullptr;  // a reference, where the bytes are counted; NULL: nowhere
  HeldRows* held = nullptr;    // owned: of a sparse matrix; changed by its writers alone
  bool read_only = false;
  bool inline_data = false;
  bool fresh = false;  // no operator has returned it yet; where results are born packed
  void (*release)(void* context) = nullptr;  // foreign memory: called once at the end
  void* context = nullptr;
  void* stream = nullptr;  // on which a device's memory was allocated
  std::atomic<const char*> writer_site{
      nullptr};  // anomaly mode: the line of the last write; static

  bool packed_only() const { return form.load(std::memory_order_acquire) != nullptr; }
  bool exclusive() const { return count() == 1; }
  std::byte* inline_bytes();
};
constexpr size_t kStorageHeader = (sizeof(Storage) + kCell - 1) / kCell * kCell;
inline std::byte* Storage::inline_bytes() {
  return reinterpret_cast<std::byte*>(this) + kStorageHeader;
}

void destroy(Storage* storage);

}  // namespace libdl
