// SPDX-License-Identifier: Apache-2.0

#include "tensor/deferred.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "device/launch.h"
#include "runtime/mechanism.h"
#include "tensor/fresh_bytes.h"

namespace libdl {

constexpr Layout kInnermost = Layout::kChannelsInnermost;

bool may_be_deferred(Dtype dtype) {
  if (dtype != Dtype::kFloat32 && dtype != Dtype::kFloat64) return false;
  if (left_out(Mechanism::kFusion)) return false;
  // A provider may want to compute the parts.
  using enum KernelId;
  constexpr KernelId kParts[] = {batch_norm, batch_norm_backward, pointwise};
  return !launches_are_special() ||
         std::ranges::none_of(kParts, [](KernelId id) { return has_providers(Device(), id); });
}

uint64_t new_serial() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

kernels::cpu::Normalisation normalisation_in(const Tensor& vectors) {
  const auto* const first = static_cast<const std::byte*>(vectors.plain(Access::kRead));
  const auto step = static_cast<size_t>(vectors.size(1) * size_of(vectors.dtype()));
  return {first, first + step, first + 2 * step};
}

// -- the form -------------------------------------------------------------------------------------

namespace {
// A form's view of an image, or of anything with the same bytes.
struct Image {
  Shape strides;
  kernels::View view;

  Image(const PackedKey& key, const void* data)
      : strides(channels_innermost({key.sizes, static_cast<size_t>(key.ndim)})) {
    const auto at = [&](int d) { return d < 2 ? d : d - (5 - key.ndim); };
    for (int d = 0; d < 5; ++d) {
      const bool there = d < 2 || at(d) >= 2;
      sizes[d] = there ? key.sizes[at(d)] : 1;
      steps[d] = there ? strides[static_cast<size_t>(at(d))] : 0;
    }
    view = {const_cast<void*>(data), sizes, steps, 5, static_cast<int32_t>(key.dtype)};
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

 private:
  int64_t sizes[5], steps[5];
};
}  // namespace

const Deferred& deferred_in(const PackedReader& form) {
  return *static_cast<const Deferred*>(form.data());
}

static PackedKey key_with(const PackedKey& key, Layout layout) {
  PackedKey other = key;
  other.layout = layout;
  return other;
}

PackedReader deferred_of(const Tensor& x, Deferred::Kind kind) {
  if (x.is_number() || !x.storage().packed_only() || !may_be_packed(x)) return {};
  PackedReader form = only_form(x.storage());
  if (!form.data() || form.form()->key.layout != Layout::kDeferred) return {};
  const bool same = form.form()->key == key_with(key_of(x, kInnermost), Layout::kDeferred);
  return same && deferred_in(form).kind == kind ? std::move(form) : PackedReader();
}

// -- computing ------------------------------------------------------------------------------------

static void compute(const Deferred& d, const PackedKey& key, bool relu, void* to) {
  launch([&](kernels::Context& context) {
    if (d.kind == Deferred::Kind::kGated) {
      int64_t count = 1;
      for (int i = 0; i < key.ndim; ++i) count *= key.sizes[i];
      return kernels::cpu::gate(context, to, d.from.data(), d.other.data(), count,
                                static_cast<int32_t>(key.dtype));
    }
    const Image out(key, to), in(key, d.from.data()), added(key, d.other.data());
    kernels::cpu::normalise(context,
                            {out.view, in.view, added.view, normalisation_in(d.vectors), relu});
  });
}

// The storage's deferred form gives way to its bytes; false: another thread was first.
static bool settle(Storage& storage, const PackedReader& form, bool relu) {
  const Deferred& d = deferred_in(form);
  const PackedKey key = key_with(form.form()->key, kInnermost);
  FreshBytes fresh(storage.bytes);
  compute(d, key, relu, fresh.data);
  Packed* const computed = replace_form(storage, form.form(), key, fresh.data, fresh.bytes);
  if (!computed) return false;
  fresh.data = nullptr;
  if (relu && !d.other.data()) computed->serial = d.serial;
  return true;
}

static void compute_form(Storage& storage, const PackedReader& form) {
  settle(storage, form, false);
}
static void end_form(void* form) { std::destroy_at(static_cast<Deferred*>(form)); }

Tensor defer(Dims shape, Dtype dtype, Deferred&& what) {
  static const bool known = [] {
    set_form_operations(Layout::kDeferred, {.compute = compute_form, .end = end_form});
    return true;
  }();
  static_cast<void>(known);
  void* form;
  Tensor x = empty_packed(shape, dtype, Layout::kDeferred, sizeof(Deferred), form);
  new (form) Deferred(std::move(what));
  return x;
}

// -- what comes behind a normalisation ------------------------------------------------------------

static bool alike(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && same(a.shape(), b.shape());
}

// Whether out may get a form: x itself, which has one, or new.
static bool takes_form(const Tensor& out, const Tensor& x) {
  if (&out.storage() == &x.storage()) return true;
  return may_be_packed(out) && sole_owner(out) && !out.storage().packed_only() &&
         !out.storage().pointed_at.load(std::memory_order_relaxed);
}

bool relu_of_deferred(const Tensor& out, const Tensor& x) {
  const PackedReader form = deferred_of(x, Deferred::Kind::kNormalised);
  if (!form.data() || !alike(out, x) || !takes_form(out, x)) return false;
  if (&out.storage() == &x.storage()) return settle(x.storage(), form, true);
  const Deferred& d = deferred_in(form);
  publish(out);
  const PackedReader to = only_form(out.storage());
  compute(d, to.form()->key, true, const_cast<void*>(to.data()));
  if (!d.other.data()) to.form()->serial = d.serial;
  return true;
}

bool add_to_deferred(const Tensor& out, const Tensor& x, const Tensor& added) {
  if (added.is_number() || !alike(added, x) || !alike(out, x)) return false;
  PackedReader form = deferred_of(x, Deferred::Kind::kNormalised);
  if (!form.data() || deferred_in(form).other.data() || &added.storage() == &x.storage() ||
      !takes_form(out, x))
    return false;
  PackedReader other = only_form_of(added, kInnermost);
  if (!other.data()) return false;
  const Deferred& d = deferred_in(form);
  Deferred sum{Deferred::Kind::kNormalised, d.serial, BorrowedForm(d.from.share()),
               BorrowedForm(std::move(other)), d.vectors};
  if (&out.storage() != &x.storage()) {
    publish(out);
    form = only_form(out.storage());
  }
  FreshBytes fresh(sizeof(Deferred));
  new (fresh.data) Deferred(std::move(sum));
  const PackedKey key = key_with(form.form()->key, Layout::kDeferred);
  if (!replace_form(out.storage(), form.form(), key, fresh.data, fresh.bytes)) {
    std::destroy_at(static_cast<Deferred*>(fresh.data));
    return false;
  }
  fresh.data = nullptr;
  return true;
}

Tensor gated_later(const Tensor& dy, const Tensor& y) {
  if (!alike(dy, y) || !may_be_deferred(dy.dtype())) return {};
  PackedReader result = only_form_of(y, kInnermost);
  if (!result.data() || result.form()->serial == 0) return {};
  PackedReader gradient = only_form_of(dy, kInnermost);
  if (!gradient.data()) return {};
  const uint64_t serial = result.form()->serial;
  return defer(dy.shape(), dy.dtype(),
               {Deferred::Kind::kGated,
                serial,
                BorrowedForm(std::move(gradient)),
                BorrowedForm(std::move(result)),
                {}});
}

}  // namespace libdl
