// SPDX-License-Identifier: Apache-2.0

// One walk over a graph: which nodes wait for how many gradients, and what has arrived.
#pragma once

#include <unordered_map>
#include <vector>

#include "tape/node.h"

namespace libdl {

// Scratch of a node for this pass. It stands in the node itself, unless another pass is running
// anywhere (concurrent or re-entrant): then in a table of this pass.
struct Scratch {
  int32_t waiting = 0;  // gradients still to come
  bool wanted = true;   // leads to an input that was asked for
  std::vector<Tensor> grads;
};

// What a node is as a target. A leaf that stopped requiring grad and began again has an accumulator
// of each time: they are one, told by its .grad.
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

  // Counts what each node reachable from the roots waits for; marks the wanted ones where targets
  // are given.
  void prepare(std::span<Node* const> roots, std::span<Node* const> targets);

  int32_t& waiting(Node& node) { return own_ ? node.waiting : table_[&node].waiting; }
  bool& wanted(Node& node) { return own_ ? node.wanted : table_[&node].wanted; }
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
  void mark_wanted(std::span<Node* const> roots, std::span<Node* const> targets);

  bool own_;
  uint64_t id_;
  std::vector<Node*> visited_;
  std::unordered_map<Node*, Scratch> table_;
};

}  // namespace libdl
