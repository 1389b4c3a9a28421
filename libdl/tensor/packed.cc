// SPDX-License-Identifier: Apache-2.0

#include "tensor/packed.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <limits>

#include "base/lock.h"
#include "base/slab.h"
#include "base/test_hooks.h"
#include "memory/allocator.h"
#include "memory/pressure.h"

namespace libdl {

// Written before the first form of a layout is made, which its readers see by that form.
static FormOperations rules[kLayouts];

void set_form_operations(Layout layout, const FormOperations& operations) {
  rules[static_cast<size_t>(layout)] = operations;
}
const FormOperations& form_operations(Layout layout) { return rules[static_cast<size_t>(layout)]; }

PackedKey::PackedKey(Layout layout, Dtype dtype, int64_t offset, std::span<const int64_t> sizes,
                     std::span<const int64_t> strides)
    : layout(layout), dtype(dtype), ndim(static_cast<int32_t>(sizes.size())), offset(offset) {
  std::copy(sizes.begin(), sizes.end(), this->sizes);
  std::copy(strides.begin(), strides.end(), this->strides);
}

bool PackedKey::operator==(const PackedKey& other) const {
  return layout == other.layout && dtype == other.dtype && ndim == other.ndim &&
         offset == other.offset && format == other.format &&
         std::equal(sizes, sizes + ndim, other.sizes) &&
         std::equal(strides, strides + ndim, other.strides);
}

// A storage's forms and notes, all of one version.
struct PackedForms {
  static constexpr size_t kBuckets = 32;
  uint64_t version;
  int64_t bytes = 0;  // of the forms
  int32_t notes = 0;
  Packed* buckets[kBuckets] = {};

  Packed*& bucket(const PackedKey& key) {
    const uint64_t mixed = static_cast<uint64_t>(key.offset) * 0x9e3779b97f4a7c15u ^
                           static_cast<uint64_t>(key.strides[0]) * 0xc2b2ae3d27d4eb4fu ^
                           static_cast<uint64_t>(key.sizes[0]) * 0x165667b19e3779f9u;
    return buckets[mixed >> 59];
  }
  Packed* find(const PackedKey& key) {
    for (Packed* form = bucket(key); form; form = form->next)
      if (form->key == key) return form;
    return nullptr;
  }
  void unlink(Packed* form) {
    Packed** at = &bucket(form->key);
    while (*at != form) at = &(*at)->next;
    *at = form->next;
    bytes -= static_cast<int64_t>(form->bytes);
    if (!form->data) --notes;
  }
  void link(Packed* form) {
    Packed*& first = bucket(form->key);
    form->next = first;
    first = form;
    bytes += static_cast<int64_t>(form->bytes);
    if (!form->data) ++notes;
  }
};

namespace {

// Every geometry of a matrix may have its form, turned and whole and in parts, padded to panels;
// but a storage that is read through ever new windows must not gather them without end.
int64_t most_bytes(const Storage& storage) {
  return 4 * static_cast<int64_t>(storage.bytes) + (int64_t{1} << 20);
}
constexpr int32_t kMostNotes = 4096;  // then all are forgotten
// What is compared before each use must not be much more than the form itself.
constexpr size_t kMostWatched = 4;

// The forms with data, oldest first; under Outer::kPackedForms.
struct Registry {
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
constinit Registry registry;

void let_go(Packed* form) noexcept {
  if (form->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (form->data && is_conversion(form->key.layout)) {
    Ref<Storage>::take(static_cast<Storage*>(form->data));
  } else if (form->data) {
    if (auto* const end = form_operations(form->key.layout).end) end(form->data);
    spoil(form->data, form->bytes);
    host_allocator().deallocate(form->data, form->bytes);
  }
  slab_delete(form);
}

bool is_read(const Packed& form) {
  return form.owners.load(std::memory_order_acquire) != 1 ||
         (is_conversion(form.key.layout) && !static_cast<Storage*>(form.data)->exclusive());
}

void let_go(PackedForms* forms) noexcept {
  if (!forms) return;
  for (Packed* form : forms->buckets)
    while (form) let_go(std::exchange(form, form->next));
  slab_delete(forms);
}

PackedForms* forms_of(Storage& storage) { return storage.packed.load(std::memory_order_relaxed); }

// Takes all forms from the storage, if `which` says so of them.
template <class Which>
void drop_if(Storage& storage, Which which) noexcept {
  PackedForms* all = nullptr;
  {
    const StripeLock list(Outer::kPackedForms);
    const StripeLock lock(&storage);
    if (!forms_of(storage) || !which(*forms_of(storage))) return;
    all = storage.packed.exchange(nullptr, std::memory_order_relaxed);
    if (all->bytes)
      for (Packed* form : all->buckets)
        for (; form; form = form->next)
          if (form->data) registry.remove(form);
  }
  let_go(all);
}

// Memory runs out: the oldest forms that nobody reads go first. A form in the registry is its
// storage's, which cannot end before it has taken the registry's lock.
void relieve(int64_t requested) {
  Packed* freed = nullptr;
  {
    const StripeLock list(Outer::kPackedForms);
    for (Packed* form = registry.oldest; form && requested > 0;) {
      Packed* const following = form->newer;
      const StripeLock lock(form->storage);
      if (!is_read(*form)) {
        forms_of(*form->storage)->unlink(form);
        registry.remove(form);
        requested -= static_cast<int64_t>(form->bytes);
        form->next = std::exchange(freed, form);
      }
      form = following;
    }
  }
  while (freed) let_go(std::exchange(freed, freed->next));
}

// Of a note or a form that was found to differ from its bytes; others may have taken it away
// before.
void discard(Storage& storage, Packed* unwanted) noexcept {
  bool any = false;
  {
    const StripeLock list(Outer::kPackedForms);
    const StripeLock lock(&storage);
    if (PackedForms* const forms = forms_of(storage)) {
      any = forms->find(unwanted->key) == unwanted;
      if (any) {
        forms->unlink(unwanted);
        registry.remove(unwanted);
      }
    }
  }
  if (any) let_go(unwanted);
}

Packed* make_form(Storage& storage, const PackedKey& key, void* data, size_t bytes) {
  Packed* const form = slab_new<Packed>(key);
  form->storage = &storage;
  form->bytes = bytes;
  form->data = data;
  return form;
}

// The storage's forms, made from `fresh` where there are none; NULL if the version is another one.
PackedForms* forms_for(Storage& storage, uint64_t version, PackedForms*& fresh) {
  if (storage.version.load(std::memory_order_acquire) != version) return nullptr;
  if (!forms_of(storage))
    storage.packed.store(std::exchange(fresh, nullptr), std::memory_order_relaxed);
  PackedForms* const forms = forms_of(storage);
  return forms->version == version ? forms : nullptr;
}

struct FreshForms {  // made before the locks, and freed after them if nobody took them
  FreshForms(Storage& storage, uint64_t version) {
    if (!forms_of(storage)) forms = new_forms(version);
  }
  ~FreshForms() { let_go(forms); }
  static PackedForms* new_forms(uint64_t version) {
    PackedForms* const forms = slab_new<PackedForms>();
    forms->version = version;
    return forms;
  }
  PackedForms* forms = nullptr;
};

}  // namespace

PackedReader::~PackedReader() {
  if (form_) let_go(form_);
}

PackedReader PackedReader::share() const {
  PackedReader other;
  other.form_ = form_;
  if (form_) form_->owners.fetch_add(1, std::memory_order_relaxed);
  return other;
}

PackedReader find_packed(const PackedSource& source, bool& noted) {
  PackedReader reader;
  noted = false;
  Storage& storage = source.storage;
  if (by_chance(64)) relieve(std::numeric_limits<int64_t>::max());
  if (by_chance(8)) drop_packed(storage);
  if (!forms_of(storage)) return reader;
  bool stale = false;
  {
    const StripeLock lock(&storage);
    PackedForms* const forms = forms_of(storage);
    if (!forms) return reader;
    stale = forms->version < source.version;
    Packed* const form = forms->version == source.version ? forms->find(source.key) : nullptr;
    noted = form != nullptr || by_chance(4);
    if (form && form->data) {
      form->owners.fetch_add(1, std::memory_order_relaxed);
      reader.form_ = form;
    }
  }
  if (stale) drop_if(storage, [&](PackedForms& f) { return f.version < source.version; });
  if (reader.form_ && reader.form_->fingerprint != packed_fingerprint(source)) {
    discard(storage, reader.form_);
    reader = PackedReader();
  }
  return reader;
}

void note_packed(const PackedSource& source) {
  FreshForms fresh(source.storage, source.version);
  Packed* note = make_form(source.storage, source.key, nullptr, 0);
  bool many = false;
  {
    const StripeLock lock(&source.storage);
    PackedForms* const forms = fresh.forms || forms_of(source.storage)
                                   ? forms_for(source.storage, source.version, fresh.forms)
                                   : nullptr;
    many = forms && forms->notes >= kMostNotes;
    if (forms && !many && !forms->find(source.key)) forms->link(std::exchange(note, nullptr));
  }
  if (note) let_go(note);
  if (many) drop_packed(source.storage);
}

std::optional<uint64_t> packed_fingerprint(const PackedSource& source) {
  if (!source.has_writable_exports()) return std::nullopt;
  return XXH3_64bits(source.bytes.data(), source.bytes.size());
}

PackedReader keep_packed(const PackedSource& source, std::optional<uint64_t> fingerprint,
                         void*& data, size_t bytes) {
  [[maybe_unused]] static const bool registered = (add_pressure_handler(relieve), true);
  Storage& storage = source.storage;
  PackedReader reader;
  if (fingerprint && source.bytes.size() > kMostWatched * bytes) return reader;
  FreshForms fresh(storage, source.version);
  Packed* form = make_form(storage, source.key, data, bytes);
  form->fingerprint = fingerprint;
  Packed* unused = form;  // of the two, what is not kept
  {
    const StripeLock list(Outer::kPackedForms);
    const StripeLock lock(&storage);
    PackedForms* const forms = fresh.forms || forms_of(storage)
                                   ? forms_for(storage, source.version, fresh.forms)
                                   : nullptr;
    Packed* const before = forms ? forms->find(source.key) : nullptr;
    if (before && before->data) {
      form = before;
    } else if (forms && (fingerprint || !source.has_writable_exports()) && !by_chance(8) &&
               forms->bytes + static_cast<int64_t>(bytes) <= most_bytes(storage)) {
      unused = before;  // the note
      if (before) forms->unlink(before);
      forms->link(form);
      registry.add(form);
      data = nullptr;
    } else {
      form = nullptr;
    }
    if (form) form->owners.fetch_add(1, std::memory_order_relaxed);
    reader.form_ = form;
  }
  if (unused) {
    if (data) unused->data = nullptr;  // stays the caller's
    let_go(unused);
  }
  return reader;
}

// -- a storage's only form --------------------------------------------------------------------

// A storage counts as live what its plain bytes take, a form that stands in for them what that
// takes.
static void count_padding(const Storage& storage, const Packed& form, int sign) {
  count(slab::cache.live_bytes,
        sign * (static_cast<int64_t>(form.bytes) - static_cast<int64_t>(storage.bytes)));
}

Packed* make_only_form(Storage& storage, const PackedKey& key, void* data, size_t bytes) {
  Packed* const form = make_form(storage, key, data, bytes);
  count_padding(storage, *form, 1);
  return form;
}

PackedReader only_form(Storage& storage) {
  PackedReader reader;
  const StripeLock lock(&storage);
  reader.form_ = storage.form.load(std::memory_order_relaxed);
  if (reader.form_) reader.form_->owners.fetch_add(1, std::memory_order_relaxed);
  return reader;
}

void* settle_form(Storage& storage, Packed* form, void* plain, bool keep) {
  [[maybe_unused]] static const bool registered = (add_pressure_handler(relieve), true);
  const uint64_t version = storage.version.load(std::memory_order_acquire);
  FreshForms fresh(storage, version);
  {
    const StripeLock list(Outer::kPackedForms);
    const StripeLock lock(&storage);
    if (storage.form.load(std::memory_order_relaxed) != form)
      return storage.plain.load(std::memory_order_relaxed);
    PackedForms* const forms = keep && (fresh.forms || forms_of(storage))
                                   ? forms_for(storage, version, fresh.forms)
                                   : nullptr;
    storage.plain.store(plain, std::memory_order_release);
    storage.form.store(nullptr, std::memory_order_relaxed);
    count_padding(storage, *form, -1);
    if (forms) {
      forms->link(form);
      registry.add(form);
      form = nullptr;
    }
  }
  if (form) let_go(form);
  return plain;
}

Packed* replace_form(Storage& storage, Packed* form, const PackedKey& key, void* data,
                     size_t bytes) {
  Packed* const other = make_form(storage, key, data, bytes);
  bool replaced = false;
  {
    const StripeLock lock(&storage);
    replaced = storage.form.load(std::memory_order_relaxed) == form;
    if (replaced) {
      count_padding(storage, *form, -1);
      count_padding(storage, *other, 1);
      storage.form.store(other, std::memory_order_release);
    }
  }
  if (!replaced) other->data = nullptr;  // stays the caller's
  let_go(replaced ? form : other);
  return replaced ? other : nullptr;
}

// Others may take a reader of a's form meanwhile, but not of b's.
void swap_forms(Storage& a, Storage& b) noexcept {
  count_padding(a, *a.form.load(std::memory_order_relaxed), -1);
  count_padding(b, *b.form.load(std::memory_order_relaxed), -1);
  {
    const StripeLock lock(&a);
    Packed* const form = a.form.load(std::memory_order_relaxed);
    a.form.store(b.form.load(std::memory_order_relaxed), std::memory_order_release);
    b.form.store(form, std::memory_order_relaxed);
  }
  for (Storage* const storage : {&a, &b}) {
    Packed* const form = storage->form.load(std::memory_order_relaxed);
    form->storage = storage;
    count_padding(*storage, *form, 1);
  }
}

void drop_form(Storage& storage) noexcept {
  Packed* const form = storage.form.exchange(nullptr, std::memory_order_relaxed);
  if (!form) return;
  count_padding(storage, *form, -1);
  let_go(form);
}

void drop_packed(Storage& storage) noexcept {
  drop_if(storage, [](PackedForms&) { return true; });
}

int64_t packed_bytes() { return registry.bytes.load(std::memory_order_relaxed); }

}  // namespace libdl
