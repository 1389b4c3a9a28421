// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/form_plan.h"

#include "tensor/forms.h"

namespace libdl {

static bool concerns(const Tensor& out, std::span<const Tensor* const> in) {
  if (out.numel() == 1 || !out.device().is_cpu()) return false;
  bool any = out.storage().packed_only();
  for (const Tensor* x : in) {
    if (!x->device().is_cpu()) return false;
    any |= !x->is_number() && x->storage().packed_only();
  }
  return any || by_chance(2);
}

// Some element stands for several.
static bool is_expanded(const Tensor& x) {
  for (int d = 0; d < x.ndim(); ++d)
    if (x.stride(d) == 0 && x.size(d) > 1) return true;
  return false;
}

// The first operand of out's shape that is in one of the two only decides.
bool FormPlan::follows(const Tensor& out, std::span<const Tensor* const> in, size_t later) const {
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t k = (i + later) % in.size();
    const Tensor& x = *in[k];
    if (!same(x.shape(), out.shape()) || is_expanded(x)) continue;
    if (form_[k + 1].data()) return true;
    if (!form_of(x, Layout::kChannelsInnermost).data()) return false;
  }
  return false;
}

// Whether out can be written; form_[0] is then where, unless it is plain.
bool FormPlan::place(const Tensor& out, std::span<const Tensor* const> in, size_t later) {
  if (out.storage().packed_only()) {
    form_[0] = writable_form_of(out, Layout::kChannelsInnermost);
    return form_[0].data();
  }
  if (!may_be_packed(out) || !sole_owner(out) || out.storage().writable_exports.load() > 0 ||
      out.storage().pointed_at.load(std::memory_order_relaxed) || !follows(out, in, later))
    return true;
  for (size_t k = 0; k < in.size(); ++k)  // a gradient that is overwritten may be an operand
    if (!in[k]->is_number() && &in[k]->storage() == &out.storage()) return true;
  publish(out);
  form_[0] = only_form_of(out, Layout::kChannelsInnermost);
  return true;
}

void FormPlan::walk(const Tensor& out, std::span<const Tensor* const> in) {
  const auto operand = [&](size_t k) -> const Tensor& { return k == 0 ? out : *in[k - 1]; };
  Shape steps[Plan::kOperands];
  for (size_t k = 0; k <= in.size(); ++k)
    steps[k] =
        form_[k].data() ? channels_innermost(operand(k).shape()) : Shape(operand(k).strides());
  plan_.clear();
  int64_t strides[Plan::kOperands];
  for (int i = 0; i < out.ndim(); ++i) {
    // The dimensions in the order in which out has them in memory.
    const int d = !form_[0].data() || i == 0 ? i : i + 1 < out.ndim() ? i + 1 : 1;
    for (size_t k = 0; k <= in.size(); ++k) {
      const Tensor& x = operand(k);
      const int at = d - (out.ndim() - x.ndim());
      strides[k] = at < 0 || x.size(at) == 1 ? 0 : steps[k][static_cast<size_t>(at)];
    }
    plan_.add(out.size(d), {strides, in.size() + 1});
  }
}

bool FormPlan::set(const Tensor& out, std::span<const Tensor* const> in, size_t later) {
  if (!concerns(out, in)) return false;
  // Operands without a form of this layout become plain first: out may be of their storage.
  for (size_t k = 0; k < in.size(); ++k) {
    const Tensor& x = *in[k];
    if (x.is_number() || !x.storage().packed_only()) continue;
    form_[k + 1] = form_of(x, Layout::kChannelsInnermost);
    if (!form_[k + 1].data()) x.plain(Access::kRead);
  }
  if (!place(out, in, later)) return false;
  for (size_t k = 0; k < in.size(); ++k) {
    PackedReader& form = form_[k + 1];
    if (!form.data() && (form_[0].data() || by_chance(2)))
      form = form_of(*in[k], Layout::kChannelsInnermost);
    data_[k + 1] = form.data() ? const_cast<void*>(form.data()) : in[k]->plain(Access::kRead);
  }
  data_[0] = form_[0].data() ? const_cast<void*>(form_[0].data()) : out.plain(Access::kOverwrite);
  walk(out, in);
  return true;
}

}  // namespace libdl
