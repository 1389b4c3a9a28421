// SPDX-License-Identifier: Apache-2.0

// One direction of a recurrent layer, in the dtype of computation: in steps by kernels, and the
// same by operators, which can be differentiated.
#pragma once

#include "ops/core/call.h"
#include "ops/rnn/sequence.h"
#include "ops/rnn/weights.h"

namespace libdl {

struct RnnDirection {
  RnnCell cell;
  const Sequence& sequence;
  bool reversed;
  const RnnWeights& weights;

  int64_t hidden() const { return weights.w_hh.size(0) / gates_of(cell); }
};

// What the gradient needs of the forward pass, for all rows.
struct RnnKept {
  Tensor gates;     // [rows, gates hidden]
  Tensor h_before;  // [rows, hidden or projected], the state that a step began with
  Tensor c_before;  // LSTM: [rows, hidden], likewise
  Tensor inner;     // GRU: [rows, hidden], the hidden state's part of the new gate
  Tensor whole;     // [rows, hidden], h before its projection
};
// Writes y [rows, hidden or projected], and the last states into h and c.
RnnKept forward_in_steps(const RnnDirection& d, const Tensor& x, const Tensor& y, const Tensor& h,
                         const Tensor& c, bool keep);

// Gradients of a direction. dsums: of W x + b in all rows; drecurrent: of V h + b', the same but
// for GRU; dh, dc: of the states that it began with; dy: of h before its projection to it, all
// undefined where there is none.
struct RnnGradients {
  Tensor dsums, drecurrent, dh, dc, dprojected;
};
// dy may be undefined; dh and dc are those of the last states, and are written.
RnnGradients backward_in_steps(const RnnDirection& d, const RnnKept& kept, const Tensor& dy,
                               const Tensor& dh, const Tensor& dc);

// The same from the states that the direction began with; y and kept also come back.
struct RnnUnrolled {
  RnnStates last;  // y: of all rows
  RnnKept kept;
};
RnnUnrolled forward_by_operators(const RnnDirection& d, const Tensor& x, Tensor h, Tensor c);
RnnGradients backward_by_operators(const RnnDirection& d, const RnnKept& kept, const Tensor& dy,
                                   Tensor dh, Tensor dc);

}  // namespace libdl
