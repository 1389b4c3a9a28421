// SPDX-License-Identifier: Apache-2.0

// Scalar value types with the arithmetic that the pointwise expressions need: integers that wrap
// without undefined behaviour, booleans, and complex numbers.
#pragma once

#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#define LIBDL_DEVICE __host__ __device__ __forceinline__
#else
#define LIBDL_DEVICE inline __attribute__((always_inline))
#endif

namespace libdl::kernels {

// 0 or 1 in a byte.
struct Bool {
  uint8_t value;

  LIBDL_DEVICE explicit operator bool() const { return value != 0; }
  friend LIBDL_DEVICE bool operator==(Bool x, Bool y) { return x.value == y.value; }
  friend LIBDL_DEVICE bool operator!=(Bool x, Bool y) { return x.value != y.value; }
  friend LIBDL_DEVICE bool operator<(Bool x, Bool y) { return x.value < y.value; }
  friend LIBDL_DEVICE bool operator<=(Bool x, Bool y) { return x.value <= y.value; }
  friend LIBDL_DEVICE bool operator>(Bool x, Bool y) { return x.value > y.value; }
  friend LIBDL_DEVICE bool operator>=(Bool x, Bool y) { return x.value >= y.value; }
  friend LIBDL_DEVICE Bool operator&(Bool x, Bool y) { return {uint8_t(x.value & y.value)}; }
  friend LIBDL_DEVICE Bool operator|(Bool x, Bool y) { return {uint8_t(x.value | y.value)}; }
  friend LIBDL_DEVICE Bool operator^(Bool x, Bool y) { return {uint8_t(x.value ^ y.value)}; }
  friend LIBDL_DEVICE Bool operator~(Bool x) { return {uint8_t(x.value == 0)}; }
};

// T is int64_t or uint64_t; sums, differences and products wrap.
template <class T>
struct Wrapping {
  T value;

  LIBDL_DEVICE static Wrapping of(uint64_t bits) { return {static_cast<T>(bits)}; }
  LIBDL_DEVICE uint64_t bits() const { return static_cast<uint64_t>(value); }
  friend LIBDL_DEVICE Wrapping operator+(Wrapping x, Wrapping y) {
    return of(x.bits() + y.bits());
  }
  friend LIBDL_DEVICE Wrapping operator-(Wrapping x, Wrapping y) {
    return of(x.bits() - y.bits());
  }
  friend LIBDL_DEVICE Wrapping operator*(Wrapping x, Wrapping y) {
    return of(x.bits() * y.bits());
  }
  friend LIBDL_DEVICE Wrapping operator-(Wrapping x) { return of(0 - x.bits()); }
  friend LIBDL_DEVICE Wrapping operator&(Wrapping x, Wrapping y) { return {x.value & y.value}; }
  friend LIBDL_DEVICE Wrapping operator|(Wrapping x, Wrapping y) { return {x.value | y.value}; }
  friend LIBDL_DEVICE Wrapping operator^(Wrapping x, Wrapping y) { return {x.value ^ y.value}; }
  friend LIBDL_DEVICE Wrapping operator~(Wrapping x) { return {static_cast<T>(~x.value)}; }
  friend LIBDL_DEVICE bool operator==(Wrapping x, Wrapping y) { return x.value == y.value; }
  friend LIBDL_DEVICE bool operator!=(Wrapping x, Wrapping y) { return x.value != y.value; }
  friend LIBDL_DEVICE bool operator<(Wrapping x, Wrapping y) { return x.value < y.value; }
  friend LIBDL_DEVICE bool operator<=(Wrapping x, Wrapping y) { return x.value <= y.value; }
  friend LIBDL_DEVICE bool operator>(Wrapping x, Wrapping y) { return x.value > y.value; }
  friend LIBDL_DEVICE bool operator>=(Wrapping x, Wrapping y) { return x.value >= y.value; }
};
using Int64 = Wrapping<int64_t>;
using Uint64 = Wrapping<uint64_t>;

struct Complex {
  double re, im;

  friend LIBDL_DEVICE Complex operator+(Complex x, Complex y) { return {x.re + y.re, x.im + y.im}; }
  friend LIBDL_DEVICE Complex operator-(Complex x, Complex y) { return {x.re - y.re, x.im - y.im}; }
  friend LIBDL_DEVICE Complex operator-(Complex x) { return {-x.re, -x.im}; }
  friend LIBDL_DEVICE Complex operator*(Complex x, Complex y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  }
  // Smith's division: no overflow of |y|^2.
  friend LIBDL_DEVICE Complex operator/(Complex x, Complex y) {
    if (std::fabs(y.re) >= std::fabs(y.im)) {
      if (y.re == 0 && y.im == 0) return {x.re / std::fabs(y.re), x.im / std::fabs(y.re)};
      double ratio = y.im / y.re, scale = 1 / (y.re + y.im * ratio);
      return {(x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale};
    }
    double ratio = y.re / y.im, scale = 1 / (y.re * ratio + y.im);
    return {(x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale};
  }
  friend LIBDL_DEVICE bool operator==(Complex x, Complex y) { return x.re == y.re && x.im == y.im; }
  friend LIBDL_DEVICE bool operator!=(Complex x, Complex y) { return !(x == y); }
};

template <class V>
inline constexpr bool is_integer = false;
template <class V>
inline constexpr bool is_bool = false;
template <class V>
inline constexpr bool is_complex = false;
template <>
inline constexpr bool is_bool<Bool> = true;
template <>
inline constexpr bool is_complex<Complex> = true;
template <>
inline constexpr bool is_integer<Int64> = true;
template <>
inline constexpr bool is_integer<Uint64> = true;

// The scalar's zero and a small whole number, for expressions that exist for several classes.
template <class V>
LIBDL_DEVICE V number(int n) {
  if constexpr (is_integer<V>) {
    return V::of(static_cast<uint64_t>(static_cast<int64_t>(n)));
  } else {
    return V(n);
  }
}
template <>
LIBDL_DEVICE Bool number<Bool>(int n) {
  return {uint8_t(n != 0)};
}
template <>
LIBDL_DEVICE Complex number<Complex>(int n) {
  return {double(n), 0};
}

LIBDL_DEVICE Bool select(bool which, Bool x, Bool y) { return which ? x : y; }
template <class T>
LIBDL_DEVICE Wrapping<T> select(bool which, Wrapping<T> x, Wrapping<T> y) {
  return which ? x : y;
}
LIBDL_DEVICE Complex select(bool which, Complex x, Complex y) { return which ? x : y; }

// Integer division rounds to zero; by zero it gives 0; the quotient -2^63 / -1 wraps.
LIBDL_DEVICE Int64 quotient(Int64 x, Int64 y) {
  if (y.value == 0) return {0};
  return y.value == -1 ? -x : Int64{x.value / y.value};
}
LIBDL_DEVICE Uint64 quotient(Uint64 x, Uint64 y) {
  return {y.value == 0 ? 0 : x.value / y.value};
}

LIBDL_DEVICE bool is_negative(Int64 x) { return x.value < 0; }
LIBDL_DEVICE bool is_negative(Uint64) { return false; }

// x^y modulo 2^64 by squaring; a negative y gives the truncated fraction: 0 except for 1 and -1.
template <class T>
LIBDL_DEVICE Wrapping<T> power(Wrapping<T> x, Wrapping<T> y) {
  uint64_t base = x.bits(), exponent = y.bits(), result = 1;
  if (is_negative(y)) {
    if (base == 1) return {1};
    if (base != ~uint64_t{0}) return {0};
    return Wrapping<T>::of((exponent & 1) != 0 ? base : 1);
  }
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return Wrapping<T>::of(result);
}

}  // namespace libdl::kernels
