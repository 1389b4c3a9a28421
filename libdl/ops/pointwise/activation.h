// SPDX-License-Identifier: Apache-2.0

// Pointwise activations. Meaning and errors: include/libdl/activation.h.
#pragma once

#include <string_view>

#include "ops/core/call.h"

namespace libdl {

Tensor tanh(const Tensor& input, Into into = {});
Tensor sigmoid(const Tensor& input, Into into = {});
Tensor erf(const Tensor& input, Into into = {});
Tensor relu(const Tensor& input, Into into = {});
Tensor gelu(const Tensor& input, std::optional<std::string_view> approximate = {}, Into into = {});
Tensor silu(const Tensor& input, Into into = {});
Tensor elu(const Tensor& input, double alpha = 1, Into into = {});
Tensor leaky_relu(const Tensor& input, double negative_slope = 0.01, Into into = {});
Tensor hardshrink(const Tensor& input, double lambd = 0.5, Into into = {});
Tensor softplus(const Tensor& input, double beta = 1, double threshold = 20, Into into = {});
Tensor logsigmoid(const Tensor& input, Into into = {});

}  // namespace libdl
