// SPDX-License-Identifier: Apache-2.0

// Leaves, the backward pass and the graph.

#include <libdl/autograd.h>

#include <cstring>

#include "capi/arguments.h"
#include "capi/history.h"
#include "capi/options.h"
#include "capi/scope.h"
#include "engine/backward.h"
#include "engine/reach.h"
#include "entries/copy.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/view/fit.h"

struct libdl_node;  // a Node behind the handle

using namespace libdl;
using namespace libdl::capi;

static libdl_node* handle_of(Node* node) { return reinterpret_cast<libdl_node*>(node); }

// -- leaves ---------------------------------------------------------------------------------------

libdl_bool libdl_tensor_requires_grad(const libdl_tensor* tensor) {
  if (!is_live_tensor(tensor) || !tensor->meta) return 0;
  if (tensor->meta->view == ViewKind::kNone) return tensor->meta->node != nullptr;
  try {  // a view whose base was written to learns it here
    Edge edge = history_of(borrow(tensor));
    const Ref<Node> node = Ref<Node>::take(edge.node);
    return static_cast<bool>(node);
  } catch (...) {
    return tensor->meta->node != nullptr;
  }
}

libdl_bool libdl_tensor_is_leaf(const libdl_tensor* tensor) {
  if (!is_live_tensor(tensor)) return 0;
  if (!tensor->meta || tensor->meta->view == ViewKind::kNone) return is_leaf(borrow(tensor));
  try {  // the node of a view may be renewed by another reader meanwhile
    const Ref<Node> node = Ref<Node>::take(history_of(borrow(tensor)).node);
    return !node || node->accumulator;
  } catch (...) {
    return 0;
  }
}

libdl_error* libdl_tensor_set_requires_grad(libdl_tensor* tensor, libdl_bool on) {
  return door("tensor_set_requires_grad", [&] {
    check_tensor("tensor_set_requires_grad", "tensor", tensor);
    current_history(borrow(tensor));  // of a view whose base was written to: it learns it here
    set_requires_grad(borrow(tensor), on);
  });
}

// Programs of version 0.1 compare what it says of a view: "detach_: argument 1 (input) is a view".
libdl_error* libdl_tensor_detach_in_place(libdl_tensor* tensor) {
  return door("detach_", [&] {
    check_tensor("detach_", "tensor", tensor);
    detach_in_place(borrow(tensor));
  });
}

libdl_tensor* libdl_tensor_grad(const libdl_tensor* tensor) {
  return is_live_tensor(tensor) ? hand_further(get_grad(borrow(tensor))) : nullptr;
}

libdl_error* libdl_tensor_set_grad(libdl_tensor* tensor, libdl_tensor* grad) {
  return door("tensor_set_grad", [&] {
    check_tensor("tensor_set_grad", "tensor", tensor);
    if (grad) check_tensor("tensor_set_grad", "grad", grad);
    set_grad(borrow(tensor), Tensor::share(grad));
  });
}

libdl_error* libdl_tensor_retain_grad(libdl_tensor* tensor) {
  return door("tensor_retain_grad", [&] {
    check_tensor("tensor_retain_grad", "tensor", tensor);
    current_history(borrow(tensor));
    retain_grad(borrow(tensor));
  });
}

libdl_bool libdl_tensor_retains_grad(const libdl_tensor* tensor) {
  return is_live_tensor(tensor) && tensor->meta && tensor->meta->retains_grad;
}

// -- backward -------------------------------------------------------------------------------------

static BackwardOptions options_of(const char* name, const libdl_backward_options* given) {
  const libdl_backward_options o = read_options(name, given);
  return {o.retain_graph != 0, o.create_graph != 0, o.allow_unused != 0, o.materialize != 0,
          o.batched != 0};
}

libdl_error* libdl_backward(const libdl_tensor* const* outputs, int64_t outputs_count,
                            const libdl_tensor* const* gradients, int64_t gradients_count,
                            const libdl_tensor* const* inputs, int64_t inputs_count,
                            const libdl_backward_options* options) {
  return door("backward", [&] {
    const char* const name = "backward";
    const BackwardOptions how = options_of(name, options);
    if (how.batched)
      fail_argument(LIBDL_ERROR_UNSUPPORTED, name, "options", "asks for batches of gradients",
                    "batched = 0: libdl_grad computes batches");
    backward(live_tensors(name, "outputs", outputs, outputs_count),
             live_tensors(name, "gradients", gradients, gradients_count, kMostEntries, true),
             live_tensors(name, "inputs", inputs, inputs_count), how);
  });
}

libdl_error* libdl_grad(const libdl_tensor* const* outputs, int64_t outputs_count,
                        const libdl_tensor* const* inputs, int64_t inputs_count,
                        const libdl_tensor* const* gradients, int64_t gradients_count,
                        const libdl_backward_options* options, libdl_tensor_list** out) {
  return door("grad", [&] {
    const char* const name = "grad";
    if (!out) fail_argument(LIBDL_ERROR_NULL, name, "out", "is NULL", "a place for the result");
    *out = hand_out(
        grad(live_tensors(name, "outputs", outputs, outputs_count),
             live_tensors(name, "inputs", inputs, inputs_count),
             live_tensors(name, "gradients", gradients, gradients_count, kMostEntries, true),
             options_of(name, options)));
  });
}

// -- the graph ------------------------------------------------------------------------------------

libdl_node* libdl_tensor_node(const libdl_tensor* tensor, int32_t* slot) {
  if (!is_live_tensor(tensor)) return nullptr;
  try {
    const Edge edge = maker_of(borrow(tensor));
    if (slot && edge.node) *slot = edge.slot;
    return handle_of(edge.node);
  } catch (...) {
    return nullptr;
  }
}

libdl_node* libdl_node_retain(libdl_node* node) {
  if (!is_kind("libdl_node_retain", "node", node, Tag::kNode)) return nullptr;
  node_of(node)->retain();
  return node;
}

void libdl_node_release(libdl_node* node) {
  if (is_kind("libdl_node_release", "node", node, Tag::kNode) && node_of(node)->drop())
    destroy(node_of(node));
}

const char* libdl_node_name(const libdl_node* node) {
  return is_node(node) ? node_of(node)->rule->name : "";
}

int32_t libdl_node_input_count(const libdl_node* node) {
  return is_node(node) ? node_of(node)->inputs : 0;
}

libdl_node* libdl_node_input(const libdl_node* node, int32_t index, int32_t* slot) {
  if (!is_node(node) || index < 0 || index >= node_of(node)->inputs) return nullptr;
  const Edge& edge = node_of(node)->edges()[index];
  if (!edge.node) return nullptr;
  if (slot) *slot = edge.slot;
  edge.node->retain();
  return handle_of(edge.node);
}

libdl_tensor* libdl_node_leaf(const libdl_node* node) {
  if (!is_node(node) || !node_of(node)->accumulator) return nullptr;
  return hand_further(static_cast<Accumulator*>(node_of(node))->share_leaf());
}

libdl_bool libdl_history_beyond(const libdl_tensor* const* outputs, int64_t outputs_count,
                                const libdl_tensor* const* leaves, int64_t leaves_count) {
  try {
    const char* const name = "history_beyond";
    return reaches_others(live_tensors(name, "outputs", outputs, outputs_count),
                          live_tensors(name, "leaves", leaves, leaves_count));
  } catch (...) {
    return 1;
  }
}

const char* libdl_node_site(const libdl_node* node) {
  return is_node(node) && node_of(node)->extra ? node_of(node)->extra->site.c_str() : "";
}

// -- modes ----------------------------------------------------------------------------------------

static libdl_bool set_mode(uint32_t bit, bool on) {
  State& s = state();
  const bool before = s.mode & bit;
  s.mode = on ? s.mode | bit : s.mode & ~bit;
  return before;
}

// Inference mode outranks grad mode: while it is on, the requested grad mode is kept aside.
libdl_bool libdl_grad_enabled(void) { return (state().mode & (kModeGrad | kModeGradAside)) != 0; }
libdl_bool libdl_set_grad_enabled(libdl_bool enabled) {
  return set_mode(state().mode & kModeInference ? kModeGradAside : kModeGrad, enabled);
}

libdl_bool libdl_inference_mode(void) { return (state().mode & kModeInference) != 0; }
libdl_bool libdl_set_inference_mode(libdl_bool enabled) {
  const bool grad = libdl_grad_enabled();
  set_mode(kModeGrad, grad && !enabled);
  set_mode(kModeGradAside, grad && enabled);
  const bool forward = state().mode & (kModeForward | kModeForwardAside);
  set_mode(kModeForward, forward && !enabled && state().dual_level);
  set_mode(kModeForwardAside, forward && enabled);
  return set_mode(kModeInference, enabled);
}

libdl_bool libdl_records_inference_tensors(void) {
  return (state().mode & kModeSavesInferenceMade) != 0;
}
libdl_bool libdl_set_records_inference_tensors(libdl_bool enabled) {
  return set_mode(kModeSavesInferenceMade, enabled);
}

libdl_bool libdl_anomaly_mode(void) { return (state().mode & kModeAnomaly) != 0; }
libdl_bool libdl_set_anomaly_mode(libdl_bool enabled) { return set_mode(kModeAnomaly, enabled); }
libdl_bool libdl_anomaly_check_nan(void) { return (state().mode & kModeAcceptNan) == 0; }
libdl_bool libdl_set_anomaly_check_nan(libdl_bool enabled) {
  return !set_mode(kModeAcceptNan, !enabled);
}
