// SPDX-License-Identifier: Apache-2.0

// + - * / and powers. Meaning and errors: include/libdl/arithmetic.h.
#pragma once

#include <string_view>

#include "ops/core/call.h"

namespace libdl {

Tensor add(const Tensor& input, const Tensor& other, const Tensor* alpha = nullptr, Into into = {});
Tensor sub(const Tensor& input, const Tensor& other, const Tensor* alpha = nullptr, Into into = {});
Tensor mul(const Tensor& input, const Tensor& other, Into into = {});
Tensor div(const Tensor& input, const Tensor& other,
           std::optional<std::string_view> rounding_mode = {}, Into into = {});
Tensor floor_divide(const Tensor& input, const Tensor& other, Into into = {});
Tensor remainder(const Tensor& input, const Tensor& other, Into into = {});
Tensor fmod(const Tensor& input, const Tensor& other, Into into = {});
Tensor pow(const Tensor& input, const Tensor& exponent, Into into = {});
Tensor neg(const Tensor& input, Into into = {});
Tensor abs(const Tensor& input, Into into = {});
Tensor sign(const Tensor& input, Into into = {});
Tensor sgn(const Tensor& input, Into into = {});
Tensor reciprocal(const Tensor& input, Into into = {});
Tensor square(const Tensor& input, Into into = {});
Tensor sqrt(const Tensor& input, Into into = {});
Tensor rsqrt(const Tensor& input, Into into = {});
Tensor conj(const Tensor& input, Into into = {});
Tensor lerp(const Tensor& input, const Tensor& end, const Tensor& weight, Into into = {});
Tensor addcmul(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2,
               const Tensor* value = nullptr, Into into = {});
Tensor addcdiv(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2,
               const Tensor* value = nullptr, Into into = {});

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator*(const Tensor& a, double b) { return mul(a, number(b)); }
inline Tensor operator+(const Tensor& a, double b) { return add(a, number(b)); }

}  // namespace libdl
