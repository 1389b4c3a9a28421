// SPDX-License-Identifier: Apache-2.0

// Checks of operands that operators of many kinds share.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// What is checked of the argument `name`.
struct Operand {
  const Tensor& tensor;
  const char* name;
};

// DTYPE if it is not floating.
void check_floating(const char* op, const Operand& x);
// TYPE if it is a host number.
void require_tensor(const char* op, const Operand& x);
// DTYPE if it is complex.
void refuse_complex(const char* op, const Operand& x);

}  // namespace libdl
