// SPDX-License-Identifier: Apache-2.0

// Sparse matrices (tensor/sparse_rows.h) and their rows. Meaning and errors:
// include/libdl/sparse.h.
#pragma once

#include <tuple>

#include "ops/core/call.h"

namespace libdl {

std::tuple<Tensor, Tensor> sparse_rows(const Tensor& input);
Tensor sparse_from_rows(const Tensor& indices, const Tensor& values, int64_t rows);

}  // namespace libdl
