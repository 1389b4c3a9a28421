// SPDX-License-Identifier: Apache-2.0

#include "engine/accumulate.h"

#include <exception>

#include "base/lock.h"
#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"
#include "runtime/thread_pool.h"
#include "tensor/memory_order.h"
#include "tensor/sparse_rows.h"

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

namespace {

using Pending = GradSlot::Pending;

// The gradient that a thread adds, and to what; if undefined there is nothing left to add.
struct Turn {
  Pending brought;
  Tensor before;
  uint32_t sets = 0;
};

// Whether this thread is now the one that adds; else its gradient was left for the one that does.
bool begin(GradSlot& slot, Turn& turn) {
  const StripeLock lock(&slot);
  if (slot.unseen) return false;
  if (slot.adding == process_generation()) {
    slot.pending.push_back(std::move(turn.brought));
    return false;
  }
  slot.adding = process_generation();
  turn.before = slot.grad;
  turn.sets = slot.sets;
  return true;
}

// Puts `sum` (undefined if there is none) in its place, unless another .grad was set meanwhile.
void advance(GradSlot& slot, Turn& turn, Tensor& sum) noexcept {
  Turn next;  // the old one goes after the lock
  {
    const StripeLock lock(&slot);
    if (sum.defined() && slot.sets == turn.sets && !slot.unseen) std::swap(slot.grad, sum);
    if (slot.pending.empty()) {
      slot.adding = 0;
    } else {
      next = {std::move(slot.pending.back()), slot.grad, slot.sets};
      slot.pending.pop_back();
    }
  }
  turn = std::move(next);
}

// A .grad from before the leaf got another shape: t_() or unsqueeze_() under no_grad(), .data =.
void want_room(const Tensor& grad, const Tensor& gradient) {
  if (same(grad.shape(), gradient.shape()) || broadcasts_to(gradient.shape(), grad.shape())) return;
  fail(LIBDL_ERROR_AUTOGRAD, "backward",
       "a leaf's .grad has shape " + to_string(grad.shape()) + ", wanted " +
           to_string(gradient.shape()) +
           ", the shape of the leaf and of the gradient to add; set .grad to None first");
}

// sum(turn) tells the new .grad; turn.before may be undefined, and may be written to.
template <class Sum>
void add_to(GradSlot& slot, Turn turn, Sum sum) {
  if (!begin(slot, turn)) return;
  std::exception_ptr failure;
  while (turn.brought.gradient.defined()) {
    Tensor after;
    try {
      const ModeGuard mode(kModeGrad, turn.brought.create_graph ? kModeGrad : 0u);
      after = sum(turn);
    } catch (...) {  // gradients that other threads brought are still added
      failure = std::current_exception();
    }
    advance(slot, turn, after);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

// As in PyTorch .grad lies in memory as its leaf does, or in row-major order where that has gaps.
static Shape strides_of_grad(const Accumulator& leaf) {
  return is_dense(leaf.shape, leaf.strides) ? leaf.strides : contiguous_strides(leaf.shape);
}

static bool lies_so(const Tensor& gradient, const Shape& strides) {
  for (int d = 0; d < gradient.ndim(); ++d)
    if (gradient.size(d) > 1 && gradient.stride(d) != strides[static_cast<size_t>(d)]) return false;
  return true;
}

// A sparse one is a row-major matrix, whatever the leaf's order in memory.
static bool can_be_grad(const Tensor& gradient, const Accumulator& leaf) {
  if (is_sparse(gradient)) return true;
  if (gradient.is_contiguous() && same(gradient.strides(), leaf.strides)) return true;
  return lies_so(gradient, strides_of_grad(leaf));
}

void accumulate(Accumulator& leaf, Tensor gradient, bool create_graph) {
  if (!same(gradient.shape(), Dims(leaf.shape)))  // .data = of another shape, t_() under no_grad()
    fail(LIBDL_ERROR_AUTOGRAD, "backward",
         "the gradient of a leaf has shape " + to_string(gradient.shape()) + ", wanted " +
             to_string(Dims(leaf.shape)) + ", which the leaf has had since it was used");
  const Uninterruptible whole;  // .grad is untouched or complete, never half added
  add_to(*leaf.slot, {{std::move(gradient), create_graph}, {}, 0}, [&leaf](Turn& turn) {
    auto& [gradient, recorded] = turn.brought;
    const Tensor& before = turn.before;
    if (!before.defined()) {
      const bool take = !recorded && sole_owner(gradient) && can_be_grad(gradient, leaf);
      if (take) return std::move(gradient);
      return is_sparse(gradient) ? clone(gradient) : clone_with(gradient, strides_of_grad(leaf));
    }
    if (recorded || requires_grad(before)) return pointwise(k_add, before, gradient);
    want_room(before, gradient);
    pointwise(k_add, before, gradient, Into(before));
    return before;
  });
}

void add_retained(GradSlot& slot, const Tensor& gradient, bool create_graph) {
  add_to(slot, {{gradient, create_graph}, {}, 0}, [](Turn& turn) {
    // The gradient goes on, and .grad may be written: it is a copy.
    return turn.before.defined() ? pointwise(k_add, turn.before, turn.brought.gradient)
                                 : clone(turn.brought.gradient);
  });
}

}  // namespace libdl
