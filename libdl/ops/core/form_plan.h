// SPDX-License-Identifier: Apache-2.0

// Elementwise launches over operands of which some lie in a form alone (tensor/forms.h), through
// the strides that its layout has: no byte moves but those of the launch.
#pragma once

#include "ops/core/plan.h"
#include "tensor/packed.h"

namespace libdl {

// Stands where a Plan does.
class FormPlan {
 public:
  // False where everything is plain, or no strides describe the form that out is in.
  //
  // A result that nobody else has seen takes the form if the first operand of its shape is in it
  // alone, whatever the others are: PyTorch's rule for operands of different memory formats.
  // `later` operands from the first on are asked last. One that is written in place stays what it
  // is.
  bool set(const Tensor& out, std::span<const Tensor* const> in, size_t later = 0);

  kernels::View view(const Tensor& x, int operand) const {
    return plan_.view(x, operand, data_[operand]);
  }
  uint32_t host_inputs() const { return 0; }

 private:
  bool place(const Tensor& out, std::span<const Tensor* const> in, size_t later);
  bool follows(const Tensor& out, std::span<const Tensor* const> in, size_t later) const;
  void walk(const Tensor& out, std::span<const Tensor* const> in);

  Plan plan_;
  void* data_[Plan::kOperands];
  PackedReader
      form_[Plan::kOperands];  // where an operand is read in it; stays while the kernel runs
};

}  // namespace libdl
