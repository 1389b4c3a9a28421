// SPDX-License-Identifier: Apache-2.0

// Histories of tensors that were given data of another shape or dtype (fit_history): a node between
// what made the tensor and what is computed of its new data.
#pragma once

#include "tape/fit.h"
#include "tape/node.h"

namespace libdl {

// As history_of(x), but the node that made x itself, to which every gradient of x comes, also of
// what was computed before it was given other data. Retained.
Edge maker_of(const Tensor& x);

}  // namespace libdl
