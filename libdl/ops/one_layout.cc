// SPDX-License-Identifier: Apache-2.0

#include "ops/one_layout.h"

#include "tensor/forms.h"

namespace libdl {

constexpr Layout kLayout = Layout::kChannelsInnermost;

// Some operand's plain bytes would have to be made, and every other one can be read in the layout.
static bool is_worth_it(const Tensor& out, std::span<const Tensor* const> in) {
  bool any = false;
  for (const Tensor* x : in) {
    if (x->numel() == 1 && x->device().is_cpu()) continue;
    if (!same(x->shape(), out.shape()) || !may_be_packed(*x)) return false;
    any |= x->storage().packed_only();
  }
  return any;
}

bool OneLayout::add(int operand, const Tensor& x) {
  void* data;
  if (x.numel() == 1) {
    data = x.plain(Access::kRead);
  } else {
    reader_[operand] = form_of(x, kLayout);
    data = const_cast<void*>(reader_[operand].data());
  }
  step_[operand] = x.numel() == 1 ? 0 : 1;
  view_[operand] = {data, &count_, &step_[operand], 1, static_cast<int32_t>(x.dtype())};
  return data;
}

bool OneLayout::set(const Tensor& out, std::span<const Tensor* const> in) {
  if (!may_be_packed(out) || out.numel() == 1 || !is_worth_it(out, in)) return false;
  const bool becomes = !out.storage().packed_only();
  if (becomes && (!sole_owner(out) || out.storage().writable_exports.load() > 0)) return false;
  count_ = out.numel();
  for (size_t k = 0; k < in.size(); ++k)
    if (!add(static_cast<int>(k) + 1, *in[k])) return false;
  if (becomes) publish(out, kLayout);
  return add(0, out);
}

}  // namespace libdl
