// SPDX-License-Identifier: Apache-2.0

// Rounding to integers. Meaning and errors: include/libdl/rounding.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor floor(const Tensor& input, Into into = {});
Tensor ceil(const Tensor& input, Into into = {});
Tensor round(const Tensor& input, int64_t decimals = 0, Into into = {});
Tensor trunc(const Tensor& input, Into into = {});

}  // namespace libdl
