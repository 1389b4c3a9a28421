// SPDX-License-Identifier: Apache-2.0

// Histories of tensors that are written in place, and of views that share the written memory.

#include "base/lock.h"
#include "ops/core/call.h"
#include "ops/core/view_algebra.h"

namespace libdl {

// -- the recorder ---------------------------------------------------------------------------------

std::string (*creation_site)() = nullptr;

void record_detail::keep_site(Node& node) {
  if (creation_site) node.more().site = creation_site();
}

// -- histories of views ---------------------------------------------------------------------------

// The base was written to since the view's history was made: the view sees the new value. Readers
// on several threads may make it; the first one's stands, and `seen` tells that it does.
static void refresh(const Tensor& x, Meta& meta) {
  const Meta* const base = meta.base.meta();
  if (!base || (!base->node && !meta.node)) return;
  const uint64_t generation = __atomic_load_n(&base->generation, __ATOMIC_ACQUIRE);
  if (generation == meta.seen.load(std::memory_order_acquire)) return;
  if (meta.origin == ViewOrigin::kNoGrad)
    fail_argument(LIBDL_ERROR_AUTOGRAD, "view", "input",
                  "was made while nothing was recorded, and its base was written to since while "
                  "recording: its history is not defined",
                  "both under no_grad(), or both with recording on");
  if (base->moved && !holds(meta.base, x)) {
    if (left_behind(x)) return;
    fail_argument(
        LIBDL_ERROR_AUTOGRAD, "view", "input",
        "is a view of a tensor that was written to and given other data since: which of the "
        "writes it sees is not known",
        "a view made after the data were given");
  }
  // Of a base that was detached after the write: a history that leads nowhere.
  const Edge edge = history_of(meta.base);
  if (!edge.node && !meta.node) return;
  Ref<Node> node = kViewAlgebra.history(x, edge);
  prepare_history(x, *node, 0);
  Ref<Node>
      old;  // it, or the node that came second, goes after the lock: the host may be called then
  int32_t slot;
  {
    const StripeLock lock(&meta);
    if (meta.seen.load(std::memory_order_relaxed) >= generation) return;
    old = Ref<Node>::take(__atomic_exchange_n(&meta.node, node.release(), __ATOMIC_RELAXED));
    slot = std::exchange(meta.slot, 0);
    meta.seen.store(generation, std::memory_order_release);
  }
  leave_history(old.get(), slot, x);
}

Edge history_of(const Tensor& x) {
  Meta* const meta = x.meta();
  if (!meta) return {};
  if (meta->follows_base()) refresh(x, *meta);
  const StripeLock lock(meta);  // a racing writer would free the node before it is retained
  if (!meta->node) return {};
  meta->node->retain();
  return {meta->node, meta->slot, x.dtype()};
}

void renew_view(const Tensor& x) {
  Meta& meta = *x.meta();
  const Edge edge = history_of(meta.base);
  if (edge.node) {
    replace_history(x, kViewAlgebra.history(x, edge), 0);
    meta.seen.store(meta.base.meta()->generation, std::memory_order_release);
  }
  meta.moved = false;
}

// -- writes in place ------------------------------------------------------------------------------

Rebase::Parts::Parts(const Tensor& x, Ref<Node> node, int32_t slot)
    : x(x), node(std::move(node)), slot(slot) {}
Rebase::Parts::~Parts() = default;

Rebase::Rebase(const Tensor& x, Ref<Node> node, int32_t slot) {
  Parts& p = parts_.emplace(x, std::move(node), slot);
  const Meta& meta = meta_of(x);
  if (!meta.follows_base()) {
    prepare_history(x, *p.node, slot);
    return;
  }
  p.base = meta.base;
  p.write = kViewAlgebra.write(x);
  p.write->edges()[0] = history_of(p.base);
  p.node->retain();
  p.write->edges()[1] = {p.node.get(), slot, x.dtype()};
  prepare_history(p.base, *p.write, 0);
  // What reads the view reads the base, and passes its hooks.
  p.write->retain();
  p.view = kViewAlgebra.history(x, {p.write.get(), 0, p.base.dtype()});
  prepare_history(x, *p.view, 0);
}

void Rebase::commit() noexcept {
  if (!parts_ || !parts_->node) return;
  Parts& p = *parts_;
  if (!p.write) {
    commit_history(p.x, std::move(p.node), p.slot);
    return;
  }
  commit_history(p.base, std::move(p.write), 0);
  commit_history(p.x, std::move(p.view), 0);
  p.x.meta()->seen.store(p.base.meta()->generation, std::memory_order_release);
}

}  // namespace libdl
