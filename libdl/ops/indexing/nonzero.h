// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ops/core/call.h"

namespace libdl {

// The coordinates of nonzero elements, int64 [count, ndim], without checks or recording, for
// operators that take masks.
Tensor nonzero_coordinates(const Tensor& x);

}  // namespace libdl
