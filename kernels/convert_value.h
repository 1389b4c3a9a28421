// SPDX-License-Identifier: Apache-2.0

// One element's conversion, between any two of the types below.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/scalars.h"

namespace libdl::kernels {

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
struct Complex64 {
  float re, im;
};

LIBDL_DEVICE float to_float(Bfloat x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

// Scaling by 2^112 moves the exponent from float16's bias to float32's, subnormals included.
LIBDL_DEVICE float to_float(Half x) {
  uint32_t magnitude = uint32_t{x.bits & 0x7FFFu} << 13, sign = uint32_t{x.bits & 0x8000u} << 16;
  float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  uint32_t special = magnitude | 0x7F800000u;
  if (magnitude > 0x0F800000u) special |= 0x00400000u;  // a NaN becomes quiet
  uint32_t bits = magnitude >= 0x0F800000u ? special : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | sign);
}

LIBDL_DEVICE Bfloat to_bfloat(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
  uint32_t nan = bits >> 16 | 0x40u;
  return {static_cast<uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded)};
}

// Below 2^-14 adding 0.5 leaves the subnormal's 10 bits, rounded, at the end of the mantissa.
LIBDL_DEVICE Half to_half(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  uint32_t magnitude = bits & 0x7FFFFFFFu, sign = bits >> 16 & 0x8000u;
  uint32_t normal = (magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1)) >> 13;
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
  uint32_t special = magnitude > 0x7F800000u ? 0x7E00u | (magnitude >> 13 & 0x3FFu) : 0x7C00u;
  uint32_t result = magnitude < 0x38800000u ? small : normal;
  result = magnitude >= 0x477FF000u ? special : result;  // 65520 and above overflow
  return {static_cast<uint16_t>(result | sign)};
}

// To float, rounded to odd: rounding that again to at most 22 bits equals rounding x directly.
LIBDL_DEVICE float to_odd_float(double x) {
  float nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || nearest != nearest) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  double magnitude = x < 0 ? -x : x;
  double rounded = std::bit_cast<float>(bits & 0x7FFFFFFFu);
  if (rounded > magnitude) --bits;  // toward zero
  return std::bit_cast<float>(bits | 1u);
}

// F must represent To's limits exactly, unless To has 64 bits.
template <class To, class F>
LIBDL_DEVICE To to_integer(F x) {
  constexpr F low = static_cast<F>(std::numeric_limits<To>::min());
  if constexpr (sizeof(To) < 8) {
    constexpr F high = static_cast<F>(std::numeric_limits<To>::max());
    F kept = x < low ? low : x > high ? high : x;
    kept = x == x ? kept : F(0);
    if constexpr (sizeof(To) < 4 || std::is_signed_v<To>) {
      return static_cast<To>(static_cast<int32_t>(kept));
    } else {
      return static_cast<To>(static_cast<int64_t>(kept));
    }
  } else {
    constexpr double end = std::is_signed_v<To> ? 0x1p63 : 0x1p64;
    if (x != x) return 0;
    if (x >= end) return std::numeric_limits<To>::max();
    return x <= low ? std::numeric_limits<To>::min() : static_cast<To>(x);
  }
}

template <class To, class From>
LIBDL_DEVICE To convert_value(From x) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, Bfloat>) {
    return convert_value<To>(to_float(x));
  } else if constexpr (std::is_same_v<From, Bool>) {
    return convert_value<To>(static_cast<uint8_t>(x.value != 0));
  } else if constexpr (std::is_same_v<From, Complex> || std::is_same_v<From, Complex64>) {
    if constexpr (std::is_same_v<To, Bool>) {
      return {uint8_t((x.re != 0) | (x.im != 0))};
    } else if constexpr (std::is_same_v<To, Complex>) {
      return {double(x.re), double(x.im)};
    } else if constexpr (std::is_same_v<To, Complex64>) {
      return {static_cast<float>(x.re), static_cast<float>(x.im)};
    } else {
      return convert_value<To>(x.re);
    }
  } else if constexpr (std::is_same_v<To, Bool>) {
    return {uint8_t(x != 0)};
  } else if constexpr (std::is_same_v<To, Complex>) {
    return {static_cast<double>(x), 0.0};
  } else if constexpr (std::is_same_v<To, Complex64>) {
    return {static_cast<float>(x), 0.0f};
  } else if constexpr (std::is_same_v<To, Half>) {
    if constexpr (std::is_same_v<From, double>) return to_half(to_odd_float(x));
    return to_half(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, Bfloat>) {
    if constexpr (std::is_same_v<From, double>) return to_bfloat(to_odd_float(x));
    return to_bfloat(static_cast<float>(x));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    using Exact = std::conditional_t<sizeof(To) <= 2, From, double>;
    return to_integer<To>(static_cast<Exact>(x));
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace libdl::kernels
