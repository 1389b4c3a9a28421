// SPDX-License-Identifier: Apache-2.0

// Joining, repeating and flipping tensors. Meaning and errors: include/libdl/join.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor cat(TensorSpan tensors, int32_t dim, Into into = {});
Tensor stack(TensorSpan tensors, int32_t dim, Into into = {});
Tensor repeat(const Tensor& input, Dims repeats);
Tensor repeat_interleave(const Tensor& input, int64_t repeats, std::optional<int64_t> dim);
Tensor flip(const Tensor& input, Dims dims);
Tensor roll(const Tensor& input, Dims shifts, std::optional<Dims> dims);
Tensor tril(const Tensor& input, int64_t diagonal, Into into = {});
Tensor triu(const Tensor& input, int64_t diagonal, Into into = {});

}  // namespace libdl
