// SPDX-License-Identifier: Apache-2.0

// Logical and bitwise operators. Meaning and errors: include/libdl/bitwise.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor logical_not(const Tensor& input, Into into = {});
Tensor logical_and(const Tensor& input, const Tensor& other, Into into = {});
Tensor logical_or(const Tensor& input, const Tensor& other, Into into = {});
Tensor logical_xor(const Tensor& input, const Tensor& other, Into into = {});
Tensor bitwise_not(const Tensor& input, Into into = {});
Tensor bitwise_and(const Tensor& input, const Tensor& other, Into into = {});
Tensor bitwise_or(const Tensor& input, const Tensor& other, Into into = {});
Tensor bitwise_xor(const Tensor& input, const Tensor& other, Into into = {});
Tensor bitwise_left_shift(const Tensor& input, const Tensor& other, Into into = {});
Tensor bitwise_right_shift(const Tensor& input, const Tensor& other, Into into = {});

}  // namespace libdl
