// SPDX-License-Identifier: Apache-2.0

// Calls of pointwise operators. Promotion, broadcasting, recording, in-place forms, both
// differentiation modes to any order and fusion follow from what an operator is (expression.h).
#pragma once

#include "ops/core/call.h"
#include "ops/core/sum_to.h"
#include "ops/pointwise/expression.h"
#include "ops/primitive/result.h"

namespace libdl {

// Calls op, into a new tensor or a destination. `in` holds op.inputs() tensors.
Tensor pointwise(const PointwiseOp& op, const Tensor* const* in, Into into = {});
inline Tensor pointwise(const PointwiseOp& op, const Tensor& a, Into into = {}) {
  const Tensor* const in[] = {&a};
  return pointwise(op, in, into);
}
inline Tensor pointwise(const PointwiseOp& op, const Tensor& a, const Tensor& b, Into into = {}) {
  const Tensor* const in[] = {&a, &b};
  return pointwise(op, in, into);
}
inline Tensor pointwise(const PointwiseOp& op, const Tensor& a, const Tensor& b, const Tensor& c,
                        Into into = {}) {
  const Tensor* const in[] = {&a, &b, &c};
  return pointwise(op, in, into);
}

// A number in the type that the elements of a floating input are computed in, which must reach it;
// DTYPE if input is not floating.
Tensor unit_number(const char* op, const char* name, double value, const Tensor& input);

}  // namespace libdl
