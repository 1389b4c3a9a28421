// SPDX-License-Identifier: Apache-2.0

// Second forms of a storage's bytes, in a layout that a kernel likes (GEMM panels, …). A form belongs
// to one whole geometry and to the version at which it was made. Readers build one aside and hand it
// in; a writer, the storage's end, or want of memory takes it from the storage, and who reads it then
// is its last owner: writers and readers of one storage may run at once.
//
// Where others may write the bytes unseen (a mapping, foreign memory, a pointer that was given away)
// a form carries a fingerprint of the bytes that it was made of, and is compared before it is read.
#pragma once

#include <optional>
#include <span>

#include "tensor/storage.h"

namespace libdl {

struct PackedKey {
  int32_t layout;  // which kernel's
  int32_t dtype;   // of the view, for a storage may be seen as another
  int64_t rows, cols, row_stride, col_stride, offset;
  bool operator==(const PackedKey&) const = default;
};

// What a form is made of.
struct PackedSource {
  Storage& storage;
  PackedKey key;
  std::span<const std::byte> bytes;  // from the first to the last element
  uint64_t version;                  // of the storage, read before the bytes
  bool watched() const { return storage.writable_exports.load(std::memory_order_acquire) > 0; }
};

struct Packed {
  PackedKey key;
  std::atomic<int32_t> owners;  // the storage, and each reader
  Storage* storage;             // only while it is the storage's
  size_t bytes;                 // 0: a note that the geometry was used once
  void* data;
  std::optional<uint64_t> fingerprint;  // of what it was made of, where that is watched
  Packed* next;                 // of the same storage and bucket
  Packed *older, *newer;        // of all storages, where there is data
};

// A form while a kernel reads it.
class PackedReader {
 public:
  PackedReader() = default;
  PackedReader(PackedReader&& other) noexcept : form_(std::exchange(other.form_, nullptr)) {}
  PackedReader& operator=(PackedReader&& other) noexcept {
    std::swap(form_, other.form_);
    return *this;
  }
  ~PackedReader();
  const void* data() const { return form_ ? form_->data : nullptr; }

 private:
  friend PackedReader find_packed(const PackedSource& source, bool& noted);
  friend PackedReader keep_packed(const PackedSource& source, std::optional<uint64_t> fingerprint,
                                  void*& data, size_t bytes);
  Packed* form_ = nullptr;
};

// The form, if it is kept. noted: the geometry was used before, without one. Forms of older versions
// go.
PackedReader find_packed(const PackedSource& source, bool& noted);

// Notes that the geometry was used.
void note_packed(const PackedSource& source);

// Before the bytes are read to make a form; nothing where nobody else may write them.
std::optional<uint64_t> packed_fingerprint(const PackedSource& source);

// Takes data, `bytes` of the host allocator's, over and sets it to NULL. The reader is empty where
// nothing was taken: the bytes have changed meanwhile, or the storage has too many forms. Where
// another thread was first the form is that one's.
PackedReader keep_packed(const PackedSource& source, std::optional<uint64_t> fingerprint,
                         void*& data, size_t bytes);

// By a writer or the last owner.
void drop_packed(Storage& storage) noexcept;

// Of all storages, less what only readers still own.
int64_t packed_bytes();

}  // namespace libdl
