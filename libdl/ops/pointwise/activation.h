// SPDX-License-Identifier: Apache-2.0

// Pointwise activations. Meaning and errors: include/libdl/activation.h.
#pragma once

#include <string_view>

#include "ops/core/call.h"
#include "tensor/generator.h"

namespace libdl {

// A number in the type that the elements of a floating input are computed in, which must reach it;
// DTYPE if input is not floating.
Tensor unit_number(const char* op, int argument, const char* name, double value,
                   const Tensor& input);

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
Tensor hardtanh(const Tensor& input, double min_val, double max_val, Into into = {});
Tensor hardsigmoid(const Tensor& input, Into into = {});
Tensor hardswish(const Tensor& input, Into into = {});
Tensor selu(const Tensor& input, Into into = {});
Tensor celu(const Tensor& input, double alpha, Into into = {});
Tensor mish(const Tensor& input, Into into = {});
Tensor softshrink(const Tensor& input, double lambd, Into into = {});
Tensor glu(const Tensor& input, int32_t dim);
Tensor prelu(const Tensor& input, const Tensor& weight);
Tensor rrelu(const Tensor& input, double lower, double upper, bool training, Generator* generator,
             Into into = {});

}  // namespace libdl
