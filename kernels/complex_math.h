// SPDX-License-Identifier: Apache-2.0

// Complex functions that the systems' libraries lack, built from their real functions and their
// complex exp and log. Errors are a few ulp of the result's absolute value; a component may lose
// more if it is much smaller than the other. Branch cuts and signed zeros are those of the system's
// log; infinities and NaN go through its exp and log. System: std::complex<double>, or the device's
// type.
#pragma once

#include <cmath>

#include "kernels/scalars.h"

namespace libdl::kernels::complex_math {

constexpr double kLn2 = 0.69314718055994530942;
constexpr double kLog2E = 1.44269504088896340736, kLog10E = 0.43429448190325182765;

template <class System>
LIBDL_DEVICE bool is_finite(System z) {
  return std::isfinite(z.real()) && std::isfinite(z.imag());
}

template <class System>
LIBDL_DEVICE System exp2(System z) {
  const double x = z.real(), y = z.imag();
  if (y == 0) return {::exp2(x), y};
  if (!is_finite(z)) return exp(System(x * kLn2, y * kLn2));
  // The angle y ln 2 in two parts, because its rounding error would become the result's. Beyond
  // 2^53 a third part would be needed, but neighbouring values are many turns apart there.
  constexpr double kLn2Low = 2.3190468138462996e-17;  // ln 2 - kLn2
  const double angle = y * kLn2;
  const double rest = ::fabs(angle) < 0x1p53 ? ::fma(y, kLn2, -angle) + y * kLn2Low : 0.0;
  const double c1 = ::cos(angle), s1 = ::sin(angle);
  const double c2 = ::cos(rest), s2 = ::sin(rest);
  // The power as two factors: multiplied by sine or cosine, one that overflows or underflows may
  // come back into range.
  const double half = ::trunc(x / 2), first = ::exp2(x - half), second = ::exp2(half);
  return {(c1 * c2 - s1 * s2) * first * second, (s1 * c2 + c1 * s2) * first * second};
}

template <class System>
LIBDL_DEVICE System expm1(System z) {
  const double x = z.real(), y = z.imag();
  if (y == 0) return {::expm1(x), y};
  if (!(x < 700) || !is_finite(z)) return exp(z) - System(1.0);
  // e^x cos y - 1 = (e^x - 1) cos y - (1 - cos y)
  const double half = ::sin(y / 2);
  return {::expm1(x) * ::cos(y) - 2 * half * half, ::exp(x) * ::sin(y)};
}

// a + b; its rounding error is added to *rest.
LIBDL_DEVICE double added(double a, double b, double* rest) {
  const double sum = a + b, of_b = sum - a;
  *rest += (a - (sum - of_b)) + (b - of_b);
  return sum;
}

template <class System>
LIBDL_DEVICE System log1p(System z) {
  const double x = z.real(), y = z.imag();
  if (y == 0 && x >= -1) return {::log1p(x), y};
  const System direct = log(System(1 + x, y));
  if (!(::fabs(direct.real()) < 0.7)) return direct;
  // Near the unit circle: |1 + z|^2 - 1 = 2 x + x^2 + y^2, whose terms may cancel, in two parts.
  const double xx = x * x, yy = y * y;
  double rest = ::fma(x, x, -xx) + ::fma(y, y, -yy);
  const double sum = added(added(2 * x, xx, &rest), yy, &rest);
  return {0.5 * ::log1p(sum + rest), direct.imag()};
}

// The logarithm to a base whose natural logarithm is 1 / scale. On the axes `of_axis`, the real
// logarithm to that base, is used, so that powers of the base are exact there.
template <class System, class Real>
LIBDL_DEVICE System log_to_base(System z, Real of_axis, double scale) {
  const System natural = log(z);
  const bool on_axis = z.real() == 0 || z.imag() == 0;
  return {on_axis ? of_axis(::fabs(z.real() + z.imag())) : natural.real() * scale,
          natural.imag() * scale};
}
template <class System>
LIBDL_DEVICE System log2(System z) {
  return log_to_base(z, [](double x) { return ::log2(x); }, kLog2E);
}
template <class System>
LIBDL_DEVICE System log10(System z) {
  return log_to_base(z, [](double x) { return ::log10(x); }, kLog10E);
}

}  // namespace libdl::kernels::complex_math
