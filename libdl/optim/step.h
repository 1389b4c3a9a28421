// SPDX-License-Identifier: Apache-2.0

// The lists of tensors that an optimizer's step reads and writes.
#pragma once

#include <array>

#include "tensor/tensor.h"

namespace libdl {

// A list of states; one without a name is not part of the step.
struct States {
  const char* name = nullptr;
  TensorSpan list{};
};

// Which rows without a gradient a step leaves out, because they stay as they are.
enum class Still : uint8_t { kNoRow, kRowsOfSparse, kRows };

// What a step reads and writes.
struct Step {
  const char* op;
  TensorSpan params, grads;
  std::array<States, 3> states;
  Still still = Still::kNoRow;
};

}  // namespace libdl
