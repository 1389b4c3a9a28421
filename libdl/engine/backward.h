// SPDX-License-Identifier: Apache-2.0

// Reverse-mode differentiation over the recorded graph.
#pragma once

#include "tape/meta.h"

namespace libdl {

struct BackwardOptions {
  bool retain_graph = false;  // keep saved values for another pass
  bool create_graph = false;  // record the pass itself, for higher derivatives
  bool allow_unused = false;  // grad(): an input that was not used gets no gradient
  bool materialize = false;   // grad(): …or zeros
  bool batched = false;  // grad(): the gradients have a batch in front, and so have the results
};

// Adds d(sum outputs · gradients)/d leaf into .grad of every leaf, or of `inputs` alone if any are
// given; these may be non-leaves, which then retain their gradients. gradients: one per output;
// undefined means 1, for outputs of one element. If a pass fails, each .grad is either untouched or
// complete.
void backward(TensorSpan outputs, TensorSpan gradients, TensorSpan inputs,
              const BackwardOptions& options);

// The gradients with respect to `inputs`; no .grad changes.
std::vector<Tensor> grad(TensorSpan outputs, TensorSpan inputs, TensorSpan gradients,
                         const BackwardOptions& options);

}  // namespace libdl
