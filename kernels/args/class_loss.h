// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// What class indices and their weights mean, for both directions. A row's target t is the number of
// a class, or ignore_index. With w the weights (1 without any), s the smoothing, C the number of
// classes and y the logarithms of the row's probabilities:
//   loss = -(1 - s) w[t] y[t] - s / C sum(w y),   factor = w[t];   ignored: both are 0
// Losses are written for each row, or reduced: their sum, or their sum / sum of factors (mean).
struct ClassTargets {
  View target;  // [rows...], any integer dtype
  View weight;  // [classes], of the input's dtype; no data: all 1
  int64_t ignore_index;
  double smoothing;
};

// in: [rows..., classes]. A target that is no class is told by an asynchronous device's next
// synchronisation, under the operator's name, a static string; its row counts as ignored. The CPU
// is given none.
struct ClassLossArgs {
  View in;
  View log_p;  // like in: its log_softmax, which the losses are of; no data: they are of in itself
  ClassTargets targets;
  View losses;   // [rows...]; no data: reduced
  View loss;     // 0-d; no data: not reduced
  View divisor;  // 0-d, float32, or float64 as in: the sum of factors; no data: a sum
  const char* op;
};

// dx = the gradient of the losses with respect to in, where that of a row's loss is dy (divided by
// `divisor`, if that has data).
struct ClassLossBackwardArgs {
  View dx;     // [rows..., classes]
  View dy;     // [rows...], of dx's dtype, perhaps with strides of 0
  View log_p;  // like dx; no data: the losses are of in itself
  ClassTargets targets;
  View divisor;
};

}  // namespace libdl::kernels
