// SPDX-License-Identifier: Apache-2.0

// Gather and scatter: one element for each element of an index. Meaning and errors:
// include/libdl/indexing.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor gather(const Tensor& input, int32_t dim, const Tensor& index, bool sparse_grad = false,
              Into into = {});
Tensor take_along_dim(const Tensor& input, const Tensor& indices, std::optional<int64_t> dim,
                      Into into = {});

Tensor scatter(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& src,
               std::optional<std::string_view> reduce = {}, Into into = {});
Tensor scatter_add(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& src,
                   Into into = {});

}  // namespace libdl
