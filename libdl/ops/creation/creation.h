// SPDX-License-Identifier: Apache-2.0

// What operators that create tensors have in common.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// Where an operator's numbers go: a new tensor, or the destination after its checks.
Tensor created_place(const char* op, Dims shape, Dtype dtype, std::optional<Device> device,
                     Into into);
// The place once it is filled.
Tensor created(const char* op, Tensor y, Into into);

}  // namespace libdl
