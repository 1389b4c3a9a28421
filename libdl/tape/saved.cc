// SPDX-License-Identifier: Apache-2.0

#include "tape/saved.h"

#include <string>

#include "tape/meta.h"
#include "tape/output_meta.h"
#include "tape/tangent.h"
#include "tape/unpacked_once.h"
#include "tensor/export.h"

namespace libdl {

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
  if ((value.get()->flags & kInferenceTensor) && !(state().mode & kModeSavesInferenceTensors))
      [[unlikely]]
    fail(LIBDL_ERROR_AUTOGRAD, node.rule->name,
         "was given a tensor made in inference mode. Inference tensors cannot be saved for "
         "backward; "
         "use a clone() of it made outside of inference mode");
  Saved& slot = node.saved()[i];
  slot.source = source;
  if (saves_through_hooks() && !value.is_number()) {
    note_saved(value.storage());
    auto hooked = std::make_unique<HookedValue>(
        HookedValue{Ref<SavedHooks>::share(state().saved_hooks), nullptr, meta_for(value), {}});
    hooked->packed = hooked->hooks->pack(alias(value));
    slot.hooked = hooked.release();
    return;
  }
  slot.shell = alias(value).release();
  if (Storage* const storage = slot.shell->storage) {
    note_saved(*storage);
    if (storage->exports.load(std::memory_order_relaxed)) compare_exports(*storage);
    slot.version = saved_version(*slot.shell);
  }
}

Tensor saved_carrier(Node& node, int i) {
  Saved& slot = node.saved()[i];
  if (slot.shell) return borrow(slot.shell);
  if (!slot.hooked) return {};
  Tensor& carrier = slot.hooked->carrier;
  const OutputMeta& value = slot.hooked->value;
  const int64_t one[] = {1};
  if (!carrier.defined())
    carrier = alias(empty(one, value.dtype, value.device), value.shape,
                    Shape(value.shape.size(), 0), 0, value.dtype);
  return carrier;
}

constexpr uint32_t kReleased = 1u << 31;

SavedReader::SavedReader(Node& node, bool releases) : node_(node), releases_(releases) {
  if (!node.saves || node.keeps_saved) return;
  uint32_t now = node.readers.load(std::memory_order_relaxed);
  do {
    available_ = !(now & kReleased);
  } while (available_ && !node.readers.compare_exchange_weak(
                             now, now + 1, std::memory_order_acquire, std::memory_order_relaxed));
}

SavedReader::~SavedReader() {
  if (!node_.saves || node_.keeps_saved || !available_) return;
  const uint32_t mark = releases_ && done_ ? kReleased : 0;
  uint32_t now = node_.readers.load(std::memory_order_relaxed), next;
  do {
    next = (now | mark) - 1;
  } while (!node_.readers.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                                std::memory_order_relaxed));
  if (next == kReleased) release_saved(node_);
}

LIBDL_NORETURN [[gnu::cold]] static void overwritten(const Node& node, int i, const Saved& slot) {
  const Storage& storage = *slot.shell->storage;
  const char* const writer = storage.writer.load(std::memory_order_relaxed);
  const char* const site = storage.writer_site.load(std::memory_order_relaxed);
  std::string message = "a value that " + std::string(node.rule->name) + " saved for backward (" +
                        name_of(slot.shell->dtype) + " " +
                        to_string(Dims(slot.shell->dims, slot.shell->ndim)) + ", saved value " +
                        std::to_string(i) +
                        ") was modified by an in-place operation: it was overwritten by " +
                        (writer ? writer : "a write") + ", it is at version " +
                        std::to_string(saved_version(*slot.shell)) + ", expected version " +
                        std::to_string(slot.version);
  if (node.extra && !node.extra->site.empty()) message += "; saved at " + node.extra->site;
  if (site) message += "; written at " + std::string(site);
  if (!node.extra || node.extra->site.empty()) message += "; anomaly mode names the lines";
  fail(LIBDL_ERROR_VERSION, node.rule->name, message);
}

const Tensor& Backward::saved(int i, Tensor& buffer, bool history) const {
  if (!saved_.available())
    fail(LIBDL_ERROR_STATE, node_.rule->name,
         "its saved values were freed by an earlier backward; pass retain_graph=True to go "
         "backward through the graph a second time");
  const Saved& record = node_.saved()[i];
  if (record.hooked) {
    Tensor* const kept = UnpackedOnce::position_of(node_, i);
    buffer = kept && kept->defined() ? *kept : unpacked(node_, *record.hooked);
    if (kept) *kept = buffer;
    if (!history || record.source == kSavedConstant) return buffer;
    Node* const from = record.source >= 0 ? node_.edges()[record.source].node : &node_;
    const int32_t slot =
        record.source >= 0 ? node_.edges()[record.source].slot : -2 - record.source;
    if (from) buffer = with_history(buffer, from, slot);
    return buffer;
  }
  if (!record.shell) return buffer;
  Storage* const storage = record.shell->storage;
  if (storage && storage->exports.load(std::memory_order_relaxed)) check_exports(*storage);
  if (storage && saved_version(*record.shell) != record.version && record.shell->numel)
    overwritten(node_, i, record);
  const Tensor& value = borrow(record.shell);
  if (!history || record.source == kSavedConstant) return value;
  if (record.source >= 0) {
    const Edge& edge = node_.edges()[record.source];
    if (!edge.node) return value;
    buffer = with_history(value, edge.node, edge.slot);
  } else {
    buffer = with_history(value, &node_, -2 - record.source);
  }
  return buffer;
}

}  // namespace libdl
