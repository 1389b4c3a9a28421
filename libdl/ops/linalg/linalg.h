// SPDX-License-Identifier: Apache-2.0

// Matrix products. Meaning and errors: include/libdl/linalg.h, and nn.h for linear.
#pragma once

#include <optional>

#include "ops/core/call.h"

namespace libdl {

Tensor matmul(const Tensor& input, const Tensor& other, Into into = {});
Tensor mm(const Tensor& input, const Tensor& mat2, Into into = {});
Tensor bmm(const Tensor& input, const Tensor& mat2, Into into = {});
Tensor mv(const Tensor& input, const Tensor& vec, Into into = {});
Tensor dot(const Tensor& input, const Tensor& tensor, Into into = {});
Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2,
             const Tensor* beta = nullptr, const Tensor* alpha = nullptr, Into into = {});
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor* bias, Into into = {});

// What the dimensions before those of two operands' matrices broadcast to, if they do.
std::optional<Shape> broadcast_batch(Dims a, Dims b);

}  // namespace libdl
