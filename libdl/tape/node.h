// SPDX-License-Identifier: Apache-2.0

// History. A node is one recorded operation: the rule that differentiates it, edges to the nodes
// of its inputs, saved values and attributes, in one cell. Nodes point only to their inputs, and
// saved values hold bytes and geometry but never a tensor with history, so no cycle can form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/counted.h"
#include "base/lock.h"
#include "device/stream_set.h"
#include "tape/output_meta.h"
#include "tensor/tensor.h"

namespace libdl {

struct Node;
class Backward;

struct Rule {
  const char* name;  // the operator's, as errors and graph printers show it
  void (*vjp)(Backward& backward);
  bool without_gradients = false;  // vjp also runs if no gradient arrives
  // vjp also takes gradients of a batch (Backward::batch()); without it, it runs for one after
  // another.
  bool takes_batch = false;
};

// Where a gradient goes: output number `slot` of `node`. NULL: nowhere.
struct Edge {
  Node* node = nullptr;  // owned
  int32_t slot = 0;
  Dtype dtype = Dtype::kNone;  // of the input: the engine casts the gradient to it
};

// The host's pack and unpack hooks; the object that pack returns is kept in place of the value.
struct SavedHooks : Counted {
  SavedHooks() : Counted(Tag::kHook) {}
  virtual ~SavedHooks() = default;
  virtual void* pack(const Tensor& value) = 0;
  virtual Tensor unpack(void* packed) = 0;
  virtual void forget(void* packed) noexcept = 0;
};
inline void destroy(SavedHooks* hooks) { delete hooks; }

constexpr int32_t kSavedConstant = -1;  // a value without history
constexpr int32_t saved_output(int k) { return -2 - k; }

struct HookedValue {  // a value as the host's hooks packed it
  Ref<SavedHooks> hooks;
  void* packed = nullptr;
  OutputMeta value;  // what unpack has to give back
  Tensor carrier;    // one element seen in the value's shape: it holds the tangents
};

struct Saved {
  libdl_tensor* shell = nullptr;  // owned alias without history; NULL: absent, or hooked
  uint64_t version = 0;
  int32_t source = kSavedConstant;  // input number, or saved_output(k)
  HookedValue* hooked = nullptr;    // owned; replaces the shell
};

// A callback that may replace a gradient. Callbacks run in order of registration.
struct GradHook : Counted {
  GradHook() : Counted(Tag::kHook) {}
  virtual ~GradHook() = default;
  // Tensor hooks see and may replace gradients[0]; node pre-hooks the node's incoming gradients;
  // node post-hooks the outgoing ones, with `incoming` for reference.
  virtual void run(std::span<Tensor> gradients, std::span<const Tensor> incoming) = 0;
  // The ctx that the host registered with this destroy, for its garbage collector; else NULL.
  virtual void* context(void (*)(void*)) const { return nullptr; }
  virtual void end() noexcept {}  // its node is gone: it never runs again
  Node* node = nullptr;           // the node that runs it; cleared under links()
  static Mutex& links();          // guards the lists of all nodes
  size_t index = 0;               // in its list
  int32_t slot = 0;               // tensor hooks: the output it watches
};
inline void destroy(GradHook* hook) { delete hook; }

// .grad of one tensor, shared by the tensor and whatever fills it. Once the tensor is gone nobody
// can see it and it stays empty: otherwise a gradient with history would keep alive the nodes that
// keep the slot alive.
//
// Its contents are read and replaced under its stripe. Sums are computed outside the stripe, by one
// thread at a time: gradients that other threads bring meanwhile wait in `pending`, and that thread
// adds them, too. So no thread waits for an operator, which may call the host. Setting .grad
// discards everything that was brought before.
struct GradSlot : Counted {
  GradSlot() : Counted(Tag::kOther) {}
  Tensor grad;
  bool unseen = false;
  uint32_t adding = 0;  // the process_generation() of the thread that is adding; 0: none is
  struct Pending {
    Tensor gradient;
    bool create_graph = false;  // of the pass that brought it: adding it is recorded
  };
  std::vector<Pending> pending;
  uint32_t sets = 0;  // how often .grad was set
  // Owned: the leaf's accumulator with its hooks, while the leaf does not require grad. It holds
  // the slot in turn, until the leaf ends.
  Node* stopped = nullptr;
};
inline void destroy(GradSlot* slot) { delete slot; }

// In order of registration. When a hook is removed its place stays empty until half of the places
// are: removing all n hooks takes O(n) steps.
class HookList {
 public:
  void push_back(Ref<GradHook> hook);
  void remove(const GradHook& hook);
  std::vector<Ref<GradHook>> snapshot() const;  // a copy: hooks may add and remove others
  std::span<const Ref<GradHook>> slots() const { return hooks_; }  // including empty ones

 private:
  std::vector<Ref<GradHook>> hooks_;
  size_t removed_ = 0;
};

struct NodeExtra {
  ~NodeExtra();
  HookList tensor_hooks, pre_hooks, post_hooks, accumulate_hooks;
  std::vector<std::pair<int32_t, Ref<GradSlot>>> retained;  // (output, .grad of a non-leaf)
  std::vector<OutputMeta> outputs;                          // custom functions
  std::string site;                                         // anomaly mode: the forward line
  Streams streams;  // where the operator was queued; NULL: on the default streams
};

struct Node : Counted {
  Node() : Counted(Tag::kNode) {}

  const Rule* rule = nullptr;
  uint64_t sequence = 0;  // increases with each node that a thread creates
  int32_t inputs = 0, outputs = 1, saves = 0;
  bool accumulator = false;
  bool keeps_saved = false;  // it saved host numbers only: a pass that frees does not free them
  uint32_t bytes = 0;        // of the whole cell
  uint32_t attr_offset = 0;
  void (*destroy_attr)(void* attr) = nullptr;
  NodeExtra* extra = nullptr;  // owned

  // Passes that are reading the saved values; kReleased once a pass has asked to free them.
  std::atomic<uint32_t> readers{0};

  // Scratch space of the engine's pass number `pass`; see engine/pass.h.
  std::atomic<uint64_t> pass{0};
  int32_t waiting = 0;
  bool needed = false;
  Tensor first_grad;
  Tensor* more_grads = nullptr;

  Edge* edges() { return reinterpret_cast<Edge*>(this + 1); }
  Saved* saved() { return reinterpret_cast<Saved*>(edges() + inputs); }
  void* attr() { return reinterpret_cast<char*>(this) + attr_offset; }
  NodeExtra& more() {
    if (!extra) extra = new NodeExtra;
    return *extra;
  }
  // A copy of a list: passes run the hooks while others are added and removed.
  std::vector<Ref<GradHook>> hooks(HookList NodeExtra::* list) const;
  std::vector<std::pair<int32_t, Ref<GradSlot>>> retained() const;
};

// Frees the values that a node saved.
void release_saved(Node& node) noexcept;
// Frees the node and whatever only it kept alive, with a worklist rather than by recursion.
void destroy(Node* node) noexcept;

// A leaf's end of the graph: gradients that arrive here are added into .grad.
struct Accumulator : Node {
  Ref<GradSlot> slot;
  Shape shape, strides;
  Device device;
  libdl_tensor* leaf =
      nullptr;  // weak, guarded by the slot's stripe: cleared when the leaf's handle is destroyed

  Tensor share_leaf();  // undefined if it is gone
};
extern const Rule kAccumulateRule;

uint64_t next_sequence();
uint64_t last_sequence();  // of this thread's nodes

// The rule under another name; never freed.
const Rule& renamed(const Rule& rule, const char* name);

// A node that has no edges yet; attr is moved into its cell.
Node* make_node(const Rule& rule, int inputs, int outputs, int saves, size_t attr_bytes,
                size_t attr_align);

template <class Attr>
Node* make_node(const Rule& rule, int inputs, int outputs, int saves, Attr attr) {
  Node* const node = make_node(rule, inputs, outputs, saves, sizeof(Attr), alignof(Attr));
  new (node->attr()) Attr(std::move(attr));
  if constexpr (!std::is_trivially_destructible_v<Attr>)
    node->destroy_attr = [](void* p) { static_cast<Attr*>(p)->~Attr(); };
  return node;
}

}  // namespace libdl
