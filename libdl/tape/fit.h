// SPDX-License-Identifier: Apache-2.0

// The rule of nodes that convert gradients to the shape and dtype of a history
// (ops/view/fit.cc).
#pragma once

namespace libdl {

struct Rule;
extern const Rule kFitRule;

}  // namespace libdl
