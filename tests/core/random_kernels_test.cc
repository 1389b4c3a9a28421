// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <libdl/dtype.h>

#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/normal.h"
#include "kernels/philox.h"
#include "tests/core/kernel_views.h"

namespace libdl::kernels {
namespace {

using testing::Array;
using testing::Launch;

std::vector<uint32_t> words(const PhiloxBlock& block) { return {block.word, block.word + 4}; }

// The known answers that Random123 publishes for philox4x32_10.
TEST(Philox, KnownAnswers) {
  using V = std::vector<uint32_t>;
  EXPECT_EQ(words(philox(0, 0, 0)), (V{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(words(philox(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0})),
            (V{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e)),
            (V{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

struct Draw {
  Distribution distribution = Distribution::kBits;
  double a = 0, b = 1;
  int64_t low = 0;
  uint64_t range = 0, key = 0x299f31d0a4093822, offset = 0;
  int64_t threads = 1;
  View probability{};

  template <class T>
  void into(Array<T>& out) const {
    Launch launch(threads);
    cpu::random(launch, {static_cast<int32_t>(distribution), out.view(), probability, a, b, low,
                         range, key, offset});
  }
  template <class T>
  Array<T> make(int32_t dtype, std::vector<int64_t> shape) const {
    Array<T> out(dtype, std::move(shape));
    into(out);
    return out;
  }
};

TEST(Random, ElementTakesItsWord) {
  Draw draw;
  draw.offset = 0xfffffffe;  // the counter carries into its second word
  const auto narrow = draw.make<uint32_t>(LIBDL_DTYPE_UINT32, {5003});
  for (int64_t i = 0; i < narrow.count(); ++i)
    ASSERT_EQ(narrow[i],
              philox(draw.key, draw.offset + static_cast<uint64_t>(i / 4), 0).word[i % 4]);
  const auto wide = draw.make<uint64_t>(LIBDL_DTYPE_UINT64, {5003});
  for (int64_t i = 0; i < wide.count(); ++i) {
    const PhiloxBlock block = philox(draw.key, draw.offset + static_cast<uint64_t>(i / 2), 0);
    ASSERT_EQ(wide[i], block.word[i % 2 * 2] | uint64_t{block.word[i % 2 * 2 + 1]} << 32);
  }
}

// One result for every number of threads, every instruction set and every stride.
template <class T>
void agrees(Draw draw, int32_t dtype) {
  const std::vector<int64_t> shape = {3, 11, 1201};
  const auto wanted = draw.make<T>(dtype, shape).list();
  const cpu::Isa best = cpu::isa();
  for (int isa = 0; isa <= static_cast<int>(best); ++isa) {
    ASSERT_TRUE(cpu::set_isa(static_cast<cpu::Isa>(isa)));
    for (int64_t threads : {1, 2, 3, 8}) {
      draw.threads = threads;
      ASSERT_EQ(draw.make<T>(dtype, shape).list(), wanted) << "isa " << isa;
    }
    Array<T> strided = Array<T>(dtype, shape).scattered();
    draw.into(strided);
    ASSERT_EQ(strided.list(), wanted);
  }
  cpu::set_isa(best);
}

TEST(Random, OneResultForEveryMachineThreadAndStride) {
  Draw draw;
  agrees<uint8_t>(draw, LIBDL_DTYPE_UINT8);
  agrees<uint64_t>(draw, LIBDL_DTYPE_INT64);
  draw.distribution = Distribution::kUniform;
  agrees<float>(draw, LIBDL_DTYPE_FLOAT32);
  agrees<double>(draw, LIBDL_DTYPE_FLOAT64);
  agrees<uint16_t>(draw, LIBDL_DTYPE_FLOAT16);
  draw.distribution = Distribution::kNormal;
  agrees<float>(draw, LIBDL_DTYPE_FLOAT32);
  agrees<double>(draw, LIBDL_DTYPE_FLOAT64);
  agrees<uint16_t>(draw, LIBDL_DTYPE_BFLOAT16);
  draw.distribution = Distribution::kRandint;
  draw.range = 0xc0000000;  // every fourth word is rejected
  agrees<int64_t>(draw, LIBDL_DTYPE_INT64);
  draw.range = 0xc000000000000000;
  agrees<int64_t>(draw, LIBDL_DTYPE_INT64);
  draw.distribution = Distribution::kBernoulli;
  draw.a = 0.3;
  agrees<uint8_t>(draw, LIBDL_DTYPE_BOOL);
  agrees<float>(draw, LIBDL_DTYPE_FLOAT32);
}

// Bits that must never change: whoever saved a seed relies on them.
TEST(Random, KnownAnswers) {
  Draw draw;
  draw.distribution = Distribution::kUniform;
  draw.key = 0;
  // 0x6627e8 and 0xe169c5 in steps of 2^-24
  const auto u = draw.make<float>(LIBDL_DTYPE_FLOAT32, {2});
  EXPECT_EQ(u[0], 0x6627e8p-24f);
  EXPECT_EQ(u[1], 0xe169c5p-24f);
  // 0xe169c58d6627e8d5 >> 11 in steps of 2^-53
  EXPECT_EQ(draw.make<double>(LIBDL_DTYPE_FLOAT64, {1})[0], 0x1c2d38b1acc4fdp-53);
  draw.distribution = Distribution::kRandint;
  draw.low = -5;
  draw.range = 10;  // floor(0x6627e8d5 * 10 / 2^32) = 3
  EXPECT_EQ(draw.make<int64_t>(LIBDL_DTYPE_INT64, {1})[0], -2);
}

TEST(Random, UniformStaysBelowItsEnd) {
  Draw draw;
  draw.distribution = Distribution::kUniform;
  draw.a = 1;
  draw.b = std::nextafter(1.0f, 2.0f);
  for (float x : draw.make<float>(LIBDL_DTYPE_FLOAT32, {10000}).data) ASSERT_EQ(x, 1.0f);
  draw.a = -2;
  draw.b = -1;
  bool near_end = false;
  for (uint16_t x : draw.make<uint16_t>(LIBDL_DTYPE_FLOAT16, {100000}).data) {
    ASSERT_GE(float_from_float16(x), -2.0f);
    ASSERT_LT(float_from_float16(x), -1.0f);
    near_end |= x == 0xbc01;
  }
  EXPECT_TRUE(near_end);
  draw.a = 0;
  draw.b = 1;
  for (uint16_t x : draw.make<uint16_t>(LIBDL_DTYPE_BFLOAT16, {100000}).data)
    ASSERT_LT(float_from_bfloat16(x), 1.0f);
}

double erfc_quantile_error(double q) {
  const double z = normal_quantile(q);
  // P(Z < z) - 1/2 by libm, over the density: the error in z.
  const double p = q < 0 ? 0.5 * std::erfc(-z * M_SQRT1_2) : 0.5 * std::erfc(z * M_SQRT1_2);
  const double wanted = 0.5 - std::fabs(q);
  return std::fabs(p - wanted) / (std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI));
}

TEST(Normal, IsTheQuantileToTheLastPlaces) {
  for (int i = -4999; i < 5000; ++i) ASSERT_LT(erfc_quantile_error(i / 10000.0), 2e-15) << i;
  for (int e = 4; e < 54; ++e) {  // both tails, to the end of the 53-bit numbers
    const double q = 0.5 - std::ldexp(1.0, -e);
    const double z = normal_quantile(q);
    EXPECT_LT(erfc_quantile_error(q), 5e-15 * z) << e;
    EXPECT_EQ(normal_quantile(-q), -z);
  }
}

TEST(Normal, LogarithmIsWithinAnUlp) {
  for (double x = 0.9999; x > 1e-17; x *= 0.97)
    EXPECT_NEAR(logarithm<ScalarMath>(x) / std::log(x), 1, 4.5e-16) << x;
}

TEST(Normal, Moments) {
  Draw draw;
  draw.distribution = Distribution::kNormal;
  draw.a = 3;
  draw.b = 2;
  const auto x = draw.make<double>(LIBDL_DTYPE_FLOAT64, {1000000});
  double moment[5] = {};
  for (double value : x.data)
    for (int k = 1; k < 5; ++k) moment[k] += std::pow((value - 3) / 2, k) / 1e6;
  EXPECT_NEAR(moment[1], 0, 0.005);  // five standard errors
  EXPECT_NEAR(moment[2], 1, 0.0071);
  EXPECT_NEAR(moment[3], 0, 0.02);
  EXPECT_NEAR(moment[4], 3, 0.05);
}

TEST(Randint, IsUnbiasedWhereRejectionIsCommon) {
  Draw draw;
  draw.distribution = Distribution::kRandint;
  for (uint64_t range : {uint64_t{3} << 30, uint64_t{3} << 62}) {
    draw.range = range;
    const auto x = draw.make<uint64_t>(LIBDL_DTYPE_UINT64, {300000});
    int64_t third[3] = {};
    for (uint64_t value : x.data) {
      ASSERT_LT(value, range);
      ++third[value / (range / 3)];
    }
    for (int64_t count : third) EXPECT_NEAR(count, 100000, 1300);  // five deviations
  }
}

TEST(Randint, TakesTheNextAttemptOfTheSameWord) {
  Draw draw;
  draw.distribution = Distribution::kRandint;
  draw.range = 0xc0000000;
  const auto x = draw.make<int64_t>(LIBDL_DTYPE_INT64, {4000});
  int64_t retried = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    uint64_t attempt = 0, product;
    do {
      product = draw.range * philox(draw.key, static_cast<uint64_t>(i / 4), attempt++).word[i % 4];
    } while (static_cast<uint32_t>(product) < (uint64_t{1} << 32) % draw.range);
    ASSERT_EQ(x[i], static_cast<int64_t>(product >> 32));
    retried += attempt > 1;
  }
  EXPECT_GT(retried, 500);
}

TEST(Randint, WholeRangesAndOtherTypes) {
  Draw draw;
  draw.distribution = Distribution::kRandint;
  draw.low = INT64_MIN;
  draw.range = 0;  // 2^64
  bool negative = false, positive = false;
  for (int64_t x : draw.make<int64_t>(LIBDL_DTYPE_INT64, {100}).data)
    (x < 0 ? negative : positive) = true;
  EXPECT_TRUE(negative && positive);
  draw.low = 2;
  draw.range = 1;
  EXPECT_EQ(draw.make<float>(LIBDL_DTYPE_FLOAT32, {3}).data, (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(draw.make<uint8_t>(LIBDL_DTYPE_UINT8, {1})[0], 2);
}

TEST(Bernoulli, EndsAndFrequency) {
  Draw draw;
  draw.distribution = Distribution::kBernoulli;
  draw.a = 0;
  for (uint8_t x : draw.make<uint8_t>(LIBDL_DTYPE_BOOL, {10000}).data) ASSERT_EQ(x, 0);
  draw.a = 1;
  for (uint8_t x : draw.make<uint8_t>(LIBDL_DTYPE_BOOL, {10000}).data) ASSERT_EQ(x, 1);
  draw.a = 0.1;
  double sum = 0;
  for (float x : draw.make<float>(LIBDL_DTYPE_FLOAT32, {1000000}).data) sum += x;
  EXPECT_NEAR(sum, 100000, 1500);
  draw.b = 2.5;
  const auto x = draw.make<float>(LIBDL_DTYPE_FLOAT32, {1000});
  for (float value : x.data) ASSERT_TRUE(value == 0 || value == 2.5f);
}

TEST(Bernoulli, ChancesOfTheirOwn) {
  Draw draw;
  draw.distribution = Distribution::kBernoulli;
  Array<float> chance(LIBDL_DTYPE_FLOAT32, {50, 100});
  for (int64_t i = 0; i < 5000; ++i) chance[i] = static_cast<float>(i % 3) / 2;
  Array<float> strided = chance.scattered();
  draw.probability = strided.view();
  const auto x = draw.make<uint8_t>(LIBDL_DTYPE_BOOL, {50, 100});
  int64_t halves = 0;
  for (int64_t i = 0; i < 5000; ++i) {
    if (i % 3 == 1) {
      halves += x[i];
    } else {
      ASSERT_EQ(x[i], i % 3 == 2) << i;
    }
  }
  EXPECT_NEAR(halves, 833, 105);
}

TEST(Half, EveryFloat16ReturnsAndTiesGoToEven) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = float_from_float16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(float16_from_float(value), bits);
    const float up = float_from_float16(static_cast<uint16_t>(bits + 1));
    if (std::isinf(value) || std::isinf(up) || std::isnan(up)) continue;
    const float middle = (value + up) / 2;
    ASSERT_EQ(float16_from_float(middle), bits + (bits & 1)) << bits;
  }
  EXPECT_EQ(float16_from_float(65519.99f), 0x7bff);
  EXPECT_EQ(float16_from_float(65520.0f), 0x7c00);
  EXPECT_EQ(bfloat16_from_float(std::nanf("")) & 0x7fff, 0x7fc0);
  EXPECT_EQ(bfloat16_from_float(1.00390625f), 0x3f80);
  EXPECT_EQ(bfloat16_from_float(1.01171875f), 0x3f82);
}

}  // namespace
}  // namespace libdl::kernels
