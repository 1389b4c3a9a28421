// SPDX-License-Identifier: Apache-2.0

// Sums of gradients, with as few copies as possible.
#pragma once

#include "tape/meta.h"

namespace libdl {

// sum += gradient, in sum's own buffer if nobody else can see it.
void add_gradient(Tensor& sum, Tensor gradient, bool create_graph);

// Adds a gradient into a leaf's .grad. The first one becomes .grad itself if nobody else holds it;
// later ones are added in place (.grad stays the same tensor), or out of place under create_graph.
void accumulate(Accumulator& leaf, Tensor gradient, bool create_graph);

// The same for a non-leaf that keeps its gradient: always out of place, because dy is shared.
void add_retained(GradSlot& slot, const Tensor& gradient, bool create_graph);

}  // namespace libdl
