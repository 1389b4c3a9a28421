// SPDX-License-Identifier: Apache-2.0

// Sums of gradients, with the fewest copies.
#pragma once

#include "tape/meta.h"

namespace libdl {

// sum += gradient, in sum's own buffer when nobody else sees it.
void add_gradient(Tensor& sum, Tensor gradient, bool create_graph);

// Adds a gradient into a leaf's .grad: the first one is taken over when nobody else holds it, a
// later one is added in place (keeping the identity of .grad), or out of place under create_graph.
void accumulate(Accumulator& leaf, Tensor gradient, bool create_graph);

// The same for a non-leaf that keeps its gradient: always out of place, for dy is shared.
void add_retained(GradSlot& slot, const Tensor& gradient, bool create_graph);

}  // namespace libdl
