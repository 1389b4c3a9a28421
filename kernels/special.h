// SPDX-License-Identifier: Apache-2.0

// Special functions of doubles, once for every device, with the C library's or CUDA's elementary
// functions. None calls itself: a kernel's stack must be known when it is compiled.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "kernels/normal.h"

namespace libdl::kernels::special {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSqrtPi = 1.7724538509055160273;
constexpr double kSqrt2Pi = 2.5066282746310005024;

LIBDL_EVERYWHERE double erfc(double x) { return std::erfc(x); }
LIBDL_EVERYWHERE double sinh(double x) { return std::sinh(x); }
LIBDL_EVERYWHERE double cosh(double x) { return std::cosh(x); }
LIBDL_EVERYWHERE double asin(double x) { return std::asin(x); }
LIBDL_EVERYWHERE double acos(double x) { return std::acos(x); }
LIBDL_EVERYWHERE double atan(double x) { return std::atan(x); }
LIBDL_EVERYWHERE double asinh(double x) { return std::asinh(x); }
LIBDL_EVERYWHERE double acosh(double x) { return std::acosh(x); }
LIBDL_EVERYWHERE double atanh(double x) { return std::atanh(x); }
LIBDL_EVERYWHERE double atan2(double y, double x) { return std::atan2(y, x); }
LIBDL_EVERYWHERE double hypot(double x, double y) { return std::hypot(x, y); }

// The normal quantile, and one step of Halley's method. Near +-1 the residual is that of erfc,
// because 1 - |x| is exact there.
LIBDL_EVERYWHERE double erfinv(double x) {
  const double size = std::fabs(x);
  if (!(size < 1)) return size == 1 ? std::copysign(kInfinite, x) : kNaN;
  if (size < 1e-8) return x * (kSqrtPi / 2);
  const double y = normal_quantile(size / 2) / std::numbers::sqrt2;
  const double off = size < 0.5 ? std::erf(y) - size : (1 - size) - std::erfc(y);
  const double step = off * (kSqrtPi / 2) * std::exp(y * y);
  return std::copysign(y - step / (1 + y * step), x);
}

LIBDL_EVERYWHERE double exp_of_square(double x) {
  const double square = x * x, rest = std::fma(x, x, -square);  // x^2 in two doubles
  return std::exp(square) * (1 + rest);
}
// Of what is not below 0. From 10 on the asymptotic series, whose terms decrease to exp(-x^2).
LIBDL_EVERYWHERE double erfcx_above(double x) {
  if (x < 10) return exp_of_square(x) * std::erfc(x);
  if (std::isinf(x)) return 0;
  const double square = x * x;
  double sum = 1, term = 1;
  for (int k = 1; k < 12; ++k) sum += term *= -(2 * k - 1) / (2 * square);
  return sum / (x * kSqrtPi);
}
LIBDL_EVERYWHERE double erfcx(double x) {
  const double value = erfcx_above(x < 0 ? -x : x);
  if (!(x < 0)) return value;
  return x * x > 709 ? kInfinite : 2 * exp_of_square(x) - value;
}

LIBDL_EVERYWHERE double lgamma(double x) {
  if (std::isinf(x)) return kInfinite;
#ifdef __CUDA_ARCH__
  return ::lgamma(x);
#else
  int sign;  // the C library's lgamma() writes to a global
  return ::lgamma_r(x, &sign);
#endif
}

// Of what is above 0: recurrence up to 10, then the asymptotic series (Abramowitz and Stegun,
// 6.3.18).
LIBDL_EVERYWHERE double digamma_above(double x) {
  double below = 0;
  while (x < 10) below += 1 / x++;
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return std::log(x) - 0.5 / x - series - below;
}
// By reflection below 0.
LIBDL_EVERYWHERE double digamma(double x) {
  if (x == 0) return std::copysign(kInfinite, -x);
  if (x < 0 && x == std::floor(x)) return kNaN;
  const double value = digamma_above(x < 0 ? 1 - x : x);
  if (!(x < 0)) return value;
  const double part = std::fmod(x, 1.0);  // exact; tan of pi x itself would lose digits
  return value - std::numbers::pi / std::tan(std::numbers::pi * part);
}

// unit^s times Hurwitz's zeta function, the sum of (unit / (q + k))^s, for whole s >= 2 and q above
// 0: terms are added until the rest is Euler and Maclaurin's, whose series wants a q
// that is larger than s.
LIBDL_EVERYWHERE double zeta_above(double s, double q, double unit) {
  double sum = 0;
  for (int k = 0; k < 100 && q < 1.5 * s + 7; ++k) {
    const double term = std::pow(q++ / unit, -s);
    sum += term;
    if (term <= 1e-17 * sum) return sum;
  }
  // B_2j / (2j)!
  constexpr double kBernoulli[] = {1.0 / 12,           -1.0 / 720,     1.0 / 30240,
                                   -1.0 / 1209600,     1.0 / 47900160, -691.0 / 1307674368000.0,
                                   1.0 / 74724249600.0};
  // Not the power of -s, which may vanish where this one does not.
  const double rest = std::pow(q / unit, 1 - s) * unit;
  sum += rest * (1 / (s - 1) + 0.5 / q);
  double rising = s, power = rest / q / q;
  for (int j = 0; j < 7; ++j) {
    sum += kBernoulli[j] * rising * power;
    rising *= (s + 2 * j + 1) * (s + 2 * j + 2);
    power = power / q / q;
  }
  return sum;
}
// The terms of negative numbers are those from 1 - q down to -r, where r is what is left of q when
// its whole part is gone: the difference of two such sums.
LIBDL_EVERYWHERE double zeta(double s, double q, double unit) {
  if (!(q < 0)) return zeta_above(s, q, unit);
  const double r = std::fmod(q, 1.0), sign = std::fmod(s, 2) == 0 ? 1 : -1;
  // the large ones first
  return zeta_above(s, 1 + r, unit) + sign * zeta_above(s, -r, unit) -
         sign * zeta_above(s, 1 - q, unit);
}

// n! zeta(n + 1, x)
LIBDL_EVERYWHERE double factorial_zeta(double n, double x) {
  if (x == kInfinite) return 0;
  if (x <= 0 && x == std::floor(x)) return kInfinite;
  const double sum = zeta(n + 1, x, 1), value = std::tgamma(n + 1) * sum;
  if (std::fabs(sum) > 1e-290 && std::fabs(value) < kInfinite) return value;
  // The factorial overflows before the sum makes it small, or the sum vanishes first.
  const double r = std::fmod(x, 1.0), unit = x < 0 ? std::fmin(-r, 1 + r) : x;
  return std::exp(lgamma(n + 1) - n * std::log(unit)) * (zeta(n + 1, x, unit) / unit);
}

// (-1)^(n + 1) n! zeta(n + 1, x), for n of 1 and more
LIBDL_EVERYWHERE double polygamma(int64_t n, double x) {
  if (n == 1 && x == -kInfinite) return kNaN;
  const bool reflected = n == 1 && x < 0.5 && x != std::floor(x);
  const double value = factorial_zeta(static_cast<double>(n), reflected ? 1 - x : x);
  if (!reflected) return n % 2 ? value : -value;
  const double sine = std::sin(std::numbers::pi * std::fmod(x, 1.0));
  return std::numbers::pi * std::numbers::pi / (sine * sine) - value;
}

// I_order(x) exp(-|x|): the power series, whose terms are positive, then the asymptotic one.
LIBDL_EVERYWHERE double bessel_scaled(int order, double x) {
  const double size = std::fabs(x), sign = order == 1 && x < 0 ? -1 : 1;
  if (size < 30) {
    double term = order == 1 ? size / 2 : 1, sum = term;
    for (int k = 1; term > sum * 1e-17; ++k) sum += term *= size * size / (4.0 * k * (k + order));
    return sign * sum * std::exp(-size);
  }
  if (std::isinf(size)) return sign * 0.0;
  double term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) {
    const double odd = 2 * k - 1;
    term *= (odd * odd - 4 * order) / (8 * k * size);
    if (std::fabs(term) < 1e-17) break;
    sum += term;
  }
  return sign * sum / (kSqrt2Pi * std::sqrt(size));
}
LIBDL_EVERYWHERE double unscaled(double scaled, double x) {
  // exp of half, twice: the product may be finite where exp(x) is not
  const double half = std::exp(std::fabs(x) / 2);
  return scaled * half * half;
}
LIBDL_EVERYWHERE double i0e(double x) { return std::isnan(x) ? x : bessel_scaled(0, x); }
LIBDL_EVERYWHERE double i1e(double x) { return std::isnan(x) ? x : bessel_scaled(1, x); }
LIBDL_EVERYWHERE double i0(double x) { return std::isinf(x) ? kInfinite : unscaled(i0e(x), x); }
LIBDL_EVERYWHERE double i1(double x) { return std::isinf(x) ? x : unscaled(i1e(x), x); }

LIBDL_EVERYWHERE double ndtr(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// Of 0 < p <= 0.5: a start from the tail's asymptotic form or from normal_quantile, and steps of
// Halley's method.
LIBDL_EVERYWHERE double ndtri_of_half(double p) {
  if (p > 0.01) return normal_quantile(p - 0.5);
  const double t = std::sqrt(-2 * std::log(p));
  double x = -(t - (std::log(t) + std::log(kSqrt2Pi)) / t);
  for (int k = 0; k < 4; ++k) {  // on log ndtr, which is nearly a parabola there
    const double tail = erfcx(-x / std::numbers::sqrt2) / 2;
    const double off = std::log(tail) - x * x / 2 - std::log(p);
    x -= off * tail * kSqrt2Pi;
  }
  return x;
}
LIBDL_EVERYWHERE double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -kInfinite : p == 1 ? kInfinite : kNaN;
  const double x = ndtri_of_half(p > 0.5 ? 1 - p : p);
  return p > 0.5 ? -x : x;
}

LIBDL_EVERYWHERE double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x / std::numbers::sqrt2) / 2) - x * x / 2;
  return std::log1p(-std::erfc(x / std::numbers::sqrt2) / 2);
}

// x^a exp(-x) / gamma(a + 1). From 10 on by Stirling's series, about the largest value: a log(x) -
// x itself would lose digits.
LIBDL_EVERYWHERE double gamma_weight(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x - lgamma(a + 1));
  const double off = (x - a) / a, z = 1 / (a * a);
  const double stirling =
      (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z / 1188)))) / a;
  return std::exp(a * (std::log1p(off) - off) - stirling) / (kSqrt2Pi * std::sqrt(a));
}
// Below the order, or 1, P by its power series; above it Q by the continued fraction (Abramowitz
// and Stegun, 6.5.29 and 6.5.31), from front to back after Lentz. Q of a small order near 0 is 1 -
// P.
LIBDL_EVERYWHERE double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0)) return kNaN;
  if (x == 0 || std::isinf(a)) return a == 0 || std::isinf(x) ? kNaN : upper;
  if (a == 0 || std::isinf(x)) return !upper;
  if (a > 1e8) {
    const double position = 3 * std::sqrt(a) * (std::cbrt(x / a) - 1 + 1 / (9 * a));
    return ndtr(upper ? -position : position);
  }
  const double weight = gamma_weight(a, x);
  if (x < 1 || x < a) {
    double sum = 1, term = 1;
    for (double k = 1; term > sum * 1e-17; ++k) sum += term *= x / (a + k);
    return upper ? 1 - weight * sum : weight * sum;
  }
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, fraction = d, change = 0;
  for (double k = 1; std::fabs(change - 1) > 1e-15; ++k) {
    const double factor = k * (a - k);
    b += 2;
    d = factor * d + b;
    c = b + factor / c;
    if (std::fabs(d) < kTiny) d = kTiny;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    fraction *= change = c * d;
  }
  const double rest = a * weight * fraction;
  return upper ? rest : 1 - rest;
}
LIBDL_EVERYWHERE double igamma(double a, double x) { return incomplete_gamma(a, x, false); }
LIBDL_EVERYWHERE double igammac(double a, double x) { return incomplete_gamma(a, x, true); }

LIBDL_EVERYWHERE double logaddexp(double x, double y) {
  if (x == y) return x + std::numbers::ln2;  // infinities, too
  return std::fmax(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
}
LIBDL_EVERYWHERE double logaddexp2(double x, double y) {
  if (x == y) return x + 1;
  return std::fmax(x, y) + std::log1p(std::exp2(-std::fabs(x - y))) / std::numbers::ln2;
}

}  // namespace libdl::kernels::special
