// SPDX-License-Identifier: Apache-2.0

// + - * / of tensors as C++ writes them.
#pragma once

#include "entries/arithmetic.h"
#include "ops/core/call.h"

namespace libdl {

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator*(const Tensor& a, double b) { return mul(a, number(b)); }
inline Tensor operator+(const Tensor& a, double b) { return add(a, number(b)); }

}  // namespace libdl
