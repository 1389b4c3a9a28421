// SPDX-License-Identifier: Apache-2.0

// Packed forms: further copies of a storage's bytes, in a layout that suits a kernel (GEMM panels,
// …). A form belongs to one whole geometry and to the version at which it was made. Readers build a
// form separately and then add it to the storage. A writer, the end of the storage or memory
// pressure removes it; a reader that still uses it then is its last owner. So readers and writers
// of one storage may run concurrently.
//
// If others may write the bytes unnoticed (a mapping, foreign memory, a pointer that was given
// away) a form carries a fingerprint of the bytes that it was made from, which is compared before
// the form is read.
#pragma once

#include <optional>
#include <span>

#include "tensor/dtype.h"
#include "tensor/storage.h"

namespace libdl {

// The layouts, numbered once.
enum class Layout : int32_t {
  kGemmPanels = 1,         // of a matrix, see pack_b in kernels/cpu/gemm/matmul.h
  kChannelsInnermost = 2,  // [N, C, ...] as [N, ..., C], see tensor/forms.h
  kChannelBlocks = 3,      // as [N, C / 8, ..., 8], with C padded with zeros to a multiple of 8
  kSparseRows = 4,         // of a matrix the rows that are not zero, see tensor/sparse_rows.h
  kDeferred = 5,           // no bytes, but what they are made from, see tensor/deferred.h
  kBfloat16 = 6,           // converted, in a storage of its own, see tensor/conversion.h
  kFloat16 = 7,            // likewise
};
constexpr size_t kLayouts = static_cast<size_t>(Layout::kFloat16) + 1;
// The data of such a form is a Storage.
constexpr bool is_conversion(Layout layout) {
  return layout == Layout::kBfloat16 || layout == Layout::kFloat16;
}

class PackedReader;

// What a form does that is no copy of the plain bytes. Whoever makes such forms sets it before the
// first one.
struct FormRules {
  // Computes the only form of a storage in another layout. Throws OUT_OF_MEMORY, INTERRUPTED.
  void (*compute)(Storage& storage, const PackedReader& form) = nullptr;
  // Writes all plain bytes.
  void (*spread)(std::span<const int64_t> shape, Dtype dtype, void* form, void* plain) = nullptr;
  // Ends what stands in the form's bytes.
  void (*end)(void* form) = nullptr;
};
void set_form_rules(Layout layout, const FormRules& rules);
const FormRules& form_rules(Layout layout);

// Identifies the geometry and layout of a form.
struct PackedKey {
  static constexpr int kMostDims = 8;
  Layout layout;
  Dtype dtype;  // of the view: a storage may be viewed as several
  int32_t ndim;
  int64_t offset;
  int64_t sizes[kMostDims], strides[kMostDims];  // the plain geometry's; `ndim` of each

  PackedKey(Layout layout, Dtype dtype, int64_t offset, std::span<const int64_t> sizes,
            std::span<const int64_t> strides);
  bool operator==(const PackedKey& other) const;
};

// What a form is made from.
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
  std::atomic<int32_t> lent{0};    // of the readers those that must not see a later write
  Storage* storage = nullptr;      // only while the storage owns it
  size_t bytes = 0;                // 0: only a note that the geometry was used once
  void* data = nullptr;
  std::optional<uint64_t> fingerprint;  // of the source bytes, if they are watched
  uint64_t serial = 0;     // of the normalisation whose relu the bytes are; see tensor/deferred.h
  Packed* next = nullptr;  // of the same storage and bucket
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
  PackedReader share() const;

 private:
  friend PackedReader only_form(Storage& storage);
  friend PackedReader find_packed(const PackedSource& source, bool& noted);
  friend PackedReader keep_packed(const PackedSource& source, std::optional<uint64_t> fingerprint,
                                  void*& data, size_t bytes);
  Packed* form_ = nullptr;
};

// A reader to whom the form stays as it is: writers go on with a copy (writable_form_of).
class LentForm {
 public:
  LentForm() = default;
  explicit LentForm(PackedReader reader) : reader_(std::move(reader)) {
    if (reader_.form()) reader_.form()->lent.fetch_add(1, std::memory_order_acq_rel);
  }
  LentForm(LentForm&& other) noexcept = default;
  LentForm& operator=(LentForm&& other) noexcept = default;
  ~LentForm() {
    if (reader_.form()) reader_.form()->lent.fetch_sub(1, std::memory_order_acq_rel);
  }
  const void* data() const { return reader_.data(); }
  PackedReader share() const { return reader_.share(); }

 private:
  PackedReader reader_;
};

// The form, if there is one. noted: the geometry was used before, without a form. Forms of older
// versions are dropped.
PackedReader find_packed(const PackedSource& source, bool& noted);

// Notes that the geometry was used.
void note_packed(const PackedSource& source);

// To be called before the bytes are read to make a form; empty if nobody else may write them.
std::optional<uint64_t> packed_fingerprint(const PackedSource& source);

// Adds plain bytes beside the storage's only form. If another thread was first, its bytes are
// returned and `plain` stays the caller's. keep: the form is kept beside them.
void* settle_form(Storage& storage, Packed* form, void* plain, bool keep);

// The only form of a storage; empty if the storage has got plain bytes meanwhile.
PackedReader only_form(Storage& storage);

// A form that owns data (`bytes` from the host allocator), to become the only one of a storage.
Packed* make_only_form(Storage& storage, const PackedKey& key, void* data, size_t bytes);

// Puts another only form in the place of `form`. Takes ownership of data (`bytes` from the host
// allocator), unless the storage has got another form or plain bytes meanwhile: then NULL.
Packed* replace_form(Storage& storage, Packed* form, const PackedKey& key, void* data,
                     size_t bytes);

// Each gets the other's only form, which both have. For their exclusive writer.
void swap_forms(Storage& a, Storage& b) noexcept;

// Called by the storage's last owner.
void drop_form(Storage& storage) noexcept;

// Takes ownership of data (`bytes` from the host allocator, or of a conversion the reference to a
// storage of so many) and sets it to NULL. The reader is
// empty if nothing was taken: the bytes have changed meanwhile, or the storage has too many forms.
// If another thread was first, its form is returned.
PackedReader keep_packed(const PackedSource& source, std::optional<uint64_t> fingerprint,
                         void*& data, size_t bytes);

// Called by a writer or the last owner.
void drop_packed(Storage& storage) noexcept;

// The total over all storages, without forms that only readers still own.
int64_t packed_bytes();

}  // namespace libdl
