// SPDX-License-Identifier: Apache-2.0

// Exponential, logarithmic and trigonometric functions. Meaning and errors:
// include/libdl/exponential.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor exp(const Tensor& input, Into into = {});
Tensor exp2(const Tensor& input, Into into = {});
Tensor expm1(const Tensor& input, Into into = {});
Tensor log(const Tensor& input, Into into = {});
Tensor log2(const Tensor& input, Into into = {});
Tensor log10(const Tensor& input, Into into = {});
Tensor log1p(const Tensor& input, Into into = {});
Tensor sin(const Tensor& input, Into into = {});
Tensor cos(const Tensor& input, Into into = {});
Tensor tan(const Tensor& input, Into into = {});

}  // namespace libdl
