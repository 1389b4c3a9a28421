// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ops/core/call.h"

namespace libdl {

// The dtype in which terms of dtype `own` are added or multiplied for `into`: that of a wider
// destination, and float64 for integers with a floating destination, since int64 might overflow.
Dtype term_dtype(Dtype own, Into into);

}  // namespace libdl
