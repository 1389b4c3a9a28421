// SPDX-License-Identifier: Apache-2.0

// The current history of a tensor's value.
#pragma once

#include "ops/core/call.h"

namespace libdl::capi {

// The node that made the value, or a leaf's accumulator; NULL without history. For a view whose
// base has been written to since by a recorded operation, the updated history.
inline Ref<Node> current_history(const Tensor& x) { return Ref<Node>::take(history_of(x).node); }

// The ctx of the host function that the node belongs to, if its destroy is this one; else NULL.
void* function_context(Node& node, void (*destroy)(void*));

}  // namespace libdl::capi
