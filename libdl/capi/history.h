// SPDX-License-Identifier: Apache-2.0

// The current history of a tensor's value.
#pragma once

#include <libdl/autograd.h>

#include "ops/core/call.h"

namespace libdl::capi {

// The node that made the value, or a leaf's accumulator; NULL without history. For a view whose
// base has been written to since by a recorded operation, the updated history.
inline Ref<Node> current_history(const Tensor& x) { return Ref<Node>::take(history_of(x).node); }

// The node behind a handle, and whether the handle is one of a node.
inline Node* node_of(const libdl_node* handle) {
  return reinterpret_cast<Node*>(const_cast<libdl_node*>(handle));
}
inline bool is_node(const libdl_node* handle) {
  return handle && node_of(handle)->tag() == Tag::kNode;
}

// The ctx of the host function that the node belongs to, if its destroy is this one; else NULL.
void* function_context(Node& node, void (*destroy)(void*));

}  // namespace libdl::capi
