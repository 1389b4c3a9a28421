// SPDX-License-Identifier: Apache-2.0

// One recurrent layer in one or two directions: the operator behind all recurrent networks and
// cells, recorded as one node.
#pragma once

#include "ops/core/call.h"
#include "ops/rnn/sequence.h"
#include "ops/rnn/weights.h"

namespace libdl {

struct RnnLayer {
  const Rule* rule;  // of the operator that was called
  RnnCell cell;
  Sequence sequence;
};

// in.y [..., features], whose leading dimensions are the sequence's rows; in.h and in.c
// [..., hidden], whose leading dimensions are directions and batch. weights: of each direction. The
// results have the same leading dimensions and dtypes; in.y's decides in which the layer computes.
// Everything has been checked.
RnnStates rnn_layer(const RnnLayer& layer, const RnnStates& in,
                    std::span<const RnnWeights> weights);
void rnn_layer_vjp(Backward& b);

}  // namespace libdl
