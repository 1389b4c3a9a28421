// SPDX-License-Identifier: Apache-2.0

// Whole slices of one dimension by a list of indices. Meaning and errors: include/libdl/indexing.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor index_select(const Tensor& input, int32_t dim, const Tensor& index, Into into = {});
// index_select along dimension 0 at positions that the library computed: they are not checked.
Tensor select_found(const Tensor& input, const Tensor& positions, Into into);
Tensor index_add(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& source,
                 const Tensor* alpha = nullptr, Into into = {});
Tensor index_copy(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& source,
                  Into into = {});
Tensor index_fill(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& value,
                  Into into = {});

}  // namespace libdl
