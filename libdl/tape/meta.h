// SPDX-License-Identifier: Apache-2.0

// A tensor's autograd state, created when it is first needed.
#pragma once

#include "tape/duality.h"
#include "tape/node.h"

namespace libdl {

// What the elements of a view's geometry are.
enum class ViewKind : uint8_t {
  kNone,      // not a view
  kElements,  // the base's elements
  kReal,      // those of view_as_real(base)
  kComplex,   // those of view_as_complex(base)
  kBytes,     // the bytes as another dtype: no gradient flows
};
// How a view was made: decides whether it may be written in place while recording.
enum class ViewOrigin : uint8_t {
  kRecorded,
  kMultiOutput,  // split, chunk, unbind: it has siblings
  kNoGrad,       // made while nothing was recorded
};

// What a language runtime keeps for a handle (include/libdl/tensor.h). Each runtime finds its own
// entry in a list that only grows, so that two runtimes may read and write concurrently.
struct HostObject {
  const int32_t host;
  void* object;
  HostObject* next;
};

struct Meta {
  Node* node = nullptr;  // owned: the operation that made the tensor, or a leaf's Accumulator
  int32_t slot = 0;
  ViewKind view = ViewKind::kNone;
  ViewOrigin origin = ViewOrigin::kRecorded;  // views
  bool retains_grad = false;
  bool moved = false;  // set_data gave it other elements: of a base that still had views, or of a
                       // view (or what it was made from) within the same memory
  uint64_t generation = 0;  // of this tensor's history: raised by each recorded in-place write
  std::atomic<uint64_t> seen{0};  // views: the base's generation when node was made; moved bases:
                                  // their own generation when they moved
  Tensor base;                    // views: never itself a view
  Ref<GradSlot> grad;
  std::unique_ptr<Duality> duality;                // forward mode
  std::atomic<HostObject*> host_objects{nullptr};  // owned; of all runtimes but the first

  bool is_leaf() const { return !node || node->accumulator; }
  bool follows_base() const { return view != ViewKind::kNone && view != ViewKind::kBytes; }
};

void* host_object(const Meta& meta, int32_t host);  // NULL: none
void set_host_object(Meta& meta, int32_t host, void* object);

Meta& meta_of(const Tensor& x);  // created if absent
// Safe while another reader updates the history of a view.
inline const Node* node_seen(const Tensor& x) {
  return x.meta() ? __atomic_load_n(&x.meta()->node, __ATOMIC_RELAXED) : nullptr;
}
inline bool requires_grad(const Tensor& x) { return node_seen(x) != nullptr; }
// Whether a view's base has moved to other memory while the view was up to date with it: the view
// then ignores later writes to the base. If the view had missed earlier writes this is false, and
// reading its history raises AUTOGRAD.
bool left_behind(const Tensor& view);
// Whether a gradient flows back from x: through its own history, or through that of its base, if
// the base was written to since.
inline bool has_history(const Tensor& x) {
  if (requires_grad(x)) return true;
  const Meta* const m = x.meta();
  if (!m || !m->follows_base()) return false;
  const Meta* const base = m->base.meta();
  return base && base->node &&
         __atomic_load_n(&base->generation, __ATOMIC_ACQUIRE) !=
             m->seen.load(std::memory_order_acquire) &&
         (!base->moved || !left_behind(x));
}
// Whether a write to x changes a value that a history describes: x's own or its base's.
inline bool shares_history(const Tensor& x) {
  const Meta* const m = x.meta();
  return m && (node_seen(x) || (m->view != ViewKind::kNone && requires_grad(m->base)));
}
inline bool has_moved(const Tensor& x) { return x.meta() && x.meta()->moved; }
inline bool is_leaf(const Tensor& x) { return !x.meta() || x.meta()->is_leaf(); }

Duality& duality_of(const Tensor& x);  // created if absent
// x's own cell in the level, or NULL; it may be empty.
TangentCell* find_cell(const Tensor& x, const DualLevel& level);
// Created if absent.
TangentCell& cell_of(const Tensor& x, DualLevel& level);
// An alias of a saved value carries what the value does.
void share_cells(const Tensor& from, const Tensor& to);
// Removes x's tangents and makes it share none with its source.
void detach_tangents(const Tensor& x);

// Makes a leaf collect gradients, or stop. Throws DTYPE and AUTOGRAD (a host number, a tensor made
// in inference mode, or switching a non-leaf off).
void set_requires_grad(const Tensor& x, bool on);

// Ends x's history. Throws AUTOGRAD for a view with a history, which is also its base's.
void detach_in_place(const Tensor& x);

// x gets y's bytes, geometry and dtype, and keeps its history, which must be up to date. A view
// that gets other memory is no longer a view: its base does not see writes there.
void set_data(const Tensor& x, const Tensor& y);
void end_view(Meta& meta) noexcept;
// Whether a base that has moved still contains a view's elements.
bool holds(const Tensor& base, const Tensor& view);

Tensor get_grad(const Tensor& x);  // undefined if none
// Shape, dtype and device must be x's. An undefined value clears .grad.
void set_grad(const Tensor& x, const Tensor& grad);
GradSlot& grad_slot(const Tensor& x);
void retain_grad(const Tensor& x);  // of a non-leaf

// Replaces x's history; raises its generation. Steals the reference to node.
void set_history(const Tensor& x, Node* node, int32_t slot);
// set_history in two steps: one that may fail, and one that cannot.
void prepare_history(const Tensor& x, Node& node, int32_t slot);
void commit_history(const Tensor& x, Ref<Node> node, int32_t slot) noexcept;
// set_history for a value that does not change: the generation stays, too.
void replace_history(const Tensor& x, Ref<Node> node, int32_t slot);
// Detaches x from a node that another one replaces: removes a leaf's link to its accumulator, and a
// retained gradient, which from then on is that of the new value alone.
void leave_history(Node* old, int32_t slot, const Tensor& x) noexcept;

// Marks `view` as a view of x (or of x's base).
void track_view(const Tensor& view, const Tensor& x, ViewKind kind,
                ViewOrigin origin = ViewOrigin::kRecorded);

// An alias of a value with this history, for rules under create_graph.
Tensor with_history(const Tensor& value, Node* node, int32_t slot);

}  // namespace libdl
