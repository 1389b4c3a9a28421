// SPDX-License-Identifier: Apache-2.0

// Scalar value types with the arithmetic that the pointwise expressions need: integers that wrap
// without undefined behaviour, booleans, and complex numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

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

// T is an integer; sums, differences and products wrap. Narrow types compute in 32 unsigned bits,
// in which overflow is defined.
template <class T>
struct Wrapping {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  T value;

  LIBDL_DEVICE static Wrapping of(Bits bits) { return {static_cast<T>(bits)}; }
  LIBDL_DEVICE Bits bits() const { return static_cast<Bits>(value); }
  friend LIBDL_DEVICE Wrapping operator+(Wrapping x, Wrapping y) { return of(x.bits() + y.bits()); }
  friend LIBDL_DEVICE Wrapping operator-(Wrapping x, Wrapping y) { return of(x.bits() - y.bits()); }
  friend LIBDL_DEVICE Wrapping operator*(Wrapping x, Wrapping y) { return of(x.bits() * y.bits()); }
  friend LIBDL_DEVICE Wrapping operator-(Wrapping x) {  // in its own width, not that of Bits
    using Own = std::make_unsigned_t<T>;
    return {static_cast<T>(static_cast<Own>(Own{0} - static_cast<Own>(x.value)))};
  }
  friend LIBDL_DEVICE Wrapping operator&(Wrapping x, Wrapping y) {
    return {static_cast<T>(x.value & y.value)};
  }
  friend LIBDL_DEVICE Wrapping operator|(Wrapping x, Wrapping y) {
    return {static_cast<T>(x.value | y.value)};
  }
  friend LIBDL_DEVICE Wrapping operator^(Wrapping x, Wrapping y) {
    return {static_cast<T>(x.value ^ y.value)};
  }
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
template <class T>
inline constexpr bool is_integer<Wrapping<T>> = true;

// The scalar's zero and a small whole number, for expressions that exist for several classes.
template <class V>
LIBDL_DEVICE V number(int n) {
  if constexpr (is_integer<V>) {
    return V::of(static_cast<typename V::Bits>(static_cast<int64_t>(n)));
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

// Integer division rounds towards zero; division by zero gives 0; the smallest number divided by -1
// wraps.
template <class T>
LIBDL_DEVICE Wrapping<T> quotient(Wrapping<T> x, Wrapping<T> y) {
  if (y.value == 0) return {0};
  if constexpr (std::is_signed_v<T>) {
    if (y.value == -1) return -x;
  }
  return {static_cast<T>(x.value / y.value)};
}

template <class T>
LIBDL_DEVICE bool is_negative(Wrapping<T> x) {
  if constexpr (std::is_signed_v<T>) return x.value < 0;
  return false;
}

// x^y by squaring, modulo a power of two; a negative y gives the truncated fraction: 0 unless x is
// 1 or -1.
template <class T>
LIBDL_DEVICE Wrapping<T> power(Wrapping<T> x, Wrapping<T> y) {
  using Bits = typename Wrapping<T>::Bits;
  Bits base = x.bits(), exponent = y.bits(), result = 1;
  if (is_negative(y)) {
    if (base == 1) return {1};
    if (base != ~Bits{0}) return {0};
    return Wrapping<T>::of((exponent & 1) != 0 ? base : 1);
  }
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return Wrapping<T>::of(result);
}

}  // namespace libdl::kernels
