// SPDX-License-Identifier: Apache-2.0

#include "engine/reach.h"

#include <unordered_set>
#include <vector>

#include "ops/core/call.h"

namespace libdl {

bool reaches_others(TensorSpan outputs, TensorSpan leaves) {
  std::unordered_set<const Node*> seen;
  std::vector<Ref<Node>> held;
  std::vector<Node*> open;
  const auto root = [&](const Tensor& x) {
    held.push_back(Ref<Node>::take(history_of(x).node));
    return held.back().get();
  };
  for (const Tensor& x : leaves) seen.insert(root(x));
  for (const Tensor& y : outputs)
    if (Node* const node = root(y); node && seen.insert(node).second) open.push_back(node);
  while (!open.empty()) {
    Node* const node = open.back();
    open.pop_back();
    if (node->accumulator) return true;
    for (int i = 0; i < node->inputs; ++i)
      if (Node* const next = node->edges()[i].node; next && seen.insert(next).second)
        open.push_back(next);
  }
  return false;
}

}  // namespace libdl
