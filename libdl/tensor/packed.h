// SPDX-License-Identifier: Apache-2.0

// Second forms of a storage's bytes, in a layout that a kernel likes (GEMM panels, …). A form belongs
// to one whole geometry and to the version at which it was made. Readers build one aside and hand it
// in; it stays until an exclusive writer, the storage's end, or want of memory takes it away.
#pragma once

#include "tensor/storage.h"

namespace libdl {

struct PackedKey {
  int32_t layout;  // which kernel's
  int32_t dtype;   // of the view, for a storage may be seen as another
  int64_t rows, cols, row_stride, col_stride, offset;
  uint64_t version;
  bool operator==(const PackedKey&) const = default;
};

struct Packed {
  PackedKey key;
  Storage* storage;
  size_t bytes;      // 0: a note that the geometry was used once
  void* data;
  int32_t readers;   // under the storage's lock
  Packed* next;      // of the same storage
  Packed *older, *newer;  // of all storages, where there is data
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
  friend PackedReader find_packed(Storage& storage, const PackedKey& key, bool& noted);
  friend PackedReader keep_packed(Storage& storage, const PackedKey& key, void* data, size_t bytes);
  Packed* form_ = nullptr;
};

// The form, if it is kept. noted: the geometry was used before, without one.
PackedReader find_packed(Storage& storage, const PackedKey& key, bool& noted);

// Notes that the geometry was used.
void note_packed(Storage& storage, const PackedKey& key);

// Takes over data, `bytes` of the host allocator's. No form is kept while foreign code may write, or
// where the storage has many already: nothing is taken over then, and the reader is empty.
PackedReader keep_packed(Storage& storage, const PackedKey& key, void* data, size_t bytes);

// By the exclusive writer or the last owner.
void drop_packed(Storage& storage) noexcept;

// Of all storages.
int64_t packed_bytes();

}  // namespace libdl
