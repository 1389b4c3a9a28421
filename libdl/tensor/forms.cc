// SPDX-License-Identifier: Apache-2.0

#include "tensor/forms.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "device/launch.h"
#include "runtime/mechanism.h"
#include "tensor/fresh_bytes.h"

namespace libdl {

// -- geometry -----------------------------------------------------------------------------------

constexpr int64_t kBlock = 8;  // channels of one block of kChannelBlocks

Shape channels_innermost(Dims shape) {
  Shape strides(shape.size(), 1);
  int64_t step = shape[1];
  for (size_t d = shape.size(); d-- > 2; step *= shape[d]) strides[d] = step;
  strides[0] = step;
  return strides;
}

static Shape padded(Dims shape, Layout layout) {
  Shape all(shape);
  if (layout == Layout::kChannelBlocks) all[1] = (all[1] + kBlock - 1) / kBlock * kBlock;
  return all;
}

size_t form_bytes(Dims shape, Dtype dtype, Layout layout) {
  return static_cast<size_t>(checked_numel(padded(shape, layout), dtype, nullptr) * size_of(dtype));
}

static bool covers_storage(const libdl_tensor& x) {
  return (x.flags & kContiguous) && x.offset == 0 &&
         static_cast<size_t>(x.numel * size_of(x.dtype)) == x.storage->bytes;
}

// A matrix lies as it does without a form, or in blocks: it has none but where forms are at random.
constexpr int kLeastDims = kFormsAreRandom ? 2 : 3;

bool may_be_packed(const Tensor& x) {
  if (x.is_number() || x.ndim() < kLeastDims || x.ndim() > PackedKey::kMostDims || x.numel() == 0)
    return false;
  const Storage& storage = x.storage();
  return storage.device.is_cpu() && !storage.release && !storage.inline_data &&
         covers_storage(*x.get());
}

PackedKey key_of(const Tensor& x, Layout layout) {
  return {layout, x.dtype(), 0, x.shape(), x.strides()};
}

namespace {
// Elements that strides describe on both sides, from an offset on.
struct Part {
  int64_t plain_from = 0, form_from = 0;
  Shape sizes, plain, form;
};
}  // namespace

// [N, C, H, W] as whole blocks [N, C / 8, 8, H, W], or the C % 8 channels left as [N, 1, C % 8, H,
// W].
static Part blocks(const PackedKey& key, bool whole) {
  const int64_t blocks = key.sizes[1] / kBlock, left = key.sizes[1] % kBlock;
  Part part;
  const auto add = [&part](int64_t size, int64_t plain, int64_t form) {
    part.sizes.push_back(size);
    part.plain.push_back(plain);
    part.form.push_back(form);
  };
  int64_t inner = kBlock;  // of the form, from the last dimension on
  Shape steps(static_cast<size_t>(key.ndim), 0);
  for (int d = key.ndim; d-- > 2; inner *= key.sizes[d]) steps[d] = inner;
  add(key.sizes[0], key.strides[0], inner * (blocks + (left > 0)));
  add(whole ? blocks : 1, key.strides[1] * kBlock, inner);
  add(whole ? kBlock : left, key.strides[1], 1);
  for (int d = 2; d < key.ndim; ++d) add(key.sizes[d], key.strides[d], steps[d]);
  if (!whole) {
    part.plain_from = blocks * kBlock * key.strides[1];
    part.form_from = blocks * inner;
  }
  return part;
}

// -- from one to the other ----------------------------------------------------------------------

static void rearrange(const PackedKey& key, const Part& part, std::byte* plain, std::byte* form,
                      bool into_form) {
  const auto dtype = static_cast<int32_t>(key.dtype);
  const auto ndim = static_cast<int32_t>(part.sizes.size());
  const int64_t size = size_of(key.dtype);
  const kernels::View ends[] = {
      {form + part.form_from * size, part.sizes.data(), part.form.data(), ndim, dtype},
      {plain + part.plain_from * size, part.sizes.data(), part.plain.data(), ndim, dtype}};
  launch<KernelId::copy>(Device(), {ends[into_form ? 0 : 1], ends[into_form ? 1 : 0]});
}

static void rearrange(const PackedKey& key, const void* from, void* to, bool into_form) {
  auto* const source = static_cast<std::byte*>(const_cast<void*>(from));
  auto* const target = static_cast<std::byte*>(to);
  std::byte *const plain = into_form ? source : target, *const form = into_form ? target : source;
  const Dims shape{key.sizes, static_cast<size_t>(key.ndim)};
  if (auto* const spread = form_operations(key.layout).spread)
    return spread(shape, key.dtype, form, plain);
  if (key.layout == Layout::kChannelsInnermost) {
    const Shape strides(Dims{key.strides, shape.size()});
    return rearrange(key, {0, 0, Shape(shape), strides, channels_innermost(shape)}, plain, form,
                     into_form);
  }
  if (key.sizes[1] >= kBlock) rearrange(key, blocks(key, true), plain, form, into_form);
  if (key.sizes[1] % kBlock == 0) return;
  rearrange(key, blocks(key, false), plain, form, into_form);
}

static void pack(const PackedKey& key, const void* plain, void* form, size_t bytes) {
  spoil(form, bytes);
  if (key.layout == Layout::kChannelBlocks && key.sizes[1] % kBlock) std::memset(form, 0, bytes);
  rearrange(key, plain, form, true);
}

// -- with plain bytes and without -----------------------------------------------------------------

static void be_packed_only(Storage& storage, Packed* form) {
  note_packed_only();
  storage.form.store(form, std::memory_order_relaxed);
  storage.plain.store(nullptr, std::memory_order_release);
}

Tensor empty_packed(Dims shape, Dtype dtype, Layout layout, void*& form) {
  return empty_packed(shape, dtype, layout, form_bytes(shape, dtype, layout), form);
}

Tensor empty_packed(Dims shape, Dtype dtype, Layout layout, size_t form_size, void*& form) {
  FreshBytes fresh(form_size);
  const auto bytes = static_cast<size_t>(checked_numel(shape, dtype, nullptr) * size_of(dtype));
  const Shape strides = contiguous_strides(shape);
  Tensor x = over_storage(storage_without_bytes(bytes), shape, strides, 0, dtype, nullptr);
  be_packed_only(x.storage(),
                 make_only_form(x.storage(), key_of(x, layout), fresh.data, fresh.bytes));
  form = std::exchange(fresh.data, nullptr);
  return x;
}

void publish(const Tensor& x) {
  Storage& storage = x.storage();
  if (storage.packed.load(std::memory_order_relaxed)) drop_packed(storage);
  void* const bytes = storage.plain.load(std::memory_order_relaxed);
  const PackedKey key = key_of(x, Layout::kChannelsInnermost);
  be_packed_only(storage, make_only_form(storage, key, bytes, storage.bytes));
}

// No memory for it, or interrupted: everything stays as it is, and the call succeeds.
template <class F>
static void if_possible(F f) noexcept {
  try {
    f();
  } catch (...) {
  }
}

static PackedSource source_of(const Tensor& x, Layout layout) {
  Storage& storage = x.storage();
  return {
      storage,
      key_of(x, layout),
      {static_cast<const std::byte*>(storage.plain.load(std::memory_order_acquire)), storage.bytes},
      storage.version.load(std::memory_order_acquire)};
}

// Where forms are at random: one that is kept beside plain bytes says what they say.
static void compare(const PackedReader& form, const PackedSource& source) {
  if constexpr (!kFormsAreRandom) return;
  FreshBytes fresh(source.bytes.size());
  rearrange(form.form()->key, form.data(), fresh.data, false);
  if (std::memcmp(fresh.data, source.bytes.data(), fresh.bytes) == 0) return;
  std::fputs("a form was to be read that is not of the plain bytes beside it\n", stderr);
  std::abort();
}

// The only form, computed if it waits to be.
static PackedReader computed_form(Storage& storage) {
  PackedReader form = only_form(storage);
  auto* const compute = form.data() ? form_operations(form.form()->key.layout).compute : nullptr;
  if (!compute) return form;
  compute(storage, form);
  return only_form(storage);
}

PackedReader only_form_of(const Tensor& x, Layout layout) {
  if (!may_be_packed(x)) return {};
  PackedReader form = computed_form(x.storage());
  return form.data() && form.form()->key == key_of(x, layout) ? std::move(form) : PackedReader();
}

PackedReader writable_form_of(const Tensor& x, Layout layout) {
  PackedReader form = only_form_of(x, layout);
  if (!form.data()) return form;
  if (form.form()->mark) form.form()->mark = 0;
  if (form.form()->borrowed.load(std::memory_order_acquire) == 0) return form;
  FreshBytes copy(form.form()->bytes);
  std::memcpy(copy.data, form.data(), copy.bytes);
  if (replace_form(x.storage(), form.form(), form.form()->key, copy.data, copy.bytes))
    copy.data = nullptr;
  return only_form(x.storage());
}

PackedReader form_of(const Tensor& x, Layout layout) {
  if (!may_be_packed(x)) return {};
  if (by_chance(8)) if_possible([&] { x.plain(Access::kRead); });
  if (PackedReader form = only_form_of(x, layout); form.data()) return form;
  if (x.storage().packed_only()) return {};
  bool noted;
  const PackedSource source = source_of(x, layout);
  PackedReader form = find_packed(source, noted);
  if (form.data()) if_possible([&] { compare(form, source); });
  return form;
}

PackedReader keep_form(const Tensor& x, Layout layout) {
  if (!may_be_packed(x)) return {};
  if (PackedReader form = form_of(x, layout); form.data()) return form;
  if (left_out(Mechanism::kForms)) [[unlikely]]
    return {};
  x.plain(Access::kRead);
  const PackedSource source = source_of(x, layout);
  FreshBytes fresh(form_bytes(x.shape(), x.dtype(), layout));
  const std::optional<uint64_t> fingerprint = packed_fingerprint(source);
  pack(source.key, source.bytes.data(), fresh.data, fresh.bytes);
  PackedReader kept = keep_packed(source, fingerprint, fresh.data, fresh.bytes);
  if (!fresh.data) count_conversion(x.storage(), "layout");
  return kept;
}

void* make_plain(const libdl_tensor& x, Access access) {
  Storage& storage = *x.storage;
  const PackedReader form = computed_form(storage);
  if (!form.data()) {
    if (x.numel && !storage.bytes)
      fail_unnamed(LIBDL_ERROR_EMPTIED,
                   "a stand-in for the slices of a batch has no elements of its own");
    return storage.plain.load(std::memory_order_acquire);
  }
  FreshBytes fresh(storage.bytes);
  spoil(fresh.data, fresh.bytes);
  if (access != Access::kOverwrite || !covers_storage(x))
    rearrange(form.form()->key, form.data(), fresh.data, false);
  count_conversion(storage, "plain");
  const bool keep = access == Access::kRead && !by_chance(4);
  void* const plain = settle_form(storage, form.form(), fresh.data, keep);
  if (plain == fresh.data) fresh.data = nullptr;
  return plain;
}

void unpack(const Tensor& x) noexcept {
  if_possible([&] {
    x.plain(Access::kRead);
    drop_packed(x.storage());
  });
}

// -- the test builds ------------------------------------------------------------------------------

static Layout some_layout() {
  return by_chance(2) ? Layout::kChannelBlocks : Layout::kChannelsInnermost;
}

static void convert_to_form(const Tensor& x) {
  Storage& storage = x.storage();
  const PackedKey key = key_of(x, some_layout());
  FreshBytes fresh(form_bytes(x.shape(), x.dtype(), key.layout));
  void* const plain = storage.plain.load(std::memory_order_relaxed);
  pack(key, plain, fresh.data, fresh.bytes);
  if (storage.packed.load(std::memory_order_relaxed)) drop_packed(storage);
  be_packed_only(storage, make_only_form(storage, key, fresh.data, fresh.bytes));
  fresh.data = plain;  // goes
  fresh.bytes = storage.bytes;
  spoil(plain, storage.bytes);
}

void change_at_birth(const Tensor& x) {
  if constexpr (!kResultsAreBornPacked) return;
  if (!x.defined() || !x.get()->storage || !x.storage().fresh) return;  // others may have seen it
  x.storage().fresh = false;
  if (x.storage().packed_only() || !may_be_packed(x) || by_chance(3)) return;
  if_possible([&] { by_chance(3) ? void(keep_form(x, some_layout())) : convert_to_form(x); });
}

void shake(const libdl_tensor& tensor) {
  if constexpr (!kFormsAreRandom) return;
  const Tensor x = Tensor::share(const_cast<libdl_tensor*>(&tensor));
  if (x.storage().packed_only() || !may_be_packed(x)) return;
  if (by_chance(8)) drop_packed(x.storage());
  if (by_chance(2)) if_possible([&] { keep_form(x, some_layout()); });
}

}  // namespace libdl
