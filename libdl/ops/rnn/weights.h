// SPDX-License-Identifier: Apache-2.0

// What a recurrent layer computes with: cells, weights and states.
#pragma once

#include "kernels/args/rnn.h"
#include "tensor/tensor.h"

namespace libdl {

using kernels::RnnCell;

inline int64_t gates_of(RnnCell cell) {
  return cell == RnnCell::kLstm ? 4 : cell == RnnCell::kGru ? 3 : 1;
}
// float32 for the 16-bit types.
inline Dtype computed_in(Dtype dtype) { return size_of(dtype) < 4 ? Dtype::kFloat32 : dtype; }

// The weights of one direction of a layer; tensors that it does not have are undefined.
struct RnnWeights {
  Tensor w_ih, w_hh, b_ih, b_hh;
  Tensor w_hr;  // the projection
};

struct RnnStates {
  Tensor y;  // hidden states of all steps, or a layer's input
  Tensor h;
  Tensor c;  // LSTM
};

}  // namespace libdl
