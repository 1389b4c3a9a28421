// SPDX-License-Identifier: Apache-2.0

#include "engine/accumulate.h"

#include "device/pool.h"
#include "ops/copy.h"
#include "ops/pointwise.h"

namespace libdl {

void add_gradient(Tensor& sum, Tensor gradient, bool create_graph) {
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (!create_graph && sole_owner(sum) && sum.dtype() == gradient.dtype() &&
             same(sum.shape(), gradient.shape()) && !overlaps_itself(sum)) {
    pointwise(k_add, sum, gradient, Into(sum));
  } else if (!create_graph && sole_owner(gradient) && sum.dtype() == gradient.dtype() &&
             same(sum.shape(), gradient.shape()) && !overlaps_itself(gradient)) {
    pointwise(k_add, sum, gradient, Into(gradient));
    sum = std::move(gradient);
  } else {
    sum = pointwise(k_add, sum, gradient);
  }
}

void accumulate(Accumulator& leaf, Tensor gradient, bool create_graph) {
  GradSlot& slot = *leaf.slot;
  Tensor old;  // released after the lock
  const Uninterruptible whole;  // .grad is untouched or complete, never half added
  const std::lock_guard lock(slot.mutex);
  if (slot.unseen) return;
  if (!slot.grad.defined()) {
    const bool take = !create_graph && sole_owner(gradient) && gradient.is_contiguous();
    slot.grad = take ? std::move(gradient) : clone(gradient);
  } else if (create_graph || requires_grad(slot.grad)) {
    old = slot.grad;
    slot.grad = pointwise(k_add, old, gradient);
  } else {
    pointwise(k_add, slot.grad, gradient, Into(slot.grad));
  }
}

}  // namespace libdl
