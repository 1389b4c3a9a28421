// SPDX-License-Identifier: Apache-2.0

// One recurrent layer in one or two directions: the operator behind all recurrent networks and
// cells, recorded as one node.
#pragma once

#include "kernels/args/rnn.h"
#include "ops/core/call.h"
#include "ops/rnn/sequence.h"

namespace libdl {

using kernels::RnnCell;

inline int64_t gates_of(RnnCell cell) {
  return cell == RnnCell::kLstm ? 4 : cell == RnnCell::kGru ? 3 : 1;
}
// float32 for the 16-bit types.
inline Dtype computed_in(Dtype dtype) { return size_of(dtype) < 4 ? Dtype::kFloat32 : dtype; }

// Of one direction; undefined where absent.
struct RnnWeights {
  Tensor w_ih, w_hh, b_ih, b_hh;
  Tensor w_hr;  // the projection
};

struct RnnLayer {
  const Rule* rule;  // of the operator that was called
  RnnCell cell;
  Sequence sequence;
};

struct RnnStates {
  Tensor y;  // hidden states of all steps, or a layer's input
  Tensor h;
  Tensor c;  // LSTM
};

// in.y [..., features], whose leading dimensions are the sequence's rows; in.h and in.c
// [..., hidden], whose leading dimensions are directions and batch. weights: of each direction. The
// results have the same leading dimensions and dtypes; in.y's decides in which the layer computes.
// Everything has been checked.
RnnStates rnn_layer(const RnnLayer& layer, const RnnStates& in,
                    std::span<const RnnWeights> weights);
void rnn_layer_vjp(Backward& b);

}  // namespace libdl
