// SPDX-License-Identifier: Apache-2.0

// Second forms of a storage's bytes, in a layout that a kernel likes (GEMM panels, …). A form
// belongs to one whole geometry and to the version at which it was made. Readers build one aside
// and hand it in; a writer, the storage's end, or want of memory takes it from the storage, and who
// reads it then is its last owner: writers and readers of one storage may run at once.
//
// Where others may write the bytes unseen (a mapping, foreign memory, a pointer that was given
// away) a form carries a fingerprint of the bytes that it was made of, and is compared before it is
// read.
#pragma once

#include <optional>
#include <span>

#include "tensor/dtype.h"
#include "tensor/storage.h"

namespace libdl {

// The layouts, numbered once.
enum class Layout : int32_t {
  kGemmPanels = 1,         // of a matrix, by kernels/cpu/pack.h
  kChannelsInnermost = 2,  // [N, C, ...] as [N, ..., C], see tensor/forms.h
  kChannelBlocks = 3,      // as [N, C / 8, ..., 8], where C is padded with zeros to a multiple of 8
};

// Which tensor's form it is.
struct PackedKey {
  static constexpr int kMostDims = 8;
  Layout layout;
  Dtype dtype;  // of the view, for a storage may be seen as another
  int32_t ndim;
  int64_t offset;
  int64_t sizes[kMostDims], strides[kMostDims];  // the plain geometry's; `ndim` of each

  PackedKey(Layout layout, Dtype dtype, int64_t offset, std::span<const int64_t> sizes,
            std::span<const int64_t> strides);
  bool operator==(const PackedKey& other) const;
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
  explicit Packed(const PackedKey& key) : key(key) {}

  PackedKey key;
  std::atomic<int32_t> owners{1};  // the storage, and each reader
  Storage* storage = nullptr;      // only while it is the storage's
  size_t bytes = 0;                // 0: a note that the geometry was used once
  void* data = nullptr;
  std::optional<uint64_t> fingerprint;        // of what it was made of, where that is watched
  Packed* next = nullptr;                     // of the same storage and bucket
  Packed *older = nullptr, *newer = nullptr;  // of all storages, where there is data
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
  Packed* form() const { return form_; }

 private:
  friend PackedReader only_form(Storage& storage);
  friend PackedReader find_packed(const PackedSource& source, bool& noted);
  friend PackedReader keep_packed(const PackedSource& source, std::optional<uint64_t> fingerprint,
                                  void*& data, size_t bytes);
  Packed* form_ = nullptr;
};

// The form, if it is kept. noted: the geometry was used before, without one. Forms of older
// versions go.
PackedReader find_packed(const PackedSource& source, bool& noted);

// Notes that the geometry was used.
void note_packed(const PackedSource& source);

// Before the bytes are read to make a form; nothing where nobody else may write them.
std::optional<uint64_t> packed_fingerprint(const PackedSource& source);

// The storage's only form got plain bytes beside it. Another thread may have been first: then those
// are returned and `plain` stays the caller's. keep: the form stays as one of those that are kept.
void* settle_form(Storage& storage, Packed* form, void* plain, bool keep);

// Of a storage whose only form it is; empty where that has become plain meanwhile.
PackedReader only_form(Storage& storage);

// A form of data, `bytes` of the host allocator's, that is to be the only one of a storage.
Packed* make_only_form(Storage& storage, const PackedKey& key, void* data, size_t bytes);

// The last owner's.
void drop_form(Storage& storage) noexcept;

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
