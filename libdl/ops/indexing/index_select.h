// SPDX-License-Identifier: Apache-2.0

// Whole slices of one dimension by a list of indices.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// index_select along dimension 0 at positions that the library computed: they are not checked.
Tensor select_at(const Tensor& input, const Tensor& positions, Into into);

}  // namespace libdl
