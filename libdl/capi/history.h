// SPDX-License-Identifier: Apache-2.0

// Whether a tensor's value has a history.
#pragma once

#include "ops/core/call.h"

namespace libdl::capi {

// What made it, or a leaf's accumulator; NULL without history. Of a view whose base was written to
// by a recorded operation since, the history as it is now.
inline Ref<Node> current_history(const Tensor& x) { return Ref<Node>::take(history_of(x).node); }

// The context of the host's function that the node is of, if its destroy is this one; else NULL.
void* function_context(Node& node, void (*destroy)(void*));

}  // namespace libdl::capi
