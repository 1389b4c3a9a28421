// SPDX-License-Identifier: Apache-2.0

// The inverse functions of complex numbers that devices use, beside those of the C library.
#include "kernels/complex_inverse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

#include "kernels/philox.h"

namespace libdl::kernels {
namespace {

using Z = std::complex<double>;

struct Function {
  const char* name;
  Complex (*own)(Complex);
  Z (*system)(Z);
};
const Function kFunctions[] = {
#define LIBDL_FUNCTION(name) {#name, complex_inverse::name, [](Z z) { return std::name(z); }}
    LIBDL_FUNCTION(asin),  LIBDL_FUNCTION(acos),  LIBDL_FUNCTION(atan),
    LIBDL_FUNCTION(asinh), LIBDL_FUNCTION(acosh), LIBDL_FUNCTION(atanh),
#undef LIBDL_FUNCTION
};

// In units of the last place; of two zeros and of infinities the signs must agree.
double distance(double a, double b) {
  if (a == b) return std::signbit(a) == std::signbit(b) ? 0 : INFINITY;
  return std::fabs(a - b) / (std::nextafter(std::fabs(b), INFINITY) - std::fabs(b));
}

// The components' largest difference is 6 ulp in three million numbers; the C library's own errors
// are part of it.
constexpr double kBound = 8;

void expect_near(const Function& f, Z z) {
  const Complex own = f.own({z.real(), z.imag()});
  const Z system = f.system(z);
  EXPECT_LE(distance(own.re, system.real()), kBound) << f.name << z << ", the real part";
  EXPECT_LE(distance(own.im, system.imag()), kBound) << f.name << z << ", the imaginary part";
}

TEST(ComplexInverse, AgreesWithTheCLibraryOnTheAxesTheCutsAndAtTheEndsOfTheRange) {
  std::vector<double> sizes = {0,    0.5,   1,      2,      1 + 1e-15, 1 - 1e-15,
                               1e-8, 1e-17, 5e-324, 1e-310, 1e-300,    1e-160,
                               1e17, 1e160, 1e300,  1.7e308};
  for (size_t i = 0, n = sizes.size(); i < n; ++i) sizes.push_back(-sizes[i]);
  for (const Function& f : kFunctions)
    for (const double x : sizes)
      for (const double y : sizes) expect_near(f, {x, y});
}

double unit(uint64_t i) { return philox(7, i, 0).word[0] * 0x1p-32; }

TEST(ComplexInverse, AgreesWithTheCLibraryForSmallResultsAndNearTheBranchPoints) {
  for (const Function& f : kFunctions) {
    for (uint64_t i = 0; i < 20000; ++i) {
      const double size = std::exp(200 * (unit(3 * i) - 0.5)), near = std::exp(-40 * unit(3 * i));
      const Z turn = std::polar(1.0, 2 * std::numbers::pi * unit(3 * i + 1));
      expect_near(f, size * turn);
      expect_near(f, {size * turn.real(), turn.imag()});
      for (const Z point : {Z(1, 0), Z(-1, 0), Z(0, 1), Z(0, -1)})
        expect_near(f, point + near * turn);
    }
  }
}

}  // namespace
}  // namespace libdl::kernels
