// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/deferred_norm.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "device/launch.h"
#include "ops/pointwise/absorbed.h"
#include "runtime/mechanism.h"
#include "tensor/deferred.h"

namespace libdl {

using kernels::Expression;

constexpr Layout kInnermost = Layout::kChannelsInnermost;

bool norm_may_be_deferred(Dtype dtype) {
  if (dtype != Dtype::kFloat32 && dtype != Dtype::kFloat64) return false;
  if (left_out(Mechanism::kFusion)) return false;
  if (!launches_are_special()) return true;
  // A provider may want to compute the parts, unless it has what computes them together.
  using enum KernelId;
  const auto provided = [](KernelId id) { return is_provided(Device(), id); };
  if (provided(batch_norm_add_relu) && provided(batch_norm_relu_backward)) return true;
  constexpr KernelId kParts[] = {batch_norm, batch_norm_backward, pointwise};
  return std::ranges::none_of(kParts, provided);
}

// -- what waits -----------------------------------------------------------------------------------

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

kernels::View vector(const Tensor& x) { return x.defined() ? reads(x) : no_view(); }

// `from` normalised, and `added` to it if there is one.
struct DeferredNorm final : Producer {
  BorrowedForm from, added;  // of the result's geometry and dtype, with the channels innermost
  NormVectors vectors;
  uint64_t serial;

  DeferredNorm(BorrowedForm from, BorrowedForm added, NormVectors vectors, uint64_t serial)
      : from(std::move(from)),
        added(std::move(added)),
        vectors(std::move(vectors)),
        serial(serial) {}
  void compute(const PackedKey& key, void* to) const override { compute(key, to, false); }
  void compute(const PackedKey& key, void* to, bool relu) const {
    const Image out(key, to), in(key, from.data()), more(key, added.data());
    launch<KernelId::batch_norm_add_relu>(
        Device(), {{out.view, in.view, vector(vectors.mean), vector(vectors.rstd),
                    vector(vectors.weight), vector(vectors.bias)},
                   more.view,
                   relu});
  }
};

struct Rectified final : Producer {
  const DeferredNorm& of;

  explicit Rectified(const DeferredNorm& of) : of(of) {}
  void compute(const PackedKey& key, void* to) const override { of.compute(key, to, true); }
};

// relu's gradient: dy where y, the relu's result, is not <= 0, else 0.
struct ReluGradient final : Producer {
  BorrowedForm dy, y;
  uint64_t serial;  // of the normalisation before the relu

  ReluGradient(BorrowedForm dy, BorrowedForm y, uint64_t serial)
      : dy(std::move(dy)), y(std::move(y)), serial(serial) {}
  void compute(const PackedKey& key, void* to) const override {
    int64_t count = 1;
    for (int i = 0; i < key.ndim; ++i) count *= key.sizes[i];
    launch<KernelId::relu_backward>(
        Device(), {to, dy.data(), y.data(), count, static_cast<int32_t>(key.dtype)});
  }
};

template <class T>
const T* waiting(const PackedReader& form) {
  return form.data() ? dynamic_cast<const T*>(&producer_in(form)) : nullptr;
}

bool alike(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && same(a.shape(), b.shape());
}

}  // namespace

PackedReader gradient_behind_relu(const Tensor& dy, uint64_t serial) {
  const PackedReader form = deferred_form_of(dy);
  const auto* const gradient = waiting<ReluGradient>(form);
  const bool own = gradient && serial && gradient->serial == serial;
  return own ? gradient->dy.share() : PackedReader();
}

// -- what comes behind it -------------------------------------------------------------------------

static bool relu_of(const Tensor& out, const Tensor& x) {
  const PackedReader form = deferred_form_of(x);
  const auto* const normalised = waiting<DeferredNorm>(form);
  if (!normalised || !alike(out, x) || !takes_form(out, x)) return false;
  const uint64_t mark = normalised->added.data() ? 0 : normalised->serial;
  return compute_into(out, x, form, Rectified(*normalised), mark);
}

static bool add_to(const Tensor& out, const Tensor& x, const Tensor& added) {
  if (added.is_number() || !alike(added, x) || !alike(out, x)) return false;
  PackedReader form = deferred_form_of(x);
  const auto* const normalised = waiting<DeferredNorm>(form);
  if (!normalised || normalised->added.data() || &added.storage() == &x.storage() ||
      !takes_form(out, x))
    return false;
  PackedReader other = only_form_of(added, kInnermost);
  if (!other.data()) return false;
  return defer_into(out, x, std::move(form),
                    std::make_unique<DeferredNorm>(BorrowedForm(normalised->from.share()),
                                                   BorrowedForm(std::move(other)),
                                                   normalised->vectors, normalised->serial));
}

static bool absorb(Expression expression, const Tensor& out, const Tensor* const* in) {
  if (expression == Expression::relu) return relu_of(out, *in[0]);
  return expression == Expression::add &&
         (add_to(out, *in[0], *in[1]) || add_to(out, *in[1], *in[0]));
}

// If y is the relu of a normalisation.
static Tensor defer_gradient(Expression expression, const Tensor& dy, const Tensor& y) {
  if (expression != Expression::relu || !alike(dy, y) || !norm_may_be_deferred(dy.dtype()))
    return {};
  PackedReader result = only_form_of(y, kInnermost);
  if (!result.data() || result.form()->mark == 0) return {};
  PackedReader gradient = only_form_of(dy, kInnermost);
  if (!gradient.data()) return {};
  const uint64_t serial = result.form()->mark;
  return defer(dy.shape(), dy.dtype(),
               std::make_unique<ReluGradient>(BorrowedForm(std::move(gradient)),
                                              BorrowedForm(std::move(result)), serial));
}

Tensor normalised_later(const Innermost& x, NormVectors vectors, uint64_t& serial) {
  static const bool known = [] {
    static constexpr Absorbing kBehind{absorb, defer_gradient};
    absorb_by(kBehind);
    return true;
  }();
  static_cast<void>(known);
  static std::atomic<uint64_t> last{0};
  serial = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return defer(x.tensor().shape(), x.tensor().dtype(),
               std::make_unique<DeferredNorm>(BorrowedForm(x.form().share()), BorrowedForm(),
                                              std::move(vectors), serial));
}

}  // namespace libdl
