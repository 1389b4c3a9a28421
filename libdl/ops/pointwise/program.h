// SPDX-License-Identifier: Apache-2.0

// Derivative expressions as programs: built once from a Partial, then run fused or recorded.
#pragma once

#include "ops/pointwise/expression.h"

namespace libdl {

// The rule for real dtypes; for complex dtypes the reverse rule (with conj) and the forward rule
// (without it).
enum Form { kRealForm, kComplexVjp, kComplexJvp };

struct Program {
  uint32_t uses = 0;  // bit 0: dy, bits 1-3: x0-x2, bit 4: y
  int32_t inputs = 0, constants = 0, length = 0;
  int32_t result = 0;     // a register; with length 0 it is an input
  int8_t symbol[5] = {};  // input register -> symbol
  double constant[8] = {};
  kernels::Instruction code[24] = {};
};

// The program of d op / d input i. Built on first use, never freed.
const Program& program_of(const PointwiseOp& op, int i, int form);

// symbols: dy, x0, x1, x2, y; those that the program uses must be defined. dtype: of the result.
// While recording is on, each step is a separate call of `step`, so that it can be differentiated.
// scratch: a symbol whose bytes the result may reuse if nobody else owns them and they fit.
Tensor evaluate(const Program& program, const Tensor* const* symbols, Dtype dtype,
                PointwiseCall step, Tensor* scratch = nullptr);

}  // namespace libdl
