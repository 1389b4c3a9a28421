// SPDX-License-Identifier: Apache-2.0

// The host's own differentiable functions.

#include <libdl/autograd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "base/lock.h"
#include "capi/arguments.h"
#include "capi/callback.h"
#include "capi/history.h"
#include "capi/options.h"
#include "capi/returned.h"
#include "capi/scope.h"
#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/core/tangent.h"
#include "ops/pointwise/pointwise.h"
#include "tape/meta.h"
#include "tape/output_meta.h"

using namespace libdl;
using namespace libdl::capi;

struct libdl_backward_context : Counted {
  libdl_backward_context(Backward* b, Node* n, int32_t s)
      : Counted(Tag::kContext), backward(b), node(n), saves(s) {}
  Backward* backward;
  Node* node;
  int32_t saves;
};

namespace {

// What the node keeps of the function; the function's name is in the rule.
struct Custom {
  std::string name;
  Rule rule;
  Callback owner;
  libdl_function_backward backward;
  bool once_differentiable;
  std::vector<OutputMeta> inputs, outputs;
  // Of saved values that are neither inputs nor outputs, by their number.
  std::map<int, std::pair<Ref<Node>, int32_t>> histories;
};
struct CustomAttr {
  std::unique_ptr<Custom> custom;
};

void custom_vjp(Backward& b) {
  Custom& f = *b.attr<CustomAttr>().custom;
  if (b.create_graph() && f.once_differentiable)
    fail(LIBDL_ERROR_AUTOGRAD, f.name.c_str(),
         "is once differentiable, and a second derivative was asked for");
  libdl_backward_context context(&b, &b.node(), b.node().saves);
  std::vector<libdl_tensor*> places(f.inputs.size());
  std::vector<const libdl_tensor*> arrived;
  arrived.reserve(f.outputs.size());
  for (size_t k = 0; k < f.outputs.size(); ++k) arrived.push_back(b.dy(static_cast<int>(k)).get());
  const ScopePause outside;
  libdl_error* const error =
      f.backward(f.owner.ctx(), &context, arrived.data(), static_cast<int64_t>(arrived.size()),
                 places.data(), static_cast<int64_t>(places.size()));
  outside.returned(places);
  Returned given(places);
  check_returned(f.name.c_str(), error);
  check_gradients(f.name.c_str(), given);
  for (size_t i = 0; i < places.size(); ++i)
    if (given.tensors[i].defined() && b.needs(static_cast<int>(i)))
      b.set_grad(static_cast<int>(i),
                 fit_gradient(f.name.c_str(), i, f.inputs[i], std::move(given.tensors[i])));
}

// Where values come from: outputs first (those without a history are constants), inputs, or
// neither.
class Sources {
 public:
  Sources(TensorSpan inputs, TensorSpan outputs, auto carries) {
    for (size_t k = 0; k < outputs.size(); ++k)
      place_.try_emplace(outputs[k].get(),
                         carries(k) ? saved_output(static_cast<int>(k)) : kSavedConstant);
    for (size_t i = 0; i < inputs.size(); ++i)
      place_.try_emplace(inputs[i].get(), static_cast<int32_t>(i));
  }
  int32_t of(const Tensor& value) const {
    const auto at = place_.find(value.get());
    return at == place_.end() ? kSavedConstant : at->second;
  }

 private:
  std::unordered_map<const libdl_tensor*, int32_t> place_;
};

struct Recording {
  const char* name;
  TensorSpan inputs, outputs, saved;
  const libdl_bool* differentiable;

  bool wanted() const {
    if (!(state().mode & kModeGrad)) return false;
    for (const Tensor& x : inputs) {
      const Edge edge = history_of(x);
      if (Ref<Node>::take(edge.node)) return true;
    }
    return false;
  }
  bool carries(size_t k) const {
    return differentiable ? differentiable[k] != 0 && is_inexact(outputs[k].dtype())
                          : is_inexact(outputs[k].dtype());
  }
  bool written(size_t k) const {
    for (const Tensor& x : inputs)
      if (x.is(outputs[k])) return true;
    return false;
  }
  void run(std::unique_ptr<Custom> custom) const;
};

void Recording::run(std::unique_ptr<Custom> custom) const {
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (written(k) && carries(k))
      rename_error("function_record", {{"dst", "outputs"}},
                   [&] { check_recordable_write(outputs[k], name); });
    custom->outputs.push_back(meta_for(outputs[k]));
  }
  for (const Tensor& x : inputs) custom->inputs.push_back(meta_for(x));
  const Rule& rule = custom->rule;
  Custom& kept = *custom;
  Ref<Node> node = Ref<Node>::take(
      make_node(rule, static_cast<int>(inputs.size()), static_cast<int>(outputs.size()),
                static_cast<int>(saved.size()), CustomAttr{std::move(custom)}));
  std::vector<const Tensor*> operands;
  for (const Tensor& x : inputs) operands.push_back(&x);
  connect_inputs(*node, operands);
  if (!saved.empty()) {
    const Sources sources(inputs, outputs, [this](size_t k) { return carries(k); });
    for (size_t i = 0; i < saved.size(); ++i) {
      const int at = static_cast<int>(i);
      const int32_t source = sources.of(saved[i]);
      save(*node, at, saved[i], source);
      save_tangents_of(*node, at, saved[i]);
      if (source != kSavedConstant) continue;
      const Edge edge = history_of(saved[i]);
      if (Ref<Node> from = Ref<Node>::take(edge.node))
        kept.histories[at] = {std::move(from), edge.slot};
    }
  }
  std::vector<Rebase> made(outputs.size());  // all or none
  for (size_t k = 0; k < outputs.size(); ++k)
    if (carries(k)) {
      if (!written(k))
        prepare_history(outputs[k], *node, static_cast<int32_t>(k));
      else
        made[k] = Rebase(outputs[k], node, static_cast<int32_t>(k));
    }
  for (size_t k = 0; k < outputs.size(); ++k)
    if (carries(k)) {
      made[k].commit();
      if (!written(k)) commit_history(outputs[k], node, static_cast<int32_t>(k));
    }
}

}  // namespace

static Custom* custom_of(Node& node) {
  if (node.rule->vjp != custom_vjp) return nullptr;
  return static_cast<CustomAttr*>(node.attr())->custom.get();
}

void* libdl::capi::function_context(Node& node, void (*destroy)(void*)) {
  Custom* const custom = custom_of(node);
  return custom ? custom->owner.context(destroy) : nullptr;
}

// The leaf itself, where the value is one that its program still holds and that is what it was.
static Tensor leaf_of(Node& node, int i) {
  const Saved& place = node.saved()[i];
  Node* const from = place.source < 0 ? nullptr : node.edges()[place.source].node;
  if (!from || !from->accumulator || !place.shell) return {};
  Tensor leaf = static_cast<Accumulator*>(from)->share_leaf();
  if (!leaf.defined() || !leaf.meta() || leaf.meta()->duality) return {};
  const libdl_tensor& x = *leaf.get();
  const libdl_tensor& saved = *place.shell;
  const bool same = x.storage == saved.storage && x.offset == saved.offset &&
                    x.dtype == saved.dtype && x.ndim == saved.ndim &&
                    std::equal(x.dims, x.dims + 2 * x.ndim, saved.dims) &&
                    current_history(leaf).get() == from;
  return same ? leaf : Tensor();
}

// Saved value i of what the pass, or whoever asks between passes, sees of the node.
static Tensor saved_with_history(const Backward& b, int i) {
  Tensor made;
  const Tensor& value = b.saved(i, made, true);
  if (const Custom* const custom = custom_of(b.node())) {
    const auto at = custom->histories.find(i);
    if (at != custom->histories.end())
      return with_history(value, at->second.first.get(), at->second.second);
  }
  if (Tensor leaf = leaf_of(b.node(), i); leaf.defined()) return leaf;
  return value;
}

libdl_error* libdl_function_record(const libdl_function* function,
                                   const libdl_tensor* const* inputs, int64_t inputs_count,
                                   libdl_tensor* const* outputs, int64_t outputs_count,
                                   const libdl_bool* differentiable,
                                   const libdl_tensor* const* saved, int64_t saved_count,
                                   libdl_bool* recorded) {
  Callback owner = given_callback(function);
  return door("function_record", [&] {
    const char* const name = "function_record";
    const libdl_function f = read_options(name, function, "function");
    if (!function || !f.backward)
      fail_argument(LIBDL_ERROR_NULL, name, "function", "lacks backward", "a callback");
    const Recording recording{f.name ? f.name : "custom",
                              live_tensors(name, "inputs", inputs, inputs_count),
                              live_tensors(name, "outputs", outputs, outputs_count),
                              live_tensors(name, "saved", saved, saved_count), differentiable};
    const bool wanted = recording.wanted();
    if (wanted) {
      std::unique_ptr<Custom> custom(new Custom{recording.name,
                                                {},
                                                std::move(owner),
                                                f.backward,
                                                f.once_differentiable != 0,
                                                {},
                                                {},
                                                {}});
      custom->rule = {custom->name.c_str(), custom_vjp, f.without_gradients != 0};
      recording.run(std::move(custom));
    }
    if (recorded) *recorded = wanted;
  });
}

static std::string saved_range(int64_t count) {
  return count ? "0 to " + std::to_string(count - 1) : "a saved value: there is none";
}

static int checked_save(const char* name, libdl_backward_context* context, int64_t index,
                        libdl_tensor** out) {
  check_kind(name, "context", context, Tag::kContext);
  if (!out) fail_argument(LIBDL_ERROR_NULL, name, "out", "is NULL", "a place for the result");
  if (index < 0 || index >= context->saves)
    fail_argument(LIBDL_ERROR_INDEX, name, "index", "is " + std::to_string(index),
                  saved_range(context->saves));
  return static_cast<int>(index);
}

libdl_error* libdl_backward_context_saved(libdl_backward_context* context, int64_t index,
                                          libdl_tensor** out) {
  return door("backward_context_saved", [&] {
    const int i = checked_save("backward_context_saved", context, index, out);
    *out = hand_out(Tensor(context->backward->saved(i)));
  });
}

libdl_error* libdl_backward_context_saved_with_history(libdl_backward_context* context,
                                                       int64_t index, libdl_tensor** out) {
  return door("backward_context_saved_with_history", [&] {
    const int i = checked_save("backward_context_saved_with_history", context, index, out);
    *out = hand_out(saved_with_history(*context->backward, i));
  });
}

libdl_bool libdl_backward_context_needs(const libdl_backward_context* context, int64_t index) {
  return context && has_tag(context, Tag::kContext) && index >= 0 &&
         index < context->backward->inputs() && context->backward->needs(static_cast<int>(index));
}

libdl_error* libdl_backward_context_zeros(libdl_backward_context* context, int64_t index,
                                          libdl_tensor** out) {
  return door("backward_context_zeros", [&] {
    const char* const name = "backward_context_zeros";
    check_kind(name, "context", context, Tag::kContext);
    if (!out) fail_argument(LIBDL_ERROR_NULL, name, "out", "is NULL", "a place for the result");
    const auto& outputs = context->backward->attr<CustomAttr>().custom->outputs;
    if (index < 0 || index >= static_cast<int64_t>(outputs.size()))
      fail_argument(LIBDL_ERROR_INDEX, name, "index", "is " + std::to_string(index),
                    "0 to " + std::to_string(outputs.size() - 1));
    const OutputMeta& m = outputs[static_cast<size_t>(index)];
    *out = hand_out(zeros(m.shape, m.dtype, m.device));
  });
}

// -- between passes -------------------------------------------------------------------------------

void* libdl_node_function(const libdl_node* node, void (*destroy)(void*)) {
  return is_node(node) && destroy ? function_context(*node_of(node), destroy) : nullptr;
}

int32_t libdl_node_saved_count(const libdl_node* node) {
  return is_node(node) ? node_of(node)->saves : 0;
}

libdl_error* libdl_node_saved(const libdl_node* node, int32_t index, libdl_tensor** out) {
  return door("node_saved", [&] {
    const char* const name = "node_saved";
    Node* const n = node_of(node);
    check_kind(name, "node", n, Tag::kNode);
    if (!out) fail_argument(LIBDL_ERROR_NULL, name, "out", "is NULL", "a place for the result");
    if (index < 0 || index >= n->saves)
      fail_argument(LIBDL_ERROR_INDEX, name, "index", "is " + std::to_string(index),
                    saved_range(n->saves));
    const SavedReader reader(*n, false);
    *out = hand_out(saved_with_history(Backward(*n, {}, {}, {}, reader, false), index));
  });
}

// -- the running line -----------------------------------------------------------------------------

namespace {
struct SiteHook {
  void (*fn)(void* ctx, char* buffer, int64_t capacity);
  Callback owner;
};
std::atomic<SiteHook*> site_hook{nullptr};

std::string running_line() {
  char buffer[512] = "";
  if (SiteHook* const hook = site_hook.load())
    apart([&] { hook->fn(hook->owner.ctx(), buffer, sizeof buffer); });
  buffer[sizeof buffer - 1] = 0;
  return buffer;
}

// One copy of each line, never freed: a program has a limited number of lines.
const char* keep(const std::string& line) {
  static Mutex mutex;
  static auto* const lines = new std::set<std::string>;  // outlives every storage
  const std::lock_guard lock(mutex);
  return lines->insert(line).first->c_str();
}
}  // namespace

libdl_error* libdl_set_site_hook(void (*fn)(void* ctx, char* buffer, int64_t capacity), void* ctx,
                                 void (*destroy_ctx)(void* ctx)) {
  Callback owner(ctx, destroy_ctx);
  return door("set_site_hook", [&] {
    std::unique_ptr<SiteHook> made(fn ? new SiteHook{fn, std::move(owner)} : nullptr);
    const std::unique_ptr<SiteHook> old(site_hook.exchange(made.release()));
    creation_site = running_line;
    write_site = []() -> const char* {
      try {
        return keep(running_line());
      } catch (const std::bad_alloc&) {
        return nullptr;  // the write itself must not fail any more
      }
    };
  });
}
