// SPDX-License-Identifier: Apache-2.0

// Sines, cosines and tangents of the doubles that are nearest to multiples of pi / 2: there the
// reduction cancels all of x, and what pi / 2 lacks is all that is left. Samples never meet them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/tiles/tiles.h"
#include "tests/core/mpfr_number.h"

namespace libdl::kernels {
namespace {

using Number = test::MpfrNumber<256>;

// Doubles within 2^-45 of a multiple of pi / 2, up to 2^20: beyond, the system's library reduces.
const std::vector<double>& near_quarter_turns() {
  static const std::vector<double> all = [] {
    std::vector<double> x;
    Number quarter, turn, rest;
    mpfr_const_pi(quarter.m, MPFR_RNDN);
    mpfr_div_2ui(quarter.m, quarter.m, 1, MPFR_RNDN);
    for (unsigned long n = 1; n < 667544; ++n) {  // 2^20 / (pi / 2)
      mpfr_mul_ui(turn.m, quarter.m, n, MPFR_RNDN);
      const double nearest = mpfr_get_d(turn.m, MPFR_RNDN);
      mpfr_sub_d(rest.m, turn.m, nearest, MPFR_RNDN);
      if (std::fabs(mpfr_get_d(rest.m, MPFR_RNDN)) < 0x1p-45)
        x.insert(x.end(), {nearest, -nearest});
    }
    return x;
  }();
  return all;
}

double ulps(double found, const mpfr_t truth) {
  Number error;
  mpfr_sub_d(error.m, truth, found, MPFR_RNDN);
  const int exponent = std::ilogb(mpfr_get_d(truth, MPFR_RNDN)) - 52;
  return std::fabs(std::ldexp(mpfr_get_d(error.m, MPFR_RNDN), -exponent));
}

class Turns : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, Turns, testing::Range(0, cpu::kIsas), [](const auto& info) {
  return std::string(cpu::isa_name(static_cast<cpu::Isa>(info.param)));
});

// The bound is the one of docs/numerics.md, twice as much for the baseline.
TEST_P(Turns, AreTrueBesideMultiplesOfAQuarter) {
  const auto isa = static_cast<cpu::Isa>(GetParam());
  if (isa > cpu::best_isa()) GTEST_SKIP() << "not on this machine";
  const std::vector<double>& x = near_quarter_turns();
  ASSERT_GT(x.size(), 100u);
  const struct {
    Expression expression;
    int (*truth)(mpfr_t, const mpfr_t, mpfr_rnd_t);
  } functions[] = {
      {Expression::sin, mpfr_sin}, {Expression::cos, mpfr_cos}, {Expression::tan, mpfr_tan}};
  for (const auto& f : functions) {
    const int e = static_cast<int>(f.expression);
    std::vector<double> y(x.size());
    const void* in[] = {x.data()};
    cpu::f64_tiles[static_cast<int>(isa)][e](in, y.data(), static_cast<int64_t>(x.size()));
    Number a, truth;
    for (size_t i = 0; i < x.size(); ++i) {
      mpfr_set_d(a.m, x[i], MPFR_RNDN);
      f.truth(truth.m, a.m, MPFR_RNDN);
      EXPECT_LE(ulps(y[i], truth.m), isa == cpu::Isa::kBaseline ? 4 : 2)
          << kExpressionInfo[e].name << " of " << std::hexfloat << x[i];
    }
  }
}

}  // namespace
}  // namespace libdl::kernels
