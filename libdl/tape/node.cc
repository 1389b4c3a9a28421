// SPDX-License-Identifier: Apache-2.0

#include "tape/node.h"

#include <map>
#include <mutex>
#include <string_view>

#include "base/slab.h"
#include "device/device.h"
#include "tape/meta.h"
#include "tape/output_meta.h"
#include "tape/unpacked_once.h"
#include "tensor/export.h"

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
  Ref<Node> made = Ref<Node>::take(node);
  made->more().streams = Streams::share(current);
  made.release();
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
    for (const Ref<GradHook>& hook : list->places()) {
      if (!hook) continue;
      {
        const std::lock_guard lock(GradHook::links());
        hook->node = nullptr;
      }
      hook->end();
    }
}

void HookList::push_back(Ref<GradHook> hook) {
  hook->place = hooks_.size();
  hooks_.push_back(std::move(hook));
}

void HookList::remove(const GradHook& hook) {
  if (hook.place >= hooks_.size() || hooks_[hook.place].get() != &hook) return;
  const Ref<GradHook> last = std::move(hooks_[hook.place]);  // its end may come back here
  if (++removed_ * 2 < hooks_.size()) return;
  std::erase(hooks_, Ref<GradHook>());
  for (size_t i = 0; i < hooks_.size(); ++i) hooks_[i]->place = i;
  removed_ = 0;
}

std::vector<Ref<GradHook>> HookList::snapshot() const {
  std::vector<Ref<GradHook>> now;
  now.reserve(hooks_.size() - removed_);
  for (const Ref<GradHook>& hook : hooks_)
    if (hook) now.push_back(hook);
  return now;
}

// -- hooks on saved values --------------------------------------------------------------------

struct SavedHookStack {
  std::vector<Ref<SavedHooks>> hooks;
  int paused = 0;
};

static void choose_hooks(State& s) {
  const SavedHookStack& stack = *s.saved_hook_stack;
  s.saved_hooks = stack.paused || stack.hooks.empty() ? nullptr : stack.hooks.back().get();
}
void push_saved_hooks(Ref<SavedHooks> hooks) {
  State& s = state();
  if (!s.saved_hook_stack) s.saved_hook_stack = new SavedHookStack;
  s.saved_hook_stack->hooks.push_back(std::move(hooks));
  choose_hooks(s);
}
bool pop_saved_hooks() {
  State& s = state();
  if (!s.saved_hook_stack || s.saved_hook_stack->hooks.empty()) return false;
  const Ref<SavedHooks> last = std::move(s.saved_hook_stack->hooks.back());
  s.saved_hook_stack->hooks.pop_back();
  choose_hooks(s);
  return true;
}
bool saves_through_hooks() { return state().saved_hooks != nullptr; }
void release_saved_hooks(State& ending) {
  ending.saved_hooks = nullptr;
  delete std::exchange(ending.saved_hook_stack, nullptr);
}

SavedHooksPause::SavedHooksPause() : state_(Ref<State>::share(&state())) {
  if (!state_->saved_hook_stack) state_->saved_hook_stack = new SavedHookStack;
  ++state_->saved_hook_stack->paused;
  choose_hooks(*state_);
}
SavedHooksPause::~SavedHooksPause() {
  --state_->saved_hook_stack->paused;
  choose_hooks(*state_);
}

struct HookedValue {
  Ref<SavedHooks> hooks;
  void* packed = nullptr;
  OutputMeta value;  // what unpack has to give back
  Tensor carrier;    // one element seen in the value's shape: it holds the tangents

  explicit HookedValue(const Tensor& x)
      : hooks(Ref<SavedHooks>::share(state().saved_hooks)), value(meta_for(x)) {}
};

// Rules read what comes back by the shape and dtype that they saved.
static Tensor unpacked(const Node& node, const HookedValue& hooked) {
  const char* const op = node.rule->name;
  Tensor x = hooked.hooks->unpack(hooked.packed);
  const auto bad = [&](libdl_error_code code, const std::string& found,
                       const std::string& wanted LIBDL_SOURCE_LOCATION) {
    fail(code, op,
         "the unpack hook of a saved value returned " + found + ", wanted " +
             wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  if (!x.defined() || x.is_number()) bad(LIBDL_ERROR_NULL, "no tensor", "the value");
  if (const auto wrong = mismatch(x, hooked.value)) bad(wrong->code, wrong->found, wrong->wanted);
  if (!hooked.carrier.defined() || !(state().mode & kModeForward)) return x;
  const Tensor dual = alias(x);
  share_cells(hooked.carrier, dual);
  return dual;
}

// From now on an export of the bytes, a hook's own among them, is a write only if it changes them.
static void note_saved(Storage& storage) {
  if (!storage.saved.load(std::memory_order_relaxed))
    storage.saved.store(true, std::memory_order_relaxed);
}

void save(Node& node, int i, const Tensor& value, int32_t source) {
  if (!value.defined()) return;
  if ((value.get()->flags & kInferenceMade) && !(state().mode & kModeSavesInferenceMade))
      [[unlikely]]
    fail(LIBDL_ERROR_AUTOGRAD, node.rule->name,
         "was given a tensor made in inference mode. Inference tensors cannot be saved for "
         "backward; "
         "use a clone() of it made outside of inference mode");
  Saved& place = node.saved()[i];
  place.source = source;
  if (saves_through_hooks() && !value.is_number()) {
    note_saved(value.storage());
    auto hooked = std::make_unique<HookedValue>(value);
    hooked->packed = hooked->hooks->pack(alias(value));
    place.hooked = hooked.release();
    return;
  }
  place.shell = alias(value).release();
  if (Storage* const storage = place.shell->storage) {
    note_saved(*storage);
    if (storage->exports.load(std::memory_order_relaxed)) compare_exports(*storage);
    place.version = saved_version(*place.shell);
  }
}

Tensor saved_carrier(Node& node, int i) {
  Saved& place = node.saved()[i];
  if (place.shell) return borrow(place.shell);
  if (!place.hooked) return {};
  Tensor& carrier = place.hooked->carrier;
  const OutputMeta& value = place.hooked->value;
  const int64_t one[] = {1};
  if (!carrier.defined())
    carrier = alias(empty(one, value.dtype, value.device), value.shape,
                    Shape(value.shape.size(), 0), 0, value.dtype);
  return carrier;
}

static void drop(Saved& place) noexcept {
  if (place.shell) Tensor::take(std::exchange(place.shell, nullptr));
  if (HookedValue* const hooked = std::exchange(place.hooked, nullptr)) {
    hooked->hooks->forget(hooked->packed);
    delete hooked;
  }
}

static void release_saved(Node& node) noexcept {
  for (int i = 0; i < node.saves; ++i) drop(node.saved()[i]);
}

constexpr uint32_t kReleased = 1u << 31;

SavedReader::SavedReader(Node& node, bool releases) : node_(node), releases_(releases) {
  if (!node.saves || node.keeps_saved) return;
  uint32_t now = node.readers.load(std::memory_order_relaxed);
  do {
    found_ = !(now & kReleased);
  } while (found_ && !node.readers.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                                         std::memory_order_relaxed));
}

SavedReader::~SavedReader() {
  if (!node_.saves || node_.keeps_saved || !found_) return;
  const uint32_t mark = releases_ && done_ ? kReleased : 0;
  uint32_t now = node_.readers.load(std::memory_order_relaxed), next;
  do {
    next = (now | mark) - 1;
  } while (!node_.readers.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                                std::memory_order_relaxed));
  if (next == kReleased) release_saved(node_);
}

LIBDL_NORETURN [[gnu::cold]] static void overwritten(const Node& node, int i, const Saved& place) {
  const Storage& storage = *place.shell->storage;
  const char* const writer = storage.writer.load(std::memory_order_relaxed);
  const char* const site = storage.writer_site.load(std::memory_order_relaxed);
  std::string message = "a value that " + std::string(node.rule->name) + " saved for backward (" +
                        name_of(place.shell->dtype) + " " +
                        to_string(Dims(place.shell->dims, place.shell->ndim)) + ", saved value " +
                        std::to_string(i) +
                        ") was modified by an in-place operation: it was overwritten by " +
                        (writer ? writer : "a write") + ", it is at version " +
                        std::to_string(saved_version(*place.shell)) + ", expected version " +
                        std::to_string(place.version);
  if (node.extra && !node.extra->site.empty()) message += "; saved at " + node.extra->site;
  if (site) message += "; written at " + std::string(site);
  if (!node.extra || node.extra->site.empty()) message += "; anomaly mode names the lines";
  fail(LIBDL_ERROR_VERSION, node.rule->name, message);
}

static thread_local UnpackedOnce* unpacked_once = nullptr;
UnpackedOnce::UnpackedOnce(const Node& node)
    : node_(node), outer_(std::exchange(unpacked_once, this)), values_(node.saves) {}
UnpackedOnce::~UnpackedOnce() { unpacked_once = outer_; }
Tensor* UnpackedOnce::place_of(const Node& node, int i) {
  UnpackedOnce* const at = unpacked_once;
  return at && &at->node_ == &node ? &at->values_[i] : nullptr;
}

const Tensor& Backward::saved(int i, Tensor& made, bool history) const {
  if (!saved_.found())
    fail(LIBDL_ERROR_STATE, node_.rule->name,
         "its saved values were freed by an earlier backward; pass retain_graph=True to go "
         "backward through the graph a second time");
  const Saved& place = node_.saved()[i];
  if (place.hooked) {
    Tensor* const kept = UnpackedOnce::place_of(node_, i);
    made = kept && kept->defined() ? *kept : unpacked(node_, *place.hooked);
    if (kept) *kept = made;
    if (!history || place.source == kSavedConstant) return made;
    Node* const from = place.source >= 0 ? node_.edges()[place.source].node : &node_;
    const int32_t slot = place.source >= 0 ? node_.edges()[place.source].slot : -2 - place.source;
    if (from) made = with_history(made, from, slot);
    return made;
  }
  if (!place.shell) return made;
  Storage* const storage = place.shell->storage;
  if (storage && storage->exports.load(std::memory_order_relaxed)) check_exports(*storage);
  if (storage && saved_version(*place.shell) != place.version && place.shell->numel)
    overwritten(node_, i, place);
  const Tensor& value = borrow(place.shell);
  if (!history || place.source == kSavedConstant) return value;
  if (place.source >= 0) {
    const Edge& edge = node_.edges()[place.source];
    if (!edge.node) return value;
    made = with_history(value, edge.node, edge.slot);
  } else {
    made = with_history(value, &node_, -2 - place.source);
  }
  return made;
}

// -- freeing --------------------------------------------------------------------------------

namespace {
struct Worklist {
  Node* head = nullptr;  // linked through `sequence`, which a dead node no longer needs
  bool running = false;
};
thread_local Worklist worklist;
}  // namespace

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
