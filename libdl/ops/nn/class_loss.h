// SPDX-License-Identifier: Apache-2.0

// cross_entropy and nll_loss of class indices by kernels of their own, one node in the graph.
#pragma once

#include "ops/loss/reduced.h"

namespace libdl {

struct ClassLoss {
  const char* op;
  bool of_logits;  // the input's log_softmax is taken first
  int at;          // the dimension of the classes
  const Tensor* weight;
  int64_t ignore_index;
  double smoothing;
  Reduce how;
};

// Else it is composed of other operators: in forward mode, of nothing, of operands that are on
// several devices, and on a device without the kernels.
bool is_one_pass(const Tensor& input, const Tensor& target, const Tensor* weight);

// All is checked, but for the targets on a device.
Tensor class_loss(const Tensor& input, const Tensor& target, const ClassLoss& loss);

}  // namespace libdl
