// SPDX-License-Identifier: Apache-2.0

#include "engine/pass.h"

#include <unordered_set>

namespace libdl {

static std::atomic<bool> scratch_taken{false};  // the nodes' own scratch serves one pass at a time
static std::atomic<uint64_t> last_id{0};

Pass::Pass() : own_(!scratch_taken.exchange(true, std::memory_order_acquire)), id_(++last_id) {}

Pass::~Pass() {
  if (!own_) return;
  for (Node* node : visited_) {  // what an error left behind
    if (node->first_grad.defined()) node->first_grad = {};
    delete[] std::exchange(node->more_grads, nullptr);
    node->pass.store(0, std::memory_order_relaxed);
  }
  scratch_taken.store(false, std::memory_order_release);
}

bool Pass::visit(Node& node) {
  if (!own_) {
    const auto [it, fresh] = table_.try_emplace(&node);
    if (fresh) it->second.grads.resize(node.outputs);
    return fresh;
  }
  if (node.pass.load(std::memory_order_relaxed) == id_) return false;
  visited_.push_back(&node);
  node.pass.store(id_, std::memory_order_relaxed);
  node.waiting = 0;
  node.needed = true;
  if (node.outputs > 1) node.more_grads = new Tensor[node.outputs - 1];
  return true;
}

void Pass::prepare(std::span<Node* const> roots, std::span<Node* const> targets) {
  std::vector<Node*> stack;
  for (Node* root : roots)
    if (visit(*root)) stack.push_back(root);
  while (!stack.empty()) {
    Node* const node = stack.back();
    stack.pop_back();
    for (int i = 0; i < node->inputs; ++i) {
      Node* const next = node->edges()[i].node;
      if (!next) continue;
      if (visit(*next)) stack.push_back(next);
      ++waiting(*next);
    }
  }
  if (!targets.empty()) mark_needed(roots, targets);
}

// Post-order without recursion: a node is wanted if it is a target or an input of it is.
void Pass::mark_needed(std::span<Node* const> roots, std::span<Node* const> targets) {
  std::unordered_set<const void*> target;
  for (const Node* const node : targets) target.insert(target_of(*node));
  struct Frame {
    Node* node;
    int next;
  };
  std::vector<Frame> stack;
  std::unordered_set<Node*> done;
  for (Node* root : roots) {
    if (!done.insert(root).second) continue;
    needed(*root) = target.count(target_of(*root)) != 0;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      Node* const node = frame.node;
      if (frame.next == node->inputs) {
        const bool leads = needed(*node);
        stack.pop_back();
        if (leads && !stack.empty()) needed(*stack.back().node) = true;
        continue;
      }
      Node* const next = node->edges()[frame.next++].node;
      if (!next) continue;
      if (done.insert(next).second) {
        needed(*next) = target.count(target_of(*next)) != 0;
        stack.push_back({next, 0});
      } else if (needed(*next)) {
        needed(*node) = true;
      }
    }
  }
}

}  // namespace libdl
