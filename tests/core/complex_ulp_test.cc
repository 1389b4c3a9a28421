// SPDX-License-Identifier: Apache-2.0

// Largest errors of the complex functions against MPFR, in units of the last place of the result's
// absolute value: near the places where the plain formulas cancel, overflow or lose the angle, too.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <numbers>
#include <vector>

#include "kernels/cpu/tiles/tiles.h"
#include "tests/core/mpfr_number.h"

namespace libdl::kernels {
namespace {

using Z = std::complex<double>;

// 2 x + x^2 + y^2 of numbers down to 1e-20 is exact in so many bits.
using Number = test::MpfrNumber<500>;

using Truth = void (*)(Number& re, Number& im, const Number& x, const Number& y);

// base^(x + i y), from base^x and the natural logarithm of the base.
void power(Number& re, Number& im, const Number& scaled_power, const Number& y, const Number& log) {
  Number angle;
  mpfr_mul(angle.m, y.m, log.m, MPFR_RNDN);
  mpfr_sin_cos(im.m, re.m, angle.m, MPFR_RNDN);
  mpfr_mul(re.m, re.m, scaled_power.m, MPFR_RNDN);
  mpfr_mul(im.m, im.m, scaled_power.m, MPFR_RNDN);
}
void exp2(Number& re, Number& im, const Number& x, const Number& y) {
  Number size, log;
  mpfr_exp2(size.m, x.m, MPFR_RNDN);
  mpfr_const_log2(log.m, MPFR_RNDN);
  power(re, im, size, y, log);
}
void expm1(Number& re, Number& im, const Number& x, const Number& y) {
  Number size, one(1);
  mpfr_exp(size.m, x.m, MPFR_RNDN);
  power(re, im, size, y, one);
  mpfr_sub(re.m, re.m, one.m, MPFR_RNDN);
}
void log(Number& re, Number& im, const Number& x, const Number& y) {
  mpfr_hypot(re.m, x.m, y.m, MPFR_RNDN);
  mpfr_log(re.m, re.m, MPFR_RNDN);
  mpfr_atan2(im.m, y.m, x.m, MPFR_RNDN);
}
void log_to(Number& re, Number& im, const Number& x, const Number& y, unsigned long base) {
  Number scale;
  log(re, im, x, y);
  mpfr_log_ui(scale.m, base, MPFR_RNDN);
  mpfr_div(re.m, re.m, scale.m, MPFR_RNDN);
  mpfr_div(im.m, im.m, scale.m, MPFR_RNDN);
}
void log2(Number& re, Number& im, const Number& x, const Number& y) { log_to(re, im, x, y, 2); }
void log10(Number& re, Number& im, const Number& x, const Number& y) { log_to(re, im, x, y, 10); }
void log1p(Number& re, Number& im, const Number& x, const Number& y) {
  Number moved;
  mpfr_add_ui(moved.m, x.m, 1, MPFR_RNDN);
  log(re, im, moved, y);
}
// (sin 2x + i sinh 2y) / (cos 2x + cosh 2y)
void tan(Number& re, Number& im, const Number& x, const Number& y) {
  Number twice, c, d;
  mpfr_mul_2ui(twice.m, x.m, 1, MPFR_RNDN);
  mpfr_sin_cos(re.m, c.m, twice.m, MPFR_RNDN);
  mpfr_mul_2ui(twice.m, y.m, 1, MPFR_RNDN);
  mpfr_sinh_cosh(im.m, d.m, twice.m, MPFR_RNDN);
  mpfr_add(c.m, c.m, d.m, MPFR_RNDN);
  mpfr_div(re.m, re.m, c.m, MPFR_RNDN);
  mpfr_div(im.m, im.m, c.m, MPFR_RNDN);
}

// Where samples lie: |Re| and |Im| up to these, beside all sizes down to 1e-12.
struct Case {
  Expression expression;
  Truth truth;
  double re, im;
};
const Case kCases[] = {
    {Expression::exp2, exp2, 1100, 1e15},     {Expression::expm1, expm1, 720, 1e15},
    {Expression::log2, log2, 1e300, 1e300},   {Expression::log10, log10, 1e300, 1e300},
    {Expression::log1p, log1p, 1e300, 1e300}, {Expression::tan, tan, 1e6, 30},
};
// Two or three roundings in each component; the largest found is 2.1, and 3.5 in the system's tan.
constexpr double kBound = 4;

uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}
double unit(uint64_t seed) { return double(mix(seed) >> 11) * 0x1p-53; }

double sized(uint64_t seed, double most) {
  const double size = std::exp(std::log(1e-12) + (std::log(most) - std::log(1e-12)) * unit(seed));
  return mix(seed + 5) % 2 ? -size : size;
}

std::vector<Z> samples(const Case& c) {
  std::vector<Z> z;
  for (uint64_t i = 0; i < 1500; ++i) {
    z.push_back({sized(9 * i, c.re), sized(9 * i + 1, c.im)});
    z.push_back({sized(9 * i + 2, 4), sized(9 * i + 3, 4)});
    const double angle = 2 * std::numbers::pi * unit(9 * i + 4);
    const Z circle = std::polar(1.0, angle);
    z.push_back(circle);
    z.push_back(circle - 1.0);  // |1 + z| is nearly 1
    const double small = sized(9 * i + 5, 1e-3);
    z.push_back({-small * small / 2, small});  // likewise, near 0
    z.push_back({sized(9 * i + 6, 1e-3), sized(9 * i + 7, c.im)});
    z.push_back({std::copysign(c.re * (1 - 0.1 * unit(9 * i + 8)), small), sized(9 * i + 1, 4)});
  }
  return z;
}

// |got - truth| in units of the last place of |truth|.
double error_of(Z got, const Number& re, const Number& im) {
  Number size, a, b;
  mpfr_hypot(size.m, re.m, im.m, MPFR_RNDN);
  const double large = mpfr_get_d(size.m, MPFR_RNDN);
  if (!(std::fabs(mpfr_get_d(re.m, MPFR_RNDN)) < INFINITY &&
        std::fabs(mpfr_get_d(im.m, MPFR_RNDN)) < INFINITY))
    return std::isinf(got.real()) || std::isinf(got.imag()) ? 0 : 1e9;
  if (!std::isfinite(got.real()) || !std::isfinite(got.imag())) return 1e9;
  int exponent;
  std::frexp(std::min(large, std::numeric_limits<double>::max()), &exponent);
  exponent = std::max(exponent - 53, -1074);
  mpfr_sub_d(a.m, re.m, got.real(), MPFR_RNDN);
  mpfr_sub_d(b.m, im.m, got.imag(), MPFR_RNDN);
  mpfr_hypot(a.m, a.m, b.m, MPFR_RNDN);
  mpfr_mul_2si(a.m, a.m, -exponent, MPFR_RNDN);
  return mpfr_get_d(a.m, MPFR_RNDN);
}

TEST(ComplexUlp, ErrorsStayWithinTheirBound) {
  for (const Case& c : kCases) {
    const std::vector<Z> z = samples(c);
    std::vector<Z> got(z.size());
    const void* in[] = {z.data()};
    cpu::tile_table(Class::kC128)[static_cast<int>(c.expression)](in, got.data(),
                                                                  static_cast<int64_t>(z.size()));
    double most = 0;
    Z where;
    for (size_t i = 0; i < z.size(); ++i) {
      Number re, im;
      c.truth(re, im, Number(z[i].real()), Number(z[i].imag()));
      const double error = error_of(got[i], re, im);
      if (error > most) most = error, where = z[i];
    }
    const char* name = kExpressionInfo[static_cast<int>(c.expression)].name;
    std::printf("%-8s %8.3f ulp at (%.17g, %.17g)\n", name, most, where.real(), where.imag());
    EXPECT_LE(most, kBound) << name << " at " << where;
  }
}

}  // namespace
}  // namespace libdl::kernels
