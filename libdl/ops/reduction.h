// SPDX-License-Identifier: Apache-2.0

// Reductions and scans. Meaning and errors: include/libdl/reduction.h.
#pragma once

#include "ops/call.h"

namespace libdl {

Tensor sum(const Tensor& input, std::optional<Dims> dims = {}, bool keepdim = false,
           Dtype dtype = Dtype::kNone, Into into = {});
Tensor all(const Tensor& input, std::optional<Dims> dims = {}, bool keepdim = false,
           Into into = {});
Tensor any(const Tensor& input, std::optional<Dims> dims = {}, bool keepdim = false,
           Into into = {});

}  // namespace libdl
