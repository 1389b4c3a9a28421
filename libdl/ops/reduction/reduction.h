// SPDX-License-Identifier: Apache-2.0

// Reductions and scans. Meaning and errors: include/libdl/reduction.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// -- sums and products: reduction.cc --------------------------------------------------------------
// The dtype in which terms of dtype `own` are added or multiplied for `into`: that of a wider
// destination, and float64 for integers with a floating destination, since int64 might overflow.
Dtype term_dtype(Dtype own, Into into);
Tensor sum(const Tensor& input, std::optional<Dims> dims = {}, bool keepdim = false,
           Dtype dtype = Dtype::kNone, Into into = {});
Tensor mean(const Tensor& input, std::optional<Dims> dims = {}, bool keepdim = false,
            Dtype dtype = Dtype::kNone, Into into = {});
Tensor prod(const Tensor& input, std::optional<int64_t> dim = {}, bool keepdim = false,
            Dtype dtype = Dtype::kNone, Into into = {});
Tensor all(const Tensor& input, std::optional<Dims> dims = {}, bool keepdim = false,
           Into into = {});
Tensor count_nonzero(const Tensor& input, std::optional<Dims> dims = {});
Tensor any(const Tensor& input, std::optional<Dims> dims = {}, bool keepdim = false,
           Into into = {});

// -- extrema: extremum.cc -------------------------------------------------------------------------
Tensor max(const Tensor& input, Into into = {});
Tensor min(const Tensor& input, Into into = {});
std::tuple<Tensor, Tensor> max_dim(const Tensor& input, int32_t dim, bool keepdim,
                                   Into values_into = {}, Into indices_into = {});
std::tuple<Tensor, Tensor> min_dim(const Tensor& input, int32_t dim, bool keepdim,
                                   Into values_into = {}, Into indices_into = {});
Tensor amax(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into = {});
Tensor amin(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into = {});
Tensor argmax(const Tensor& input, std::optional<int64_t> dim, bool keepdim, Into into = {});
Tensor argmin(const Tensor& input, std::optional<int64_t> dim, bool keepdim, Into into = {});

// -- moments and norms: moment.cc -----------------------------------------------------------------
Tensor var(const Tensor& input, std::optional<Dims> dims, const Tensor* correction, bool keepdim,
           Into into = {});
Tensor std(const Tensor& input, std::optional<Dims> dims, const Tensor* correction, bool keepdim,
           Into into = {});
Tensor norm(const Tensor& input, const Tensor* p, std::optional<Dims> dims, bool keepdim,
            Dtype dtype, Into into = {});
Tensor logsumexp(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into = {});

// -- scans: scan.cc -------------------------------------------------------------------------------
Tensor cumsum(const Tensor& input, int32_t dim, Dtype dtype = Dtype::kNone, Into into = {});
Tensor cumprod(const Tensor& input, int32_t dim, Dtype dtype = Dtype::kNone, Into into = {});
std::tuple<Tensor, Tensor> cummax(const Tensor& input, int32_t dim, Into values_into = {},
                                  Into indices_into = {});
std::tuple<Tensor, Tensor> cummin(const Tensor& input, int32_t dim, Into values_into = {},
                                  Into indices_into = {});

}  // namespace libdl
