// SPDX-License-Identifier: Apache-2.0

// Pointwise operators that whoever defers a result (tensor/deferred.h) computes together with it.
#pragma once

#include "kernels/pointwise.h"
#include "tensor/tensor.h"

namespace libdl {

struct Absorbing {
  // out = expression(in...), if one of these waits for a producer that can do so; out is x itself
  // or a tensor to be overwritten. Nothing happens if false is returned.
  bool (*run)(kernels::Expression expression, const Tensor& out, const Tensor* const* in);
  // The gradient of an operator of one operand, from its result y and the gradient behind it, as a
  // deferred result; undefined if y was not computed like that.
  Tensor (*gradient)(kernels::Expression expression, const Tensor& dy, const Tensor& y);
};

// To be called before the first result is deferred. There is one such kind of results.
void absorb_by(const Absorbing& absorbing);

}  // namespace libdl
