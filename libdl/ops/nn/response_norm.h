// SPDX-License-Identifier: Apache-2.0

// Local response normalisation. Meaning and errors: include/libdl/nn.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor local_response_norm(const Tensor& input, int64_t size, double alpha, double beta, double k);

}  // namespace libdl
