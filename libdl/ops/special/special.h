// SPDX-License-Identifier: Apache-2.0

// Special functions. Meaning and errors: include/libdl/special.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor erfc(const Tensor& input, Into into = {});
Tensor erfinv(const Tensor& input, Into into = {});
Tensor erfcx(const Tensor& input, Into into = {});
Tensor lgamma(const Tensor& input, Into into = {});
Tensor digamma(const Tensor& input, Into into = {});
Tensor i0(const Tensor& input, Into into = {});
Tensor i0e(const Tensor& input, Into into = {});
Tensor i1(const Tensor& input, Into into = {});
Tensor i1e(const Tensor& input, Into into = {});
Tensor ndtr(const Tensor& input, Into into = {});
Tensor ndtri(const Tensor& input, Into into = {});
Tensor log_ndtr(const Tensor& input, Into into = {});
Tensor sinh(const Tensor& input, Into into = {});
Tensor cosh(const Tensor& input, Into into = {});
Tensor asin(const Tensor& input, Into into = {});
Tensor acos(const Tensor& input, Into into = {});
Tensor atan(const Tensor& input, Into into = {});
Tensor asinh(const Tensor& input, Into into = {});
Tensor acosh(const Tensor& input, Into into = {});
Tensor atanh(const Tensor& input, Into into = {});
Tensor polygamma(int64_t n, const Tensor& input, Into into = {});
Tensor atan2(const Tensor& input, const Tensor& other, Into into = {});
Tensor hypot(const Tensor& input, const Tensor& other, Into into = {});
Tensor igamma(const Tensor& input, const Tensor& other, Into into = {});
Tensor igammac(const Tensor& input, const Tensor& other, Into into = {});
Tensor logaddexp(const Tensor& input, const Tensor& other, Into into = {});
Tensor logaddexp2(const Tensor& input, const Tensor& other, Into into = {});

}  // namespace libdl
