// SPDX-License-Identifier: Apache-2.0

// Checks gradients against central differences, in double precision.
#pragma once

#include <functional>
#include <vector>

#include "tensor/tensor.h"

namespace libdl {

struct GradcheckOptions {
  double eps = 1e-6;  // half the step
  double atol = 1e-5, rtol = 1e-3;
  double nondet_tol = 0;  // between two backward passes
  bool forward = false;
  bool second_order = false;
  bool strict = false;  // check that outputs without history are constant
};

using CheckedFunction = std::function<std::vector<Tensor>(TensorSpan inputs)>;

// Throws AUTOGRAD if they disagree. outputs: how many tensors f returns. Meaning and other errors:
// include/libdl/autograd.h.
void gradcheck(const CheckedFunction& f, TensorSpan inputs, size_t outputs,
               const GradcheckOptions& options);

}  // namespace libdl
