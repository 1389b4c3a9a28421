// SPDX-License-Identifier: Apache-2.0

#include "ops/pointwise/expression.h"

namespace libdl {

const PointwiseOp& operator_of(Expression expression) {
  static const PointwiseOp* const kOperators[] = {
#define POINTWISE(name, inputs, classes, result) &k_##name,
#include "kernels/pointwise.def"
#undef POINTWISE
  };
  return *kOperators[static_cast<int>(expression)];
}

}  // namespace libdl
