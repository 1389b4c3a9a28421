// SPDX-License-Identifier: Apache-2.0

// Places in what is sorted. Meaning and errors: include/libdl/indexing.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& input, bool out_int32 = false,
                    bool right = false, std::optional<std::string_view> side = {},
                    const Tensor* sorter = nullptr, Into into = {});
Tensor bucketize(const Tensor& input, const Tensor& boundaries, bool out_int32 = false,
                 bool right = false, Into into = {});

}  // namespace libdl
