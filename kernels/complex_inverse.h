// SPDX-License-Identifier: Apache-2.0

// Inverse trigonometric and hyperbolic functions of finite complex numbers, for devices whose own
// lose the digits of small results. Errors of both components are a few ulp. On a branch cut the
// sign of the zero says which side is meant.
#pragma once

#include <cmath>
#include <numbers>

#include "kernels/half.h"
#include "kernels/scalars.h"

namespace libdl::kernels::complex_inverse {

constexpr double kHalfPi = std::numbers::pi / 2;
constexpr double kEpsilon = 0x1p-52;
// Between these, squares neither overflow nor lose digits.
constexpr double kSafeLow = 0x1p-509, kSafeHigh = 0x1p508;

// What asin and acos are made of, for a number of the first quadrant.
struct Angle {
  double sine, cosine;  // asin's and acos's real part
  double height;        // the imaginary part of asin
};

// log(x + sqrt(x^2 - 1)) of 1 + above.
LIBDL_EVERYWHERE double acosh_of_one_and(double above) {
  if (above > kSafeHigh) return std::log(above) + std::numbers::ln2;
  return std::log1p(above + std::sqrt(above * (2 + above)));
}

// Where squares would overflow or vanish.
LIBDL_EVERYWHERE Angle extreme_angle(double x, double y) {
  const double off = std::fabs(x - 1);
  if (y <= kEpsilon * off) {
    const double root = x < kSafeHigh ? std::sqrt(off) * std::sqrt(x + 1) : x;
    if (x < 1) return {std::asin(x), std::acos(x), y / root};
    return {kHalfPi, x == 1 ? 0 : y / root, acosh_of_one_and(x - 1)};
  }
  if (y < kSafeLow) return {kHalfPi - std::sqrt(y), std::sqrt(y), std::sqrt(y)};  // x is 1
  if (kEpsilon * y >= x + 1) return {x / y, kHalfPi, std::log(y) + std::numbers::ln2};
  if (x > 1) {  // both are large
    const double ratio = x / y;
    return {std::atan(ratio), std::atan(y / x),
            std::log(y) + std::numbers::ln2 + 0.5 * std::log1p(ratio * ratio)};
  }
  const double size = std::sqrt(1 + y * y);  // x is small
  return {x / size, kHalfPi - x / size, 0.5 * std::log1p(2 * y * (y + size))};
}

// Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using
// exception handling", ACM TOMS 23 (1997). r and s are the distances from -1 and 1.
LIBDL_EVERYWHERE Angle angle(double x, double y) {
  if (!(x > kSafeLow && x < kSafeHigh && y > kSafeLow && y < kSafeHigh)) return extreme_angle(x, y);
  const double r = std::hypot(x + 1, y), s = std::hypot(x - 1, y), a = 0.5 * (r + s), b = x / a;
  const double from_r = y * y / (r + (x + 1));  // r - (x + 1)
  const double from_s = x < 1 ? y * y / (s + (1 - x)) : s + (x - 1);
  Angle result;
  result.height =
      a <= 1.5 ? acosh_of_one_and(0.5 * (from_r + from_s)) : std::log(a + std::sqrt(a * a - 1));
  if (b <= 0.6417) return result.sine = std::asin(b), result.cosine = std::acos(b), result;
  // a^2 - x^2 from terms that do not cancel
  const double side =
      x <= 1 ? std::sqrt(0.5 * (a + x) * (from_r + (s + (1 - x))))
             : y * std::sqrt(0.5 * ((a + x) / (r + (x + 1)) + (a + x) / (s + (x - 1))));
  result.sine = std::atan(x / side);
  result.cosine = std::atan(side / x);
  return result;
}

LIBDL_EVERYWHERE Complex asin(Complex z) {
  const Angle result = angle(std::fabs(z.re), std::fabs(z.im));
  return {std::copysign(result.sine, z.re), std::copysign(result.height, z.im)};
}
LIBDL_EVERYWHERE Complex acos(Complex z) {
  const Angle result = angle(std::fabs(z.re), std::fabs(z.im));
  const double real = std::signbit(z.re) ? std::numbers::pi - result.cosine : result.cosine;
  return {real, std::copysign(result.height, -z.im)};
}
LIBDL_EVERYWHERE Complex acosh(Complex z) {
  const Complex result = acos(z);
  return {std::fabs(result.im), std::copysign(result.re, z.im)};
}

// x / (x^2 + y^2) for numbers one of which is large.
LIBDL_EVERYWHERE double reciprocal_real(double x, double y) {
  const bool steep = std::fabs(x) > std::fabs(y);
  const double ratio = steep ? y / x : x / y;
  return (steep ? 1 / x : ratio / y) / (1 + ratio * ratio);
}
LIBDL_EVERYWHERE Complex atanh(Complex z) {
  const double x = std::fabs(z.re), y = std::fabs(z.im);
  if (y == 0 && x <= 1) return {std::atanh(z.re), z.im};
  if (x > 1 / kEpsilon || y > 1 / kEpsilon)
    return {reciprocal_real(z.re, z.im), std::copysign(kHalfPi, z.im)};
  if (x < 1e-8 && y < 1e-8) return z;  // the next terms are of the third order
  const double off = x - 1, square = off * off + (y < kSafeLow ? 0 : y * y);
  const double real = x == 1 && y < kEpsilon ? 0.5 * (std::numbers::ln2 - std::log(y))
                                             : 0.25 * std::log1p(4 * x / square);
  const double below = (1 - x) * (1 + x) - (y < kEpsilon ? 0 : y * y);
  return {std::copysign(real, z.re), std::copysign(0.5 * std::atan2(2 * y, below), z.im)};
}

// With the components changed over, the plane's mirror image, these are those above.
LIBDL_EVERYWHERE Complex asinh(Complex z) {
  const Complex result = asin({z.im, z.re});
  return {result.im, result.re};
}
LIBDL_EVERYWHERE Complex atan(Complex z) {
  const Complex result = atanh({z.im, z.re});
  return {result.im, result.re};
}

}  // namespace libdl::kernels::complex_inverse
