// SPDX-License-Identifier: Apache-2.0

// Advanced indexing. Meaning and errors: include/libdl/indexing.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// Undefined entries of indices take the whole dimension.
Tensor index(const Tensor& input, TensorSpan indices, Into into = {});
Tensor index_put(const Tensor& input, TensorSpan indices, const Tensor& values,
                 bool accumulate = false, Into into = {});

}  // namespace libdl
