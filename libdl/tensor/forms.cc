// SPDX-License-Identifier: Apache-2.0

#include "tensor/forms.h"

#include <cstring>

#include "device/allocator.h"
#include "device/launch.h"
#include "kernels/cpu/kernels.h"

namespace libdl {

Shape channels_innermost(Dims shape) {
  Shape strides(shape.size(), 1);
  int64_t step = shape[1];
  for (size_t d = shape.size(); d-- > 2; step *= shape[d]) strides[d] = step;
  strides[0] = step;
  return strides;
}

static bool covers_storage(const libdl_tensor& x) {
  return (x.flags & kContiguous) && x.offset == 0 &&
         static_cast<size_t>(x.numel * size_of(x.dtype)) == x.storage->bytes;
}

bool may_be_packed(const Tensor& x) {
  if (x.is_number() || x.ndim() < 3 || x.ndim() > PackedKey::kMostDims || x.numel() == 0)
    return false;
  const Storage& storage = x.storage();
  return storage.device.is_cpu() && !storage.release && !storage.inline_data &&
         covers_storage(*x.get());
}

static PackedKey key_of(const Tensor& x, Layout layout) {
  return {layout, x.dtype(), 0, x.shape(), x.strides()};
}

static void be_packed_only(Storage& storage, Packed* form) {
  note_packed_only();
  storage.form.store(form, std::memory_order_relaxed);
  storage.plain.store(nullptr, std::memory_order_release);
}

void publish(const Tensor& x, Layout layout) {
  Storage& storage = x.storage();
  void* const bytes = storage.plain.load(std::memory_order_relaxed);
  be_packed_only(storage, make_only_form(storage, key_of(x, layout), bytes, storage.bytes));
}

PackedReader form_of(const Tensor& x, Layout layout) {
  if (!may_be_packed(x)) return {};
  const PackedKey key = key_of(x, layout);
  Storage& storage = x.storage();
  if (PackedReader form = only_form(storage); form.data())
    return form.form()->key == key ? std::move(form) : PackedReader();
  const PackedSource source{storage, key,
                            {static_cast<const std::byte*>(storage.plain.load()), storage.bytes},
                            storage.version.load(std::memory_order_acquire)};
  bool noted;
  return find_packed(source, noted);
}

// -- from one to the other ----------------------------------------------------------------------

// Elements of `key`'s tensor, from one order into the other.
static void rearrange(const PackedKey& key, const void* from, Dims from_strides, void* to,
                      Dims to_strides) {
  const auto dtype = static_cast<int32_t>(key.dtype);
  launch([&](kernels::Context& context) {
    kernels::cpu::copy(context, {{to, key.sizes, to_strides.data(), key.ndim, dtype},
                                 {const_cast<void*>(from), key.sizes, from_strides.data(), key.ndim,
                                  dtype}});
  });
}

static void unpack(const Packed& form, void* to) {
  const PackedKey& key = form.key;
  const size_t n = static_cast<size_t>(key.ndim);
  const Shape packed = channels_innermost({key.sizes, n});
  rearrange(key, form.data, {packed.data(), n}, to, {key.strides, n});
}

namespace {
struct Fresh {  // plain bytes that are not the storage's yet
  explicit Fresh(size_t n) : bytes(n), data(host_allocator().allocate(n)) {}
  ~Fresh() {
    if (data) host_allocator().deallocate(data, bytes);
  }
  size_t bytes;
  void* data;
};
}  // namespace

#ifdef LIBDL_BORN_PACKED
static void poison(void* bytes, size_t n) { std::memset(bytes, 0xA5, n); }
#else
static void poison(void*, size_t) {}
#endif

void* make_plain(const libdl_tensor& x, Access access) {
  Storage& storage = *x.storage;
  const PackedReader form = only_form(storage);
  if (!form.data()) return storage.plain.load(std::memory_order_acquire);
  Fresh fresh(storage.bytes);
  poison(fresh.data, fresh.bytes);
  if (access != Access::kOverwrite || !covers_storage(x)) unpack(*form.form(), fresh.data);
  count_conversion(storage, "plain");
  void* const plain = settle_form(storage, form.form(), fresh.data, access == Access::kRead);
  if (plain == fresh.data) fresh.data = nullptr;
  return plain;
}

#ifdef LIBDL_BORN_PACKED
static void turn(const Tensor& x) {
  Storage& storage = x.storage();
  const PackedKey key = key_of(x, Layout::kChannelsInnermost);
  const Shape packed = channels_innermost(x.shape());
  Fresh made(storage.bytes);
  void* const plain = storage.plain.load(std::memory_order_relaxed);
  rearrange(key, plain, x.strides(), made.data, {packed.data(), packed.size()});
  be_packed_only(storage, make_only_form(storage, key, made.data, made.bytes));
  made.data = plain;  // goes
  poison(plain, storage.bytes);
}

void born(const Tensor& x) {
  if (!x.defined() || !x.get()->storage || !x.storage().fresh) return;  // others may have seen it
  x.storage().fresh = false;
  if (x.storage().packed_only() || !may_be_packed(x)) return;
  try {
    turn(x);
  } catch (const Error&) {  // no memory, or interrupted: stays plain, and the call succeeds
  }
}
#endif

}  // namespace libdl
