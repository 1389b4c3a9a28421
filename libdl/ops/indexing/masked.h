// SPDX-License-Identifier: Apache-2.0

// Reading and writing where a mask is true. Meaning and errors: include/libdl/indexing.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor masked_fill(const Tensor& input, const Tensor& mask, const Tensor& value, Into into = {});
Tensor masked_select(const Tensor& input, const Tensor& mask, Into into = {});
// Puts the first elements of source, in row-major order, where mask is true.
Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source,
                      Into into = {});

}  // namespace libdl
