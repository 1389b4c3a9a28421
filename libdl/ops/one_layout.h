// SPDX-License-Identifier: Apache-2.0

// Elementwise launches over operands that all lie in one layout which strides do not show
// (tensor/forms.h): the kernel goes through that from end to end, and no byte moves.
#pragma once

#include "ops/plan.h"
#include "tensor/packed.h"

namespace libdl {

// Stands where a Plan does.
class OneLayout {
 public:
  // Whether every operand of more than one element has out's shape and a current form, and out can
  // take it: nobody else sees it (it is in the form from here on), or it is in that form alone.
  bool set(const Tensor& out, std::span<const Tensor* const> in);

  kernels::View view(const Tensor&, int operand) const { return view_[operand]; }
  uint32_t host_inputs() const { return 0; }

 private:
  bool add(int operand, const Tensor& x);

  int64_t count_;
  int64_t step_[Plan::kOperands];
  kernels::View view_[Plan::kOperands];
  PackedReader reader_[Plan::kOperands];  // the forms stay while the kernel runs
};

}  // namespace libdl
