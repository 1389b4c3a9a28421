// SPDX-License-Identifier: Apache-2.0

// Distances. Meaning and errors: include/libdl/distance.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim);
Tensor cdist(const Tensor& x1, const Tensor& x2, double p);
Tensor pdist(const Tensor& input, double p);

}  // namespace libdl
