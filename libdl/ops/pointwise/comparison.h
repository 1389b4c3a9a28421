// SPDX-License-Identifier: Apache-2.0

// Comparisons and selections. Meaning and errors: include/libdl/comparison.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor eq(const Tensor& input, const Tensor& other, Into into = {});
Tensor ne(const Tensor& input, const Tensor& other, Into into = {});
Tensor lt(const Tensor& input, const Tensor& other, Into into = {});
Tensor le(const Tensor& input, const Tensor& other, Into into = {});
Tensor gt(const Tensor& input, const Tensor& other, Into into = {});
Tensor ge(const Tensor& input, const Tensor& other, Into into = {});
Tensor isnan(const Tensor& input, Into into = {});
Tensor isinf(const Tensor& input, Into into = {});
Tensor isfinite(const Tensor& input, Into into = {});
Tensor signbit(const Tensor& input, Into into = {});
Tensor heaviside(const Tensor& input, const Tensor& values, Into into = {});
Tensor copysign(const Tensor& input, const Tensor& other, Into into = {});
Tensor isclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan,
               Into into = {});
bool equal(const Tensor& input, const Tensor& other);
bool allclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan);

Tensor maximum(const Tensor& input, const Tensor& other, Into into = {});
Tensor minimum(const Tensor& input, const Tensor& other, Into into = {});
Tensor fmax(const Tensor& input, const Tensor& other, Into into = {});
Tensor fmin(const Tensor& input, const Tensor& other, Into into = {});
Tensor clamp(const Tensor& input, const Tensor* min, const Tensor* max, Into into = {});
Tensor where(const Tensor& condition, const Tensor& input, const Tensor& other, Into into = {});

}  // namespace libdl
