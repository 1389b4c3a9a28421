// SPDX-License-Identifier: Apache-2.0

// Histories of tensors that are written in place, and of views that share the written memory.

#include "base/lock.h"
#include "entries/copy.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/core/fit.h"
#include "ops/creation/copy.h"
#include "ops/pointwise/pointwise.h"
#include "ops/view/view.h"

namespace libdl {

// A view over view_as_real(base) or view_as_complex(base) has its geometry in their elements.
static Geometry as_seen(const Tensor& base, ViewKind kind) {
  if (kind == ViewKind::kReal) return geometry_of(view_as_real(alias(base)));
  if (kind == ViewKind::kComplex) return geometry_of(view_as_complex(alias(base)));
  return geometry_of(base);
}

static void real_vjp(Backward& b) { b.set_grad(0, view_as_complex(contiguous(b.dy()))); }
static void complex_vjp(Backward& b) { b.set_grad(0, view_as_real(b.dy())); }
static const Rule kSeenReal{"view_as_real", real_vjp}, kSeenComplex{"view_as_complex", complex_vjp};

// The history of x as a view of its base, whose own is `base`: an edge of which the reference is
// taken.
static Ref<Node> view_history(const Tensor& x, const Meta& meta, Edge base) {
  Ref<Node> from = Ref<Node>::take(base.node);
  if (from && (meta.view == ViewKind::kReal || meta.view == ViewKind::kComplex)) {
    // In the elements that x counts.
    Ref<Node> seen = Ref<Node>::take(
        make_node(meta.view == ViewKind::kReal ? kSeenReal : kSeenComplex, 1, 1, 0, NoAttr{}));
    seen->edges()[0] = {from.release(), base.slot, base.dtype};
    from = std::move(seen);
    base = {from.get(), 0, x.dtype()};
  }
  Ref<Node> node =
      Ref<Node>::take(strided_view_node(base, as_seen(meta.base, meta.view), geometry_of(x)));
  from.release();
  return node;
}

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
  Ref<Node> node = view_history(x, meta, edge);
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

// -- other data under the same history ------------------------------------------------------------

namespace {
struct FitAttr {
  Shape shape;
  Dtype dtype;
};
}  // namespace

static void fit_vjp(Backward& b) {
  const FitAttr& a = b.attr<FitAttr>();
  if (!broadcasts_to(a.shape, b.dy().shape()))
    fail_argument(LIBDL_ERROR_AUTOGRAD, "backward", "gradient",
                  "has shape " + to_string(b.dy().shape()) + ", that of the data it was given",
                  to_string(a.shape) + ", that of the tensor's history");
  b.set_grad(0, cast(sum_to(b.dy(), a.shape), a.dtype));
}
const Rule kFitRule{"set_data", fit_vjp};

void fit_history(const Tensor& x, Dims shape, Dtype dtype) {
  Meta* const meta = x.meta();
  // A view made under no_grad has none, and is not asked for that of its base.
  if (!meta || (meta->follows_base() && meta->origin == ViewOrigin::kNoGrad)) return;
  Edge edge = history_of(x);
  const Ref<Node> old = Ref<Node>::take(edge.node);
  if (!old || old->accumulator) return;
  // Hooks and retained gradients stay with what made x: see maker_of.
  const auto exchange = [&](Node* node, int32_t slot) {
    const StripeLock lock(meta);
    meta->slot = slot;
    return Ref<Node>::take(__atomic_exchange_n(&meta->node, node, __ATOMIC_RELAXED));
  };
  if (old->rule == &kFitRule) {
    const FitAttr& a = *static_cast<FitAttr*>(old->attr());
    const Edge& before = old->edges()[0];
    if (!same(a.shape, shape) || a.dtype != dtype) return;
    before.node->retain();
    exchange(before.node, before.slot);
    return;
  }
  if (same(x.shape(), shape) && x.dtype() == dtype) return;
  Ref<Node> node =
      Ref<Node>::take(make_node(kFitRule, 1, 1, 0, FitAttr{Shape(x.shape()), x.dtype()}));
  old->retain();
  node->edges()[0] = edge;
  exchange(node.release(), 0);
}

Edge maker_of(const Tensor& x) {
  const Edge edge = history_of(x);
  if (!edge.node || edge.node->rule != &kFitRule) return edge;
  const Ref<Node> fit = Ref<Node>::take(edge.node);
  const Edge& maker = fit->edges()[0];
  maker.node->retain();
  return {maker.node, maker.slot, static_cast<FitAttr*>(fit->attr())->dtype};
}

void renew_view(const Tensor& x) {
  Meta& meta = *x.meta();
  const Edge edge = history_of(meta.base);
  if (edge.node) {
    replace_history(x, view_history(x, meta, edge), 0);
    meta.seen.store(meta.base.meta()->generation, std::memory_order_release);
  }
  meta.moved = false;
}

// -- base' = base with a part replaced ------------------------------------------------------------

namespace {
struct WriteAttr {
  Geometry base, part;
  ViewKind kind;
};
}  // namespace

// d base: dy outside of the part; d new: dy inside.
static void write_view_vjp(Backward& b) {
  const WriteAttr& a = b.attr<WriteAttr>();
  const Tensor dy = a.kind == ViewKind::kReal      ? view_as_real(contiguous(b.dy()))
                    : a.kind == ViewKind::kComplex ? view_as_complex(contiguous(b.dy()))
                                                   : b.dy();
  if (b.needs(1)) b.set_grad(1, strided_gather(dy, a.base, a.part));
  if (!b.needs(0)) return;
  const Tensor ones = full(a.part.shape, number(true), Dtype::kBool, dy.device());
  const Tensor inside = strided_scatter(ones, a.base, a.part);
  const Tensor outside = pointwise(k_where, inside, number(0.0), dy);
  b.set_grad(0, a.kind == ViewKind::kReal      ? view_as_complex(contiguous(outside))
                : a.kind == ViewKind::kComplex ? view_as_real(outside)
                                               : outside);
}
static const Rule kWriteView{"write_view", write_view_vjp};

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
  p.write = Ref<Node>::take(make_node(
      kWriteView, 2, 1, 0, WriteAttr{as_seen(p.base, meta.view), geometry_of(x), meta.view}));
  p.write->edges()[0] = history_of(p.base);
  p.node->retain();
  p.write->edges()[1] = {p.node.get(), slot, x.dtype()};
  prepare_history(p.base, *p.write, 0);
  // What reads the view reads the base, and passes its hooks.
  p.write->retain();
  p.view = view_history(x, meta, {p.write.get(), 0, p.base.dtype()});
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
