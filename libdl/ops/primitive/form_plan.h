// SPDX-License-Identifier: Apache-2.0

// Elementwise launches in which some operands exist only as a packed form (tensor/forms.h). They
// use the strides of the form's layout, so nothing is unpacked.
#pragma once

#include "ops/primitive/plan.h"
#include "tensor/packed.h"

namespace libdl {

// Used in place of a Plan.
class FormPlan {
 public:
  // False if everything is plain, or if no strides describe out's form.
  //
  // A result that nobody else has seen takes a form if the first operand of its shape exists only
  // in that form, whatever the others are: PyTorch's rule for operands of different memory formats.
  // The first `later` operands are considered last. A result that is written in place keeps its
  // layout.
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
      form_[Plan::kOperands];  // the forms that operands are read in; held while the kernel runs
};

}  // namespace libdl
