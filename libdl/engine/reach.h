// SPDX-License-Identifier: Apache-2.0

// Which leaves a history leads to.
#pragma once

#include "tape/meta.h"

namespace libdl {

// Whether a gradient of the outputs would reach a leaf that is not among these.
bool reaches_others(TensorSpan outputs, TensorSpan leaves);

}  // namespace libdl
