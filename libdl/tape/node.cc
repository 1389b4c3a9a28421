// SPDX-License-Identifier: Apache-2.0

#include "tape/node.h"

#include <map>
#include <mutex>
#include <string_view>

#include "base/slab.h"
#include "device/device.h"
#include "device/stream.h"

namespace libdl {

const Rule kAccumulateRule = {"accumulate", nullptr};

// A thread's numbers grow; between threads only a node's own inputs must be smaller, and those are
// counted, not ordered. So no shared counter is needed.
static thread_local uint64_t sequence = 0;
uint64_t next_sequence() { return ++sequence; }
uint64_t last_sequence() { return sequence; }

const Rule& renamed(const Rule& rule, const char* name) {
  static Mutex mutex;
  static auto* const rules = new std::map<std::pair<const Rule*, std::string_view>, Rule>;
  const std::lock_guard lock(mutex);
  return rules
      ->try_emplace({&rule, name}, Rule{name, rule.vjp, rule.without_gradients, rule.takes_batch})
      .first->second;
}

// -- making ---------------------------------------------------------------------------------

static void note_streams(Node* node) {
  StreamSet* const current = current_streams();
  if (!current) return;
  Ref<Node> owned = Ref<Node>::take(node);
  owned->more().streams = Streams::share(current);
  owned.release();
}

Node* make_node(const Rule& rule, int inputs, int outputs, int saves, size_t attr_bytes,
                size_t attr_align) {
  size_t bytes = sizeof(Node) + static_cast<size_t>(inputs) * sizeof(Edge) +
                 static_cast<size_t>(saves) * sizeof(Saved);
  if (bytes + attr_align + attr_bytes > UINT32_MAX) [[unlikely]]
    fail(LIBDL_ERROR_LIMIT, rule.name,
         "has " + std::to_string(inputs) + " inputs, more than a recorded call holds");
  bytes = (bytes + attr_align - 1) / attr_align * attr_align;
  const size_t attr_offset = bytes;
  bytes += attr_bytes;
  Node* const node = new (slab_allocate(bytes)) Node;
  node->rule = &rule;
  node->sequence = next_sequence();
  node->inputs = inputs;
  node->outputs = outputs;
  node->saves = saves;
  node->bytes = static_cast<uint32_t>(bytes);
  node->attr_offset = static_cast<uint32_t>(attr_offset);
  for (int i = 0; i < inputs; ++i) new (node->edges() + i) Edge;
  for (int i = 0; i < saves; ++i) new (node->saved() + i) Saved;
  count(slab::cache.live_nodes, 1);
  if (memory_elsewhere()) [[unlikely]]
    note_streams(node);
  return node;
}

// -- hooks ----------------------------------------------------------------------------------
std::vector<std::pair<int32_t, Ref<GradSlot>>> Node::retained() const {
  const StripeLock lock(this);
  return extra->retained;
}

Mutex& GradHook::links() {
  static Mutex* const mutex = new Mutex;  // nodes may end after static destructors have run
  return *mutex;
}

std::vector<Ref<GradHook>> Node::hooks(HookList NodeExtra::* list) const {
  const std::lock_guard lock(GradHook::links());
  return (extra->*list).snapshot();
}

NodeExtra::~NodeExtra() {
  for (auto* const list : {&tensor_hooks, &pre_hooks, &post_hooks, &accumulate_hooks})
    for (const Ref<GradHook>& hook : list->slots()) {
      if (!hook) continue;
      {
        const std::lock_guard lock(GradHook::links());
        hook->node = nullptr;
      }
      hook->end();
    }
}

void HookList::push_back(Ref<GradHook> hook) {
  hook->index = hooks_.size();
  hooks_.push_back(std::move(hook));
}

void HookList::remove(const GradHook& hook) {
  if (hook.index >= hooks_.size() || hooks_[hook.index].get() != &hook) return;
  const Ref<GradHook> last = std::move(hooks_[hook.index]);  // its end may come back here
  if (++removed_ * 2 < hooks_.size()) return;
  std::erase(hooks_, Ref<GradHook>());
  for (size_t i = 0; i < hooks_.size(); ++i) hooks_[i]->index = i;
  removed_ = 0;
}

std::vector<Ref<GradHook>> HookList::snapshot() const {
  std::vector<Ref<GradHook>> now;
  now.reserve(hooks_.size() - removed_);
  for (const Ref<GradHook>& hook : hooks_)
    if (hook) now.push_back(hook);
  return now;
}

// -- freeing --------------------------------------------------------------------------------

namespace {
struct Worklist {
  Node* head = nullptr;  // linked through `sequence`, which a dead node no longer needs
  bool running = false;
};
thread_local Worklist worklist;
}  // namespace

static void drop(Saved& slot) noexcept {
  if (slot.shell) Tensor::take(std::exchange(slot.shell, nullptr));
  if (HookedValue* const hooked = std::exchange(slot.hooked, nullptr)) {
    hooked->hooks->forget(hooked->packed);
    delete hooked;
  }
}

void release_saved(Node& node) noexcept {
  for (int i = 0; i < node.saves; ++i) drop(node.saved()[i]);
}

static void free_node(Node* node) noexcept {
  release_saved(*node);
  if (node->destroy_attr) node->destroy_attr(node->attr());
  for (int i = 0; i < node->inputs; ++i)
    if (Node* const next = node->edges()[i].node; next && next->drop()) destroy(next);
  delete node->extra;
  delete[] node->more_grads;
  count(slab::cache.live_nodes, -1);
  if (node->accumulator) {
    slab_delete(static_cast<Accumulator*>(node));
  } else {
    const size_t bytes = node->bytes;
    node->~Node();
    slab_free(node, bytes);
  }
}

void destroy(Node* node) noexcept {
  node->sequence = reinterpret_cast<uint64_t>(worklist.head);
  worklist.head = node;
  if (worklist.running) return;
  worklist.running = true;
  while (Node* const next = worklist.head) {
    worklist.head = reinterpret_cast<Node*>(next->sequence);
    free_node(next);
  }
  worklist.running = false;
}

}  // namespace libdl
