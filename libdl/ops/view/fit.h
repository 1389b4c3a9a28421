// SPDX-License-Identifier: Apache-2.0

// Histories of tensors that were given data of another shape or dtype: a node between the node that
// made the tensor and whatever is computed from its new data.
#pragma once

#include "tape/fit.h"
#include "tape/node.h"
#include "tensor/tensor.h"

namespace libdl {

// To be called before x gets data of another shape or dtype. Its history stays that of the old
// value: gradients are summed to the old shape, as from broadcasting, or refused in backward. A
// view's history is brought up to date.
void fit_history(const Tensor& x, Dims shape, Dtype dtype);

// As history_of(x), but the node that made x itself. All gradients of x reach it, including those
// of values computed before x was given other data. Retained.
Edge maker_of(const Tensor& x);

}  // namespace libdl
