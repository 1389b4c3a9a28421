// SPDX-License-Identifier: Apache-2.0

// Steps that scatter, scatter_add and scatter_reduce share.
#pragma once

#include <optional>

#include "kernels/args/gather.h"
#include "ops/core/call.h"

namespace libdl {

// src cut to index's shape, as a recorded view: what lies outside is not read. Nothing where src
// has that shape, or does not reach it.
std::optional<Tensor> cut(const Tensor& src, const Tensor& index);

// input, with src's elements combined with those at the places that index names; 16-bit sums and
// products are rounded once. Not recorded, nor may it have to be. Errors are op's.
Tensor combined(const char* op, kernels::ScatterOp combine, const Tensor& input, int32_t dim,
                const Tensor& index, const Tensor& src);

}  // namespace libdl
