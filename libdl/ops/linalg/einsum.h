// SPDX-License-Identifier: Apache-2.0

// Einstein's summation. Meaning and errors: include/libdl/linalg.h.
#pragma once

#include <string_view>

#include "ops/core/call.h"

namespace libdl {

Tensor einsum(std::string_view equation, TensorSpan tensors);

}  // namespace libdl
