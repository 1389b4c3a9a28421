// SPDX-License-Identifier: Apache-2.0

// Sorting along a dimension. Meaning and errors: include/libdl/indexing.h.
#pragma once

#include <tuple>

#include "ops/core/call.h"

namespace libdl {

std::tuple<Tensor, Tensor> sort(const Tensor& input, int32_t dim, bool descending, bool stable,
                                Into values_into = {}, Into indices_into = {});
Tensor argsort(const Tensor& input, int32_t dim, bool descending, bool stable);
std::tuple<Tensor, Tensor> topk(const Tensor& input, int64_t k, int32_t dim, bool largest,
                                bool sorted, Into values_into = {}, Into indices_into = {});
std::tuple<Tensor, Tensor> kthvalue(const Tensor& input, int64_t k, int32_t dim, bool keepdim);

}  // namespace libdl
