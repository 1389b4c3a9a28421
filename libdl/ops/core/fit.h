// SPDX-License-Identifier: Apache-2.0

// Histories of tensors that were given data of another shape or dtype (fit_history): a node between
// the node that made the tensor and whatever is computed from its new data.
#pragma once

#include "tape/fit.h"
#include "tape/node.h"

namespace libdl {

// As history_of(x), but the node that made x itself. All gradients of x reach it, including those
// of values computed before x was given other data. Retained.
Edge maker_of(const Tensor& x);

}  // namespace libdl
