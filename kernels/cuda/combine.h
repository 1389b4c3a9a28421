// SPDX-License-Identifier: Apache-2.0

// Combines two elements of one dtype, as in kernels/cpu/traverse/combine.h: half types compute in
// float, integers wrap, a NaN on either side wins.
#pragma once

#include "kernels/cuda/device.h"

namespace libdl::kernels::cuda {

#ifdef LIBDL_KERNELS

template <class T>
inline constexpr bool is_sixteen_bit = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;
template <class T>
inline constexpr bool is_pair = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex>;

template <class T>
LIBDL_DEVICE T sum(T x, T y) {
  if constexpr (std::is_same_v<T, Bool>) {
    return {uint8_t((x.value != 0) | (y.value != 0))};
  } else if constexpr (is_pair<T>) {
    return {x.re + y.re, x.im + y.im};
  } else if constexpr (is_sixteen_bit<T>) {
    return convert_value<T>(to_float(x) + to_float(y));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  } else {
    return x + y;
  }
}

template <class T>
LIBDL_DEVICE T product(T x, T y) {
  if constexpr (std::is_same_v<T, Bool>) {
    return {uint8_t((x.value != 0) & (y.value != 0))};
  } else if constexpr (is_pair<T>) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  } else if constexpr (is_sixteen_bit<T>) {
    return convert_value<T>(to_float(x) * to_float(y));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  } else {
    return x * y;
  }
}

// Complex numbers have no order; the operators have refused them already.
template <class T>
LIBDL_DEVICE T extremum(bool largest, T a, T b) {
  if constexpr (is_pair<T>) {
    return b;
  } else if constexpr (std::is_same_v<T, Bool>) {
    const bool x = a.value != 0, y = b.value != 0;
    return (largest ? x > y : x < y) ? a : b;
  } else if constexpr (is_sixteen_bit<T>) {
    const float x = to_float(a), y = to_float(b);
    return (largest ? x > y : x < y) || x != x ? a : b;
  } else {
    return (largest ? a > b : a < b) || a != a ? a : b;
  }
}

template <class T>
LIBDL_DEVICE T combined(int32_t op, T x, T y) {
  switch (static_cast<ScatterOp>(op)) {
    case ScatterOp::kAdd: return sum(x, y);
    case ScatterOp::kMul: return product(x, y);
    case ScatterOp::kMax: return extremum(true, x, y);
    case ScatterOp::kMin: return extremum(false, x, y);
    case ScatterOp::kSet: break;
  }
  return y;
}

#endif  // LIBDL_KERNELS

}  // namespace libdl::kernels::cuda
