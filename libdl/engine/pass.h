// SPDX-License-Identifier: Apache-2.0

// One pass over a graph: how many gradients each node still waits for, and what has arrived.
#pragma once

#include <unordered_map>
#include <vector>

#include "tape/node.h"

namespace libdl {

// Scratch space of a node for one pass. It is in the node itself, unless another pass is running
// anywhere (concurrent or re-entrant): then it is in a table of this pass.
struct Scratch {
  int32_t waiting = 0;  // gradients still to come
  bool needed = true;   // leads to an input that was asked for
  std::vector<Tensor> grads;
};

// A node's identity as a target. A leaf that stopped requiring grad and started again has several
// accumulators: they count as one, identified by its .grad.
inline const void* target_of(const Node& node) {
  if (!node.accumulator) return &node;
  return static_cast<const Accumulator&>(node).slot.get();
}

class Pass {
 public:
  Pass();
  ~Pass();
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Counts how many gradients each node reachable from the roots waits for; if targets are given,
  // marks the nodes that lead to them.
  void prepare(std::span<Node* const> roots, std::span<Node* const> targets);

  int32_t& waiting(Node& node) { return own_ ? node.waiting : table_[&node].waiting; }
  bool& needed(Node& node) { return own_ ? node.needed : table_[&node].needed; }
  bool reached(Node& node) const {
    return own_ ? node.pass.load(std::memory_order_relaxed) == id_ : table_.count(&node) != 0;
  }
  // The gradient of the node's output k, in place.
  Tensor& grad(Node& node, int k) {
    if (!own_) return table_[&node].grads[k];
    return k == 0 ? node.first_grad : node.more_grads[k - 1];
  }

 private:
  bool visit(Node& node);  // true the first time
  void mark_needed(std::span<Node* const> roots, std::span<Node* const> targets);

  bool own_;
  uint64_t id_;
  std::vector<Node*> visited_;
  std::unordered_map<Node*, Scratch> table_;
};

}  // namespace libdl
