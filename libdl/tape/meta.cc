// SPDX-License-Identifier: Apache-2.0

#include "tape/meta.h"

#include <algorithm>
#include <unordered_set>

#include "base/lock.h"
#include "base/slab.h"
#include "tape/fit.h"

namespace libdl {

Meta& meta_of(const Tensor& x) {
  libdl_tensor& t = *x.get();
  if (!t.meta) t.meta = new (slab_allocate(sizeof(Meta))) Meta;
  return *t.meta;
}

// The same for a tensor that others hold, too: two threads may write it in place.
static Meta& shared_meta_of(const Tensor& x) {
  libdl_tensor& t = *x.get();
  if (t.meta) return *t.meta;
  Meta *meta = new (slab_allocate(sizeof(Meta))) Meta, *before = nullptr;
  if (__atomic_compare_exchange_n(&t.meta, &before, meta, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE))
    return *meta;
  destroy_meta(meta, nullptr);
  return *before;
}

// Aliases made for rules share a leaf's accumulator: only the leaf itself may end the weak link.
[[gnu::noinline]] static void end_link(Node* node, const libdl_tensor* owner) noexcept {
  if (!node || !node->accumulator) return;
  auto* const accumulator = static_cast<Accumulator*>(node);
  const StripeLock lock(accumulator->slot.get());
  if (accumulator->leaf == owner) accumulator->leaf = nullptr;
}

Tensor Accumulator::share_leaf() {
  const StripeLock lock(slot.get());
  return leaf && leaf->retain_if_alive() ? Tensor::take(leaf) : Tensor();
}

// Gradients whose last owner is gone, linked through `offset`, which a dead tensor no longer needs:
// a chain of .grad is freed without recursion.
namespace {
struct DeadGradients {
  libdl_tensor* head = nullptr;
  bool running = false;
};
thread_local DeadGradients dead;
}  // namespace

static void free_later(libdl_tensor* tensor) noexcept {
  tensor->offset = reinterpret_cast<int64_t>(dead.head);
  dead.head = tensor;
  if (dead.running) return;
  dead.running = true;
  while (libdl_tensor* const next = dead.head) {
    dead.head = reinterpret_cast<libdl_tensor*>(next->offset);
    destroy(next);
  }
  dead.running = false;
}

[[gnu::noinline]] static void close_slot(GradSlot& slot) noexcept {
  libdl_tensor* last = nullptr;  // released after the lock
  Ref<Node> stopped;
  std::vector<GradSlot::Pending> pending;
  {
    const StripeLock lock(&slot);
    slot.unseen = true;
    last = slot.grad.release();
    slot.pending.swap(pending);
    stopped = Ref<Node>::take(std::exchange(slot.stopped, nullptr));
  }
  if (last && last->drop()) free_later(last);
}

void destroy_meta(Meta* meta, const libdl_tensor* owner) noexcept {
  if (meta->grad) close_slot(*meta->grad);
  if (Node* const node = meta->node) {
    if (node->accumulator) end_link(node, owner);
    if (node->drop()) destroy(node);
  }
  for (HostObject* at = meta->host_objects.load(std::memory_order_relaxed); at;)
    delete std::exchange(at, at->next);
  meta->~Meta();
  slab_free(meta, sizeof(Meta));
}

void* host_object(const Meta& meta, int32_t host) {
  const HostObject* at = meta.host_objects.load(std::memory_order_acquire);
  while (at && at->host != host) at = at->next;
  return at ? at->object : nullptr;
}

void set_host_object(Meta& meta, int32_t host, void* object) {
  HostObject* first = meta.host_objects.load(std::memory_order_acquire);
  for (HostObject* at = first; at; at = at->next)
    if (at->host == host) {
      at->object = object;
      return;
    }
  if (!object) return;
  auto* const entry = new HostObject{host, object, first};  // no other thread adds one of this host
  while (!meta.host_objects.compare_exchange_weak(entry->next, entry, std::memory_order_release)) {
  }
}

// -- forward mode -----------------------------------------------------------------------------

Duality& duality_of(const Tensor& x) {
  Meta& meta = meta_of(x);
  if (!meta.duality) meta.duality = std::make_unique<Duality>();
  return *meta.duality;
}

TangentCell* find_cell(const Tensor& x, const DualLevel& level) {
  const Meta* const meta = x.meta();
  if (!meta || !meta->duality) return nullptr;
  for (const auto& cell : meta->duality->cells)
    if (cell->level->id == level.id) return cell.get();
  return nullptr;
}

TangentCell& cell_of(const Tensor& x, DualLevel& level) {
  if (TangentCell* const existing = find_cell(x, level)) return *existing;
  auto& cells = duality_of(x).cells;
  std::erase_if(cells, [](const auto& cell) { return cell->level->closed.load(); });
  cells.push_back(std::make_unique<TangentCell>(level));
  return *cells.back();
}

void share_cells(const Tensor& from, const Tensor& to) {
  const Meta* const meta = from.meta();
  if (!meta || !meta->duality) return;
  for (const auto& cell : meta->duality->cells)
    if (cell->value.defined()) set_cell(cell_of(to, *cell->level), cell->value);
}

void detach_tangents(const Tensor& x) {
  const Meta* const meta = x.meta();
  if (!meta || (!meta->duality && !(state().mode & kModeForward))) return;
  Duality& d = duality_of(x);
  d.apart = true;
  for (const auto& cell : d.cells) set_cell(*cell, {});
}

// -- leaves ---------------------------------------------------------------------------------

GradSlot& grad_slot(const Tensor& x) {
  Meta& meta = shared_meta_of(x);
  if (meta.grad) return *meta.grad;
  Ref<GradSlot> slot = Ref<GradSlot>::take(new GradSlot);
  const StripeLock lock(&meta);
  if (!meta.grad) meta.grad = std::move(slot);
  return *meta.grad;
}

// Takes x's node away under its stripe, where others take references: see history_of.
static Ref<Node> exchange_node(Meta& meta, Node* next, int32_t slot) noexcept {
  const StripeLock lock(&meta);
  meta.slot = slot;
  return Ref<Node>::take(std::exchange(meta.node, next));
}

// Whether gradients still arrive. A leaf that no longer requires grad gets none, not from graphs
// recorded before either.
static void set_collects(const Meta& meta, bool on) {
  if (!meta.grad) return;
  const StripeLock lock(meta.grad.get());
  meta.grad->unseen = !on;
}

// For the leaf as it is now.
static void describe_leaf(Accumulator& node, const Tensor& x) {
  node.shape.assign(x.shape());
  node.strides.assign(x.strides());
  node.device = x.device();
  x.get()->allow_weak();
}

static void set_stopped(GradSlot& slot, Ref<Node> node) noexcept {
  const StripeLock lock(&slot);
  slot.stopped = node.release();
}

// The accumulator that waits in x's slot, for x as it is now; NULL if none does.
static Node* resumed(const Tensor& x, GradSlot& slot) {
  if (!slot.stopped) return nullptr;
  auto* const node = static_cast<Accumulator*>(slot.stopped);
  describe_leaf(*node, x);
  const StripeLock lock(&slot);
  node->leaf = x.get();
  slot.stopped = nullptr;
  return node;
}

static Accumulator* make_accumulator(const Tensor& x) {
  Accumulator* const node = slab_new<Accumulator>();
  node->rule = &kAccumulateRule;
  node->accumulator = true;
  node->sequence = UINT64_MAX;  // leaves go first: that frees their buffers soonest
  count(slab::cache.live_nodes, 1);
  Ref<Node> guard = Ref<Node>::take(node);
  grad_slot(x);
  node->slot = x.meta()->grad;
  describe_leaf(*node, x);
  node->leaf = x.get();
  guard.release();
  return node;
}

void set_requires_grad(const Tensor& x, bool on) {
  const char* const op = "tensor_set_requires_grad";
  if (x.is_number())
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "tensor", "is a host number", "a tensor");
  if (on && !is_inexact(x.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "tensor", std::string("is ") + name_of(x.dtype()),
                  "a floating or complex dtype");
  if (on && (x.get()->flags & kInferenceTensor) && !(state().mode & kModeInference))
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "tensor", "was made in inference mode",
                  "a tensor made outside of it");
  if (!on && !is_leaf(x))
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "tensor", "is not a leaf",
                  "a leaf, or detach() for a tensor without history");
  if (on == requires_grad(x)) return;
  Meta& meta = shared_meta_of(x);
  // Hooks are the leaf's: they wait with their accumulator until it requires grad again.
  Node* next = on && meta.grad ? resumed(x, *meta.grad) : nullptr;
  if (on && !next) next = make_accumulator(x);
  Ref<Node> old = exchange_node(meta, next, 0);
  set_collects(meta, on);
  end_link(old.get(), x.get());
  if (old && old->extra) set_stopped(*meta.grad, std::move(old));
}

void detach_in_place(const Tensor& x) {
  const char* const op = "detach_";
  if (x.is_number())
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "tensor", "is a host number", "a tensor");
  if (!x.meta()) return;
  Meta& meta = *x.meta();
  const bool collects = meta.node && meta.node->accumulator;
  if (meta.view != ViewKind::kNone && has_history(x) && !collects)
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "input", "is a view",
                  "a tensor of its own, or detach() for an alias without history");
  detach_tangents(x);
  meta.retains_grad = false;
  if (!meta.node) return;
  // The generation stays: views of x keep the history that they have.
  Ref<Node> old = exchange_node(meta, nullptr, 0);
  if (collects) set_collects(meta, false);
  end_link(old.get(), x.get());
  if (collects && old->extra) set_stopped(*meta.grad, std::move(old));
}

Tensor get_grad(const Tensor& x) {
  if (!x.meta() || !x.meta()->grad) return {};
  GradSlot& slot = *x.meta()->grad;
  const StripeLock lock(&slot);
  return slot.grad;
}

// Whether grad keeps x: by its own gradient, as a view of it, or for its tangent, over any number
// of steps. Nobody can hold x where it has one owner, who asks.
static bool leads_to(const Tensor& grad, const Tensor& x) {
  if (x.get()->count() == 1) return false;
  std::vector<Tensor> open{grad};
  std::unordered_set<const libdl_tensor*> met;
  while (!open.empty()) {
    const Tensor t = std::move(open.back());
    open.pop_back();
    if (!t.defined() || !met.insert(t.get()).second) continue;
    if (t.is(x)) return true;
    const Meta* const meta = t.meta();
    if (!meta) continue;
    open.push_back(get_grad(t));
    open.push_back(meta->base);
    if (meta->duality) open.push_back(meta->duality->root);
  }
  return false;
}

// The value with its history, which is nobody's .grad and has none.
static Tensor bare(const Tensor& value) {
  const Meta* const meta = value.meta();
  return meta && meta->node ? with_history(value, meta->node, meta->slot) : alias(value);
}

void set_grad(const Tensor& x, const Tensor& grad) {
  const char* const op = "tensor_set_grad";
  if (grad.defined()) {
    if (grad.is(x)) fail_argument(LIBDL_ERROR_VALUE, op, "grad", "is the tensor itself", "");
    if (!same(grad.shape(), x.shape()))
      fail_argument(LIBDL_ERROR_SHAPE, op, "grad", "has shape " + to_string(grad.shape()),
                    to_string(x.shape()));
    if (grad.dtype() != x.dtype())
      fail_argument(LIBDL_ERROR_DTYPE, op, "grad", std::string("is ") + name_of(grad.dtype()),
                    name_of(x.dtype()));
    if (!(grad.device() == x.device()))
      fail_argument(LIBDL_ERROR_DEVICE, op, "grad", "is on another device", "the tensor's own");
  } else if (!x.meta() || !x.meta()->grad) {
    return;
  }
  GradSlot& slot = grad_slot(x);
  // Tensors that are each other's gradients would keep each other: the one that closes the circle
  // is held by an alias.
  Tensor old = leads_to(grad, x) ? bare(grad) : grad;  // released after the lock
  std::vector<GradSlot::Pending> pending;
  const StripeLock lock(&slot);
  std::swap(slot.grad, old);
  slot.pending.swap(pending);
  ++slot.sets;
}

// Where retained gradients are: before the node that fits them to other data.
static std::pair<Node*, int32_t> maker_behind(Node* node, int32_t slot) noexcept {
  if (node->rule != &kFitRule) return {node, slot};
  const Edge& maker = node->edges()[0];
  return {maker.node, maker.slot};
}

void retain_grad(const Tensor& x) {
  if (!requires_grad(x))
    fail_argument(LIBDL_ERROR_AUTOGRAD, "tensor_retain_grad", "tensor", "does not require grad",
                  "a tensor with history");
  Meta& meta = *x.meta();
  if (meta.is_leaf() || meta.retains_grad) return;
  grad_slot(x);
  set_collects(meta, true);
  meta.retains_grad = true;
  const auto [maker, slot] = maker_behind(meta.node, meta.slot);
  maker->more().retained.emplace_back(slot, meta.grad);
}

static void forget_tangents(const Tensor& x) {
  if (const Duality* const d = x.meta()->duality.get())
    for (const auto& cell : d->cells) set_cell(*cell, {});
}

// The same elements of a storage, as after t_().
static bool permuted(const Tensor& x, const Tensor& y) {
  const auto steps = [](const Tensor& t) {
    std::vector<std::pair<int64_t, int64_t>> some;
    for (int d = 0; d < t.ndim(); ++d)
      if (t.size(d) != 1) some.emplace_back(t.stride(d), t.size(d));
    std::ranges::sort(some);
    return some;
  };
  return x.offset() == y.offset() && steps(x) == steps(y);
}

void end_view(Meta& meta) noexcept {
  meta.view = ViewKind::kNone;
  meta.origin = ViewOrigin::kRecorded;
  meta.moved = false;
  meta.base = {};
}

bool holds(const Tensor& base, const Tensor& view) {
  if (!view.numel()) return true;  // there is nothing to see
  if (base.get()->storage != view.get()->storage) return false;
  if (!base.numel()) return false;
  // In bytes: a view may count its elements in another dtype.
  const auto reach = [](const Tensor& x) {
    const Extent e = extent(x.shape(), x.strides(), "view");
    const int64_t size = size_of(x.dtype());
    return std::pair((x.offset() + e.low) * size, (x.offset() + e.high + 1) * size);
  };
  const auto [low, high] = reach(base);
  const auto [first, last] = reach(view);
  const bool gaps = high - low > base.numel() * static_cast<int64_t>(size_of(base.dtype()));
  return !gaps && low <= first && last <= high;
}

bool left_behind(const Tensor& view) {
  const Meta& meta = *view.meta();
  // In the same memory it sees what is written to the elements that both have.
  return view.numel() && meta.base.get()->storage != view.get()->storage &&
         meta.seen.load(std::memory_order_relaxed) ==
             meta.base.meta()->seen.load(std::memory_order_relaxed);
}

void set_data(const Tensor& x, const Tensor& y) {
  const char* const op = "tensor_set_data";
  if (x.is_number() || y.is_number())
    fail_argument(LIBDL_ERROR_VALUE, op, x.is_number() ? "tensor" : "source", "is a host number",
                  "a tensor");
  if (requires_grad(x) && !is_inexact(y.dtype()))
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "source", std::string("is ") + name_of(y.dtype()),
                  "a floating or complex dtype: the tensor requires grad");
  const bool view = x.meta() && x.meta()->view != ViewKind::kNone;
  const bool same_memory = x.dtype() == y.dtype() && x.get()->storage == y.get()->storage;
  const bool stays = same_memory && permuted(x, y);
  const bool viewed = !view && !stays && x.get()->storage && !x.storage().exclusive();
  if (viewed) shared_meta_of(x);
  if (view && same_memory)
    forget_tangents(x);  // it sees other elements of its root
  else if (view || x.dtype() != y.dtype() || !same(x.shape(), y.shape()))
    detach_tangents(x);
  take_data(x, y);
  if (viewed) {
    x.meta()->moved = true;
    x.meta()->seen.store(x.meta()->generation, std::memory_order_relaxed);
  }
  if (view && !same_memory)
    end_view(*x.meta());
  else if (view && !stays)
    x.meta()->moved = true;
  if (Meta* const meta = x.meta(); meta && meta->node && meta->node->accumulator) {
    auto& leaf = static_cast<Accumulator&>(*meta->node);
    leaf.shape.assign(x.shape());
    leaf.strides.assign(x.strides());
  }
}

// -- history --------------------------------------------------------------------------------

void prepare_history(const Tensor& x, Node& node, int32_t slot) {
  const Meta& meta = shared_meta_of(x);
  if (meta.retains_grad) node.more().retained.emplace_back(slot, meta.grad);
}

void leave_history(Node* old, int32_t slot, const Tensor& x) noexcept {
  const Meta& meta = *x.meta();
  if (!old) return;
  end_link(old, x.get());
  if (!meta.retains_grad) return;
  const auto [maker, at] = maker_behind(old, slot);
  if (!maker->extra) return;
  const StripeLock lock(maker);  // the slot itself is held by meta
  std::erase(maker->extra->retained, std::pair(at, meta.grad));
}

void replace_history(const Tensor& x, Ref<Node> node, int32_t slot) {
  prepare_history(x, *node, slot);
  Meta& meta = *x.meta();
  const int32_t before = meta.slot;
  const Ref<Node> old = exchange_node(meta, node.release(), slot);
  leave_history(old.get(), before, x);
}

void commit_history(const Tensor& x, Ref<Node> node, int32_t slot) noexcept {
  Meta& meta = *x.meta();
  const int32_t before = meta.slot;
  const Ref<Node> old = exchange_node(meta, node.release(), slot);
  leave_history(old.get(), before, x);
  __atomic_fetch_add(&meta.generation, 1, __ATOMIC_RELEASE);
}

void set_history(const Tensor& x, Node* node, int32_t slot) {
  Ref<Node> owned = Ref<Node>::take(node);
  prepare_history(x, *owned, slot);
  commit_history(x, std::move(owned), slot);
}

// What a view of a view counts of the base.
static ViewKind over(ViewKind outer, ViewKind inner) {
  if (outer == ViewKind::kElements) return inner;
  if (inner == ViewKind::kElements || outer == ViewKind::kBytes) return outer;
  if (inner == ViewKind::kBytes) return inner;
  return ViewKind::kElements;  // real numbers seen as complex again, or the reverse
}

// The nearest alias with a tangent of its own comes before the base.
[[gnu::noinline]] static void track_dual(Meta& view, const Tensor& x, const Duality& from) {
  const Tensor& root = from.own_level || from.apart ? x : from.root;
  if (!root.defined()) return;
  view.duality = std::make_unique<Duality>();
  view.duality->root = root;
}

void track_view(const Tensor& view, const Tensor& x, ViewKind kind, ViewOrigin origin) {
  Meta& meta = meta_of(view);
  const Meta* const from = x.meta();
  const bool nested = from && from->view != ViewKind::kNone;
  meta.base = nested ? from->base : x;
  meta.view = nested ? over(from->view, kind) : kind;
  meta.moved = nested && from->moved;
  // An ancestor that may not be written restricts what is seen of it.
  const bool inherits =
      nested && (origin == ViewOrigin::kRecorded || from->origin == ViewOrigin::kNoGrad);
  meta.origin = inherits ? from->origin : origin;
  meta.seen.store(meta.base.meta() ? meta.base.meta()->generation : 0, std::memory_order_relaxed);
  if (from && from->duality) [[unlikely]]
    track_dual(meta, x, *from->duality);
}

Tensor with_history(const Tensor& value, Node* node, int32_t slot) {
  Tensor x = alias(value);
  if (value.meta() && (state().mode & kModeForward)) share_cells(value, x);
  Meta& meta = meta_of(x);
  node->retain();
  meta.node = node;
  meta.slot = slot;
  return x;
}

}  // namespace libdl
