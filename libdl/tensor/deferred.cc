// SPDX-License-Identifier: Apache-2.0

#include "tensor/deferred.h"

#include <memory>
#include <utility>

#include "tensor/fresh_bytes.h"

namespace libdl {

constexpr Layout kInnermost = Layout::kChannelsInnermost;

// What stands in the form.
using OwnedProducer = std::unique_ptr<const Producer>;

const Producer& producer_in(const PackedReader& form) {
  return **static_cast<const OwnedProducer*>(form.data());
}

static PackedKey key_with(const PackedKey& key, Layout layout) {
  PackedKey other = key;
  other.layout = layout;
  return other;
}

PackedReader deferred_form_of(const Tensor& x) {
  if (x.is_number() || !x.storage().packed_only() || !may_be_packed(x)) return {};
  PackedReader form = only_form(x.storage());
  if (!form.data() || form.form()->key.layout != Layout::kDeferred) return {};
  const bool same = form.form()->key == key_with(key_of(x, kInnermost), Layout::kDeferred);
  return same ? std::move(form) : PackedReader();
}

// The storage's deferred form gives way to what a producer computes.
static bool settle(Storage& storage, const PackedReader& form, const Producer& producer,
                   uint64_t mark) {
  const PackedKey key = key_with(form.form()->key, kInnermost);
  FreshBytes fresh(storage.bytes);
  producer.compute(key, fresh.data);
  Packed* const computed = replace_form(storage, form.form(), key, fresh.data, fresh.bytes);
  if (!computed) return false;
  fresh.data = nullptr;
  computed->mark = mark;
  return true;
}

static void compute_form(Storage& storage, const PackedReader& form) {
  settle(storage, form, producer_in(form), 0);
}
static void end_form(void* form) { std::destroy_at(static_cast<OwnedProducer*>(form)); }

Tensor defer(Dims shape, Dtype dtype, std::unique_ptr<const Producer> producer) {
  static const bool known = [] {
    set_form_operations(Layout::kDeferred, {.compute = compute_form, .end = end_form});
    return true;
  }();
  static_cast<void>(known);
  void* form;
  Tensor x = empty_packed(shape, dtype, Layout::kDeferred, sizeof(OwnedProducer), form);
  new (form) OwnedProducer(std::move(producer));
  return x;
}

// -- in the place of another ----------------------------------------------------------------------

bool takes_form(const Tensor& out, const Tensor& x) {
  if (&out.storage() == &x.storage()) return true;
  return may_be_packed(out) && sole_owner(out) && !out.storage().packed_only() &&
         !out.storage().pointed_at.load(std::memory_order_relaxed);
}

bool compute_into(const Tensor& out, const Tensor& x, const PackedReader& form,
                  const Producer& producer, uint64_t mark) {
  if (&out.storage() == &x.storage()) return settle(x.storage(), form, producer, mark);
  publish(out);
  const PackedReader to = only_form(out.storage());
  producer.compute(to.form()->key, const_cast<void*>(to.data()));
  to.form()->mark = mark;
  return true;
}

bool defer_into(const Tensor& out, const Tensor& x, PackedReader form,
                std::unique_ptr<const Producer> producer) {
  if (&out.storage() != &x.storage()) {
    publish(out);
    form = only_form(out.storage());
  }
  FreshBytes fresh(sizeof(OwnedProducer));
  std::unique_ptr<OwnedProducer, decltype(&std::destroy_at<OwnedProducer>)> held(
      new (fresh.data) OwnedProducer(std::move(producer)), std::destroy_at<OwnedProducer>);
  const PackedKey key = key_with(form.form()->key, Layout::kDeferred);
  if (!replace_form(out.storage(), form.form(), key, fresh.data, fresh.bytes)) return false;
  [[maybe_unused]] const OwnedProducer* const owned = held.release();  // by the form
  fresh.data = nullptr;
  return true;
}

}  // namespace libdl
