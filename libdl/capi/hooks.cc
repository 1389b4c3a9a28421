// SPDX-License-Identifier: Apache-2.0

// Hooks on gradients and saved values, as C callbacks.

#include <libdl/autograd.h>

#include <optional>

#include "base/lock.h"
#include "capi/callback.h"
#include "capi/door.h"
#include "capi/history.h"
#include "capi/options.h"
#include "capi/returned.h"
#include "capi/scope.h"
#include "ops/view/fit.h"
#include "tape/meta.h"
#include "tape/saved.h"

using namespace libdl;
using namespace libdl::capi;

namespace {

// A gradient hook of the host's. Gradients are passed in plain arrays of references, which the
// callback may replace.
struct CallbackHook final : GradHook {
  std::optional<Callback> owner;  // while the node lives: a handle of the hook keeps no context
  libdl_gradient_hook fn;
  libdl_hook_kind kind;
  Accumulator* leaf = nullptr;  // ACCUMULATED: borrowed from the node that holds the hook

  CallbackHook(Callback c, libdl_gradient_hook f, libdl_hook_kind k)
      : owner(std::move(c)), fn(f), kind(k) {}

  void* context(void (*destroy)(void*)) const override {
    return owner ? owner->context(destroy) : nullptr;
  }
  void end() noexcept override { owner.reset(); }
  void run(std::span<Tensor> gradients, std::span<const Tensor> incoming) override {
    if (kind == LIBDL_HOOK_ACCUMULATED) return show_leaf();
    call(gradients, incoming);
  }

 private:
  // The reference in the array is the callback's to exchange, as a gradient is; the leaf is not.
  void show_leaf() {
    Tensor shown = leaf->share_leaf();
    if (!shown.defined()) return;
    const libdl_tensor* const given = shown.get();
    call({&shown, 1}, {});
    if (shown.get() == given) return;
    fail(LIBDL_ERROR_VALUE, "accumulate",
         std::string("a hook put ") + (shown.defined() ? "another tensor" : "no tensor") +
             " in place 1, wanted the leaf, which it cannot replace");
  }

  void call(std::span<Tensor> gradients, std::span<const Tensor> incoming) {
    const ScopePause outside(true);
    // Tensor is one pointer: the array goes out as it is. What comes back is taken over before
    // anything can throw.
    auto* const handles = reinterpret_cast<libdl_tensor**>(gradients.data());
    auto* const arrived = reinterpret_cast<libdl_tensor* const*>(incoming.data());
    libdl_error* const error = fn(owner->ctx(), handles, static_cast<int64_t>(gradients.size()),
                                  arrived, static_cast<int64_t>(incoming.size()));
    outside.returned({handles, gradients.size()});
    const libdl_tensor* other = nullptr;
    for (size_t i = 0; i < gradients.size(); ++i) {
      libdl_tensor* const found = handles[i];
      if (!found || is_live_tensor(found)) continue;
      if (!has_tag(found, Tag::kTensor)) handles[i] = nullptr;  // not ours to release
      if (!other) other = found;
    }
    check_returned("hook", error);
    if (other) check_tensor("hook", "gradients", other);
  }
};

}  // namespace

struct libdl_hook : Handle<libdl_hook> {
  libdl_hook(Ref<GradHook> h, libdl_hook_kind k)
      : Handle(Tag::kHook), hook(std::move(h)), kind(k) {}
  Ref<GradHook> hook;
  libdl_hook_kind kind;
};

static void destroy(libdl_hook* handle) { delete handle; }

static HookList& list_of(Node& node, libdl_hook_kind kind) {
  switch (kind) {
    case LIBDL_HOOK_TENSOR: return node.more().tensor_hooks;
    case LIBDL_HOOK_NODE_PRE: return node.more().pre_hooks;
    case LIBDL_HOOK_NODE_POST: return node.more().post_hooks;
    default: return node.more().accumulate_hooks;
  }
}

static libdl_hook* attach(const Ref<Node>& node, int32_t slot, libdl_hook_kind kind,
                          libdl_gradient_hook fn, Callback owner) {
  auto* const made = new CallbackHook(std::move(owner), fn, kind);
  Ref<GradHook> hook = Ref<GradHook>::take(made);
  made->slot = slot;
  if (node->accumulator) made->leaf = static_cast<Accumulator*>(node.get());
  Ref<libdl_hook> handle = Ref<libdl_hook>::take(new libdl_hook(hook, kind));
  const std::lock_guard lock(GradHook::links());
  list_of(*node, kind).push_back(std::move(hook));
  made->node = node.get();
  return handle.release();
}

static void require(const char* name, libdl_gradient_hook fn, libdl_hook** out) {
  if (!fn) fail_argument(LIBDL_ERROR_NULL, name, "fn", "is NULL", "a callback");
  if (!out) fail_argument(LIBDL_ERROR_NULL, name, "out", "is NULL", "a place for the result");
}

libdl_error* libdl_tensor_add_hook(const libdl_tensor* tensor, libdl_hook_kind kind,
                                   libdl_gradient_hook fn, void* ctx, void (*destroy_ctx)(void*),
                                   libdl_hook** out) {
  Callback owner(ctx, destroy_ctx);
  return door("tensor_add_hook", [&] {
    const char* const name = "tensor_add_hook";
    check_tensor(name, "tensor", tensor);
    require(name, fn, out);
    if (kind != LIBDL_HOOK_TENSOR && kind != LIBDL_HOOK_ACCUMULATED)
      fail_argument(LIBDL_ERROR_VALUE, name, "kind", "is " + std::to_string(kind),
                    "LIBDL_HOOK_TENSOR or LIBDL_HOOK_ACCUMULATED");
    const Edge edge = maker_of(borrow(tensor));
    Ref<Node> node = Ref<Node>::take(edge.node);
    if (!node)
      fail_argument(LIBDL_ERROR_AUTOGRAD, name, "tensor", "does not require grad",
                    "a tensor that does");
    if (kind == LIBDL_HOOK_ACCUMULATED && !node->accumulator)
      fail_argument(LIBDL_ERROR_AUTOGRAD, name, "tensor", "is not a leaf",
                    "a leaf that requires grad");
    *out = attach(node, edge.slot, kind, fn, std::move(owner));
  });
}

libdl_error* libdl_node_add_hook(libdl_node* node, libdl_hook_kind kind, libdl_gradient_hook fn,
                                 void* ctx, void (*destroy_ctx)(void*), libdl_hook** out) {
  Callback owner(ctx, destroy_ctx);
  return door("node_add_hook", [&] {
    const char* const name = "node_add_hook";
    auto* const n = reinterpret_cast<Node*>(node);
    check_kind(name, "node", n, Tag::kNode);
    require(name, fn, out);
    if (kind != LIBDL_HOOK_NODE_PRE && kind != LIBDL_HOOK_NODE_POST)
      fail_argument(LIBDL_ERROR_VALUE, name, "kind", "is " + std::to_string(kind),
                    "LIBDL_HOOK_NODE_PRE or LIBDL_HOOK_NODE_POST");
    *out = attach(Ref<Node>::share(n), 0, kind, fn, std::move(owner));
  });
}

void libdl_hook_remove(libdl_hook* handle) {
  if (!is_kind("libdl_hook_remove", "hook", handle, Tag::kHook) || !handle->hook) return;
  const Ref<GradHook> hook = std::move(handle->hook);  // its end may run the host's code: last
  const std::lock_guard lock(GradHook::links());
  if (!hook->node) return;
  list_of(*hook->node, handle->kind).remove(*hook);
  hook->node = nullptr;
}

void libdl_hook_release(libdl_hook* handle) {
  if (is_kind("libdl_hook_release", "hook", handle, Tag::kHook) && handle->drop()) destroy(handle);
}

// -- contexts, for collectors ---------------------------------------------------------------------

// The node whose hooks and function end with the handle, if nobody else holds either.
static Node* own_node(const libdl_tensor* tensor) {
  if (!is_live_tensor(tensor) || tensor->count() != 1 || !tensor->meta) return nullptr;
  const Meta& meta = *tensor->meta;
  Node* const node = meta.node ? meta.node : meta.grad ? meta.grad->stopped : nullptr;
  return node && node->count() == 1 ? node : nullptr;
}

int32_t libdl_tensor_visit_contexts(const libdl_tensor* tensor, void (*destroy)(void*),
                                    int32_t (*visit)(void* ctx, void* arg), void* arg) {
  Node* const node = own_node(tensor);
  if (!node || !destroy || !visit) return 0;
  const auto show = [&](void* ctx) {
    int32_t stop = 0;
    apart([&] { stop = visit(ctx, arg); });
    return stop;
  };
  if (void* const ctx = function_context(*node, destroy))
    if (const int32_t stop = show(ctx)) return stop;
  if (!node->extra) return 0;
  const NodeExtra& extra = *node->extra;
  for (const auto* list :
       {&extra.tensor_hooks, &extra.pre_hooks, &extra.post_hooks, &extra.accumulate_hooks})
    for (const Ref<GradHook>& hook : list->places())
      if (void* const ctx = hook ? hook->context(destroy) : nullptr)
        if (const int32_t stop = show(ctx)) return stop;
  return 0;
}

void libdl_tensor_drop_hooks(libdl_tensor* tensor, void (*destroy)(void*)) {
  if (!is_kind("libdl_tensor_drop_hooks", "tensor", tensor, Tag::kTensor)) return;
  Node* const node = own_node(tensor);
  if (!node || !node->extra || !destroy) return;
  const Ref<Node> held = Ref<Node>::share(node);  // the ends below may give the tensor up
  NodeExtra& extra = *node->extra;
  for (auto* list :
       {&extra.tensor_hooks, &extra.pre_hooks, &extra.post_hooks, &extra.accumulate_hooks})
    for (size_t i = list->places().size(); i-- > 0;) {
      const Ref<GradHook> hook = i < list->places().size() ? list->places()[i] : Ref<GradHook>();
      if (!hook || !hook->context(destroy)) continue;
      const std::lock_guard lock(GradHook::links());
      list->remove(*hook);
      hook->node = nullptr;
    }
}

// -- saved values ---------------------------------------------------------------------------------

namespace {

struct CallbackSavedHooks final : SavedHooks {
  libdl_saved_hooks f;
  Callback owner;
  CallbackSavedHooks(const libdl_saved_hooks& given, Callback&& destroy)
      : f(given), owner(std::move(destroy)) {}
  void* pack(const Tensor& value) override {
    // The hook must not be called for what it computes itself.
    const SavedHooksPause pause;
    const ScopePause outside;
    void* packed = nullptr;
    check_returned("pack", f.pack(f.ctx, value.get(), &packed));
    return packed;
  }
  Tensor unpack(void* packed) override {
    const ScopePause outside;
    libdl_tensor* value = nullptr;
    libdl_error* const error = f.unpack(f.ctx, packed, &value);
    outside.returned({&value, 1});
    Returned given({&value, 1});
    check_returned("unpack", error);
    if (!given.wrong.empty())
      fail(LIBDL_ERROR_CALLBACK, "unpack",
           "the hook left place " + given.wrong + ", wanted a tensor");
    if (!given.tensors[0].defined())
      fail(LIBDL_ERROR_CALLBACK, "unpack", "the hook returned no tensor");
    return std::move(given.tensors[0]);
  }
  void forget(void* packed) noexcept override {
    if (f.forget) contained([&] { f.forget(f.ctx, packed); });
  }
};

}  // namespace

libdl_error* libdl_saved_hooks_push(const libdl_saved_hooks* hooks) {
  Callback owner = given_callback(hooks);
  return door("saved_hooks_push", [&] {
    const char* const name = "saved_hooks_push";
    const libdl_saved_hooks given = read_options(name, hooks, "hooks");
    if (!hooks || !given.pack || !given.unpack)
      fail_argument(LIBDL_ERROR_NULL, name, "hooks", "lacks pack or unpack", "both callbacks");
    attach_to(state());
    push_saved_hooks(Ref<SavedHooks>::take(new CallbackSavedHooks(given, std::move(owner))));
  });
}

libdl_error* libdl_saved_hooks_pop(void) {
  return door("saved_hooks_pop", [&] {
    if (!pop_saved_hooks()) fail(LIBDL_ERROR_STATE, "saved_hooks_pop", "no hooks are pushed");
  });
}
