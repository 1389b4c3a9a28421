// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"

namespace libdl::kernels {

// h' = tanh(sum), relu(sum), or with gates and a memory.
enum class RnnCell : int32_t { kTanh, kRelu, kLstm, kGru };

// One step of a recurrent layer for n sequences, between its matrix products. Views are
// [n, columns] with unit column stride, all float32 or all float64. With s = sigmoid, *
// elementwise:
//   LSTM: i, f, o = s(sums), g = tanh(sum), in the order i f g o;  c' = f * c + i * g
//         h' = o * tanh(c')
//   GRU:  r, z = s(sums), n = tanh(sum + r * inner), in the order r z n;  h' = n + z * (h - n)
struct RnnStepArgs {
  RnnCell cell;
  View gates;      // [n, gates h], updated: the sums become the gates; GRU: of the input alone
  View recurrent;  // GRU: [n, 3 h], the sums of the hidden state, the last of which are `inner`
  View h;          // the hidden state, overwritten (GRU: updated); data NULL: left to the caller
  View c;          // LSTM: the cell state, updated
  View h_before;   // what h was; data NULL: not wanted
  View c_before;   // LSTM: what c was; data NULL: not wanted
  View inner;      // GRU: a copy; data NULL: not wanted
  View out;        // h'
};

// The gradients of the sums from those of h' and c', once the gates are known.
struct RnnStepBackwardArgs {
  RnnCell cell;
  View dgates;      // [n, gates h], overwritten
  View drecurrent;  // GRU: [n, 3 h], overwritten
  View dh;          // of h' by the later steps; GRU: becomes that of h, without its product's share
  View dc;          // LSTM: of c', becomes that of c
  View dy;          // of h' as a result, added to dh; data NULL: 0
  View gates, h_before, c_before, inner;  // as the step left them
};

}  // namespace libdl::kernels
