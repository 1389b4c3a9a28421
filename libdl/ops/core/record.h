// SPDX-License-Identifier: Apache-2.0

// The recorder. What records a node (a call, a pointwise operator, a view, the parts of one, a
// function or an operator of the host's) makes it with make_node (tape/node.h), connects its inputs
// and saves values; then it becomes the maker of its results. All of that happens before a result
// is seen, so a failure on the way leaves no trace.
#pragma once

#include <string>

#include "device/state.h"
#include "tape/meta.h"

namespace libdl {

// Where the gradient of x goes; updates the history of a view whose base was written to. The node
// is retained for the caller.
Edge history_of(const Tensor& x);

// In anomaly mode: asks the host for its current line, e.g. 'File "train.py", line 12'.
extern std::string (*creation_site)();

namespace record_detail {
void keep_site(Node& node);
}  // namespace record_detail

// Of a node that records a call: its edges lead to the histories of the inputs, or to where the
// given edges lead, whose references are taken. An input that is NULL or undefined has none. In
// anomaly mode the node keeps the host's line.
inline void connect_inputs(Node& node, std::span<const Tensor* const> inputs) {
  if (state().mode & kModeAnomaly) [[unlikely]]
    record_detail::keep_site(node);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] && inputs[i]->defined()) node.edges()[i] = history_of(*inputs[i]);
}
inline void connect_inputs(Node& node, std::span<Edge> edges) {
  if (state().mode & kModeAnomaly) [[unlikely]]
    record_detail::keep_site(node);
  for (size_t i = 0; i < edges.size(); ++i) node.edges()[i] = std::exchange(edges[i], {});
}

// y, which nobody has seen yet and whose meta is given, becomes output `slot` of the node.
inline void set_maker(Meta& y, Ref<Node> node, int32_t slot = 0) {
  y.node = node.release();
  y.slot = slot;
}
inline void set_maker(const Tensor& y, Ref<Node> node, int32_t slot = 0) {
  set_maker(meta_of(y), std::move(node), slot);
}

}  // namespace libdl
