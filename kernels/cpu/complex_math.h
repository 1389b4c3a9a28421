// SPDX-License-Identifier: Apache-2.0

// Complex functions that the system's library lacks, from its real ones and its exp and log. Errors
// are a few units of the last place of the result's absolute value; a component may lose more where
// it vanishes beside the other. Branch cuts and signed zeros are those of the system's log;
// infinities and NaN go through its exp and log.
#pragma once

#include <cmath>
#include <complex>
#include <numbers>

namespace libdl::kernels::cpu::complex_math {

using System = std::complex<double>;

inline bool is_finite(System z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

inline System exp2(System z) {
  using std::numbers::ln2;
  const double x = z.real(), y = z.imag();
  if (y == 0) return {std::exp2(x), y};
  if (!is_finite(z)) return std::exp(System(x * ln2, y * ln2));
  // The angle y ln 2 in two parts, for its rounding error would be the result's. Beyond 2^53 a
  // third part would be missed, and neighbours are many turns apart.
  constexpr double kLn2Low = 2.3190468138462996e-17;  // ln 2 - ln2
  const double angle = y * ln2;
  const double rest = std::fabs(angle) < 0x1p53 ? std::fma(y, ln2, -angle) + y * kLn2Low : 0.0;
  const double c1 = std::cos(angle), s1 = std::sin(angle);
  const double c2 = std::cos(rest), s2 = std::sin(rest);
  // The power in two parts: sine or cosine may bring one back that overflows or vanishes.
  const double half = std::trunc(x / 2), first = std::exp2(x - half), second = std::exp2(half);
  return {(c1 * c2 - s1 * s2) * first * second, (s1 * c2 + c1 * s2) * first * second};
}

inline System expm1(System z) {
  const double x = z.real(), y = z.imag();
  if (y == 0) return {std::expm1(x), y};
  if (!(x < 700) || !is_finite(z)) return std::exp(z) - 1.0;
  // e^x cos y - 1 = (e^x - 1) cos y - (1 - cos y)
  const double half = std::sin(y / 2);
  return {std::expm1(x) * std::cos(y) - 2 * half * half, std::exp(x) * std::sin(y)};
}

inline System log1p(System z) {
  const double x = z.real(), y = z.imag();
  if (y == 0 && x >= -1) return {std::log1p(x), y};
  const System log = std::log(System(1 + x, y));
  if (!(std::fabs(log.real()) < 0.7)) return log;
  // Near the unit circle: |1 + z|^2 - 1 = 2 x + x^2 + y^2, whose terms may cancel, in two parts.
  const auto added = [](double a, double b, double* rest) {
    const double sum = a + b, of_b = sum - a;
    *rest += (a - (sum - of_b)) + (b - of_b);
    return sum;
  };
  const double xx = x * x, yy = y * y;
  double rest = std::fma(x, x, -xx) + std::fma(y, y, -yy);
  const double sum = added(added(2 * x, xx, &rest), yy, &rest);
  return {0.5 * std::log1p(sum + rest), log.imag()};
}

// The logarithm to a base whose natural one is 1 / scale; real(x) is that of a positive number.
inline System log_to_base(System z, double (*real)(double), double scale) {
  const System log = std::log(z);
  const bool on_axis = z.real() == 0 || z.imag() == 0;  // powers of the base are exact there
  return {on_axis ? real(std::fabs(z.real() + z.imag())) : log.real() * scale, log.imag() * scale};
}
inline System log2(System z) { return log_to_base(z, std::log2, std::numbers::log2e); }
inline System log10(System z) { return log_to_base(z, std::log10, std::numbers::log10e); }

}  // namespace libdl::kernels::cpu::complex_math
