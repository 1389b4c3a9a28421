// SPDX-License-Identifier: Apache-2.0

// Special functions of floats against those of doubles: hardly ever another float than the nearest.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/convert.h"
#include "kernels/special.h"
#include "libdl/dtype.h"
#include "tests/core/kernel_context.h"

namespace libdl::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Function {
  Special function;
  const char* name;
  double (*of_one)(double);
  double (*of_two)(double, double);
  double low, high;
};
#define ONE(name, low, high) {Special::name, #name, special::name, nullptr, low, high}
#define TWO(name, low, high) {Special::name, #name, nullptr, special::name, low, high}
const Function kFunctions[] = {
    ONE(sinh, -95, 95),  ONE(cosh, -95, 95),    ONE(asin, -1, 1),        ONE(acos, -1, 1),
    ONE(atan, -30, 30),  ONE(asinh, -30, 30),   ONE(acosh, 1, 30),       ONE(atanh, -1, 1),
    ONE(erfc, -6, 10.5), ONE(erfcx, -9.5, 30),  ONE(erfinv, -1, 1),      ONE(ndtr, -15, 8),
    ONE(ndtri, 0, 1),    ONE(log_ndtr, -30, 8), ONE(lgamma, -12, 40),    ONE(digamma, -12, 40),
    ONE(i0, -95, 95),    ONE(i0e, -40, 40),     ONE(i1, -95, 95),        ONE(i1e, -40, 40),
    TWO(atan2, -5, 5),   TWO(hypot, -5, 5),     TWO(logaddexp, -20, 20), TWO(logaddexp2, -20, 20),
};
#undef ONE
#undef TWO

double unit(uint64_t seed) {  // splitmix64
  uint64_t x = (seed + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return static_cast<double>((x ^ x >> 31) >> 11) * 0x1p-53;
}

// Evenly spread ones, those near 0, near the ends and of all magnitudes.
std::vector<float> samples(const Function& f, uint64_t seed) {
  std::vector<float> x;
  for (uint64_t i = 0; i < 6000; ++i) {
    const double u = unit(seed + 4 * i), v = unit(seed + 4 * i + 1);
    const double sign = unit(seed + 4 * i + 2) < 0.5 ? -1 : 1;
    x.push_back(static_cast<float>(f.low + (f.high - f.low) * u));
    x.push_back(static_cast<float>(f.low + (f.high - f.low) * std::exp(-20 * v)));
    x.push_back(static_cast<float>(f.high - (f.high - f.low) * std::exp(-20 * v)));
    x.push_back(static_cast<float>(sign * std::exp(100 * u - 90)));
  }
  return x;
}

std::vector<float> computed(const Function& f, std::vector<float> x, std::vector<float> other) {
  std::vector<float> y(x.size());
  const int64_t size = static_cast<int64_t>(x.size()), stride = 1;
  SpecialArgs args{};
  args.function = f.function;
  args.inputs = f.of_two != nullptr ? 2 : 1;
  args.out = {y.data(), &size, &stride, 1, LIBDL_DTYPE_FLOAT32};
  args.in[0] = {x.data(), &size, &stride, 1, LIBDL_DTYPE_FLOAT32};
  args.in[1] = {other.data(), &size, &stride, 1, LIBDL_DTYPE_FLOAT32};
  Context context = test::plain_context();
  cpu::special(context, args);
  return y;
}
double truth_of(const Function& f, float x, float other) {
  return f.of_two != nullptr ? f.of_two(static_cast<double>(x), static_cast<double>(other))
                             : f.of_one(static_cast<double>(x));
}

// Half a unit in the last place is the best there is.
double error_of(float y, double truth) {
  if (std::isnan(truth) || std::isinf(static_cast<float>(truth)))
    return std::isnan(truth) ? (std::isnan(y) ? 0 : 1e9) : y == static_cast<float>(truth) ? 0 : 1e9;
  int exponent;
  std::frexp(truth, &exponent);
  return std::fabs(static_cast<double>(y) - truth) / std::ldexp(1.0, std::max(exponent, -125) - 24);
}

class SpecialFloats : public testing::TestWithParam<int> {
 protected:
  void TearDown() override { cpu::set_isa(cpu::best_isa()); }
};
INSTANTIATE_TEST_SUITE_P(All, SpecialFloats, testing::Range(0, cpu::kIsas), [](const auto& info) {
  return std::string(cpu::isa_name(static_cast<cpu::Isa>(info.param)));
});

TEST_P(SpecialFloats, AreTheNearestOrNearlyAsNear) {
  if (!cpu::set_isa(static_cast<cpu::Isa>(GetParam()))) GTEST_SKIP() << "not on this machine";
  for (const Function& f : kFunctions) {
    const std::vector<float> x = samples(f, 7), other = samples(f, 70001);
    const std::vector<float> y = computed(f, x, other);
    double most = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = error_of(y[i], truth_of(f, x[i], other[i]));
      if (error > most) most = error, at = i;
    }
    std::printf("%-12s %9.5f ulp at %.9g, %.9g\n", f.name, most, static_cast<double>(x[at]),
                static_cast<double>(other[at]));
    EXPECT_LE(most, 0.51) << f.name << " of " << x[at] << ", " << other[at] << " is " << y[at]
                          << ", wanted " << truth_of(f, x[at], other[at]);
  }
}

TEST_P(SpecialFloats, HaveTheirLimitsAndSigns) {
  if (!cpu::set_isa(static_cast<cpu::Isa>(GetParam()))) GTEST_SKIP() << "not on this machine";
  const float ends[] = {0.0f,       -0.0f,       1.0f,        -1.0f,        kInf,       -kInf,
                        kNan,       1e-45f,      -1e-45f,     3.4e38f,      -3.4e38f,   2.0f,
                        -2.0f,      0.5f,        -0.5f,       8.0f,         1e-30f,     -1e-30f,
                        8388609.0f, -8388609.0f, 0.99999994f, -0.99999994f, 1.0000001f, -3.0f};
  std::vector<float> x, other;
  for (float a : ends) {
    for (float b : ends) x.push_back(a), other.push_back(b);
  }
  for (const Function& f : kFunctions) {
    const std::vector<float> y = computed(f, x, other);
    for (size_t i = 0; i < x.size(); ++i) {
      const double truth = truth_of(f, x[i], other[i]);
      EXPECT_LE(error_of(y[i], truth), 0.51)
          << f.name << " of " << x[i] << ", " << other[i] << " is " << y[i] << ", wanted " << truth;
      if (truth == 0) {
        EXPECT_EQ(std::signbit(y[i]), std::signbit(truth))
            << f.name << " of " << x[i] << ", " << other[i];
      }
    }
  }
}

// All numbers of 16 bits, by way of float32, err hardly more than rounding costs.
struct Half {
  int32_t dtype;
  int digits, least;  // of the significand; exponent of the smallest step
};
class SpecialHalves : public SpecialFloats {};
INSTANTIATE_TEST_SUITE_P(All, SpecialHalves, testing::Range(0, cpu::kIsas), [](const auto& info) {
  return std::string(cpu::isa_name(static_cast<cpu::Isa>(info.param)));
});

TEST_P(SpecialHalves, AreTheNearestOrNearlyAsNear) {
  if (!cpu::set_isa(static_cast<cpu::Isa>(GetParam()))) GTEST_SKIP() << "not on this machine";
  constexpr int64_t kAll = 1 << 16, kStride = 1;
  std::vector<uint16_t> bits(kAll), found(kAll);
  for (int64_t i = 0; i < kAll; ++i) bits[static_cast<size_t>(i)] = static_cast<uint16_t>(i);
  for (const Half& half :
       {Half{LIBDL_DTYPE_FLOAT16, 11, -24}, Half{LIBDL_DTYPE_BFLOAT16, 8, -133}}) {
    std::vector<float> x(kAll), y(kAll);
    const cpu::ConvertFn widen = cpu::convert_to_class(half.dtype, Class::kF32);
    widen(bits.data(), x.data(), kAll);
    for (const Function& f : kFunctions) {
      if (f.of_two != nullptr) continue;
      SpecialArgs args{};
      args.function = f.function;
      args.inputs = 1;
      args.out = {found.data(), &kAll, &kStride, 1, half.dtype};
      args.in[0] = {bits.data(), &kAll, &kStride, 1, half.dtype};
      Context context = test::plain_context();
      cpu::special(context, args);
      widen(found.data(), y.data(), kAll);
      double most = 0;
      float at = 0;
      for (size_t i = 0; i < y.size(); ++i) {
        const double truth = truth_of(f, x[i], 0);
        if (std::isnan(truth) || std::isinf(y[i])) {
          const double largest = half.digits == 11 ? 65519 : 3.39e38;
          ASSERT_TRUE(std::isnan(truth) ? std::isnan(y[i]) : std::fabs(truth) > largest)
              << f.name << " of " << x[i] << " is " << y[i];
          continue;
        }
        int exponent;
        std::frexp(truth, &exponent);
        const double step = std::ldexp(1.0, std::max(exponent - half.digits, half.least));
        const double error = std::fabs(static_cast<double>(y[i]) - truth) / step;
        if (!(error <= most)) most = error, at = x[i];
      }
      EXPECT_LE(most, 0.505) << f.name << " of " << at;
    }
  }
}

TEST(SpecialFloatsBits, AreThoseOfAvx2OnAvx512) {
  if (!cpu::set_isa(cpu::Isa::kAvx512)) GTEST_SKIP() << "not on this machine";
  for (const Function& f : kFunctions) {
    const std::vector<float> x = samples(f, 99), other = samples(f, 123457);
    cpu::set_isa(cpu::Isa::kAvx512);
    const std::vector<float> wide = computed(f, x, other);
    cpu::set_isa(cpu::Isa::kAvx2);
    const std::vector<float> narrow = computed(f, x, other);
    size_t differ = 0;
    for (size_t i = 0; i < x.size(); ++i)
      differ += !(std::isnan(wide[i]) && std::isnan(narrow[i])) &&
                std::bit_cast<uint32_t>(wide[i]) != std::bit_cast<uint32_t>(narrow[i]);
    EXPECT_EQ(differ, 0) << f.name;
  }
  cpu::set_isa(cpu::best_isa());
}

TEST(SpecialFloatsTail, ALastVectorIsNoOther) {
  for (const Function& f : kFunctions) {
    const std::vector<float> x = samples(f, 5), other = samples(f, 50021);
    const std::vector<float> whole = computed(f, x, other);
    for (size_t n = 1; n < 20; ++n) {
      const std::vector<float> some =
          computed(f, {x.begin(), x.begin() + static_cast<int64_t>(n)}, other);
      for (size_t i = 0; i < n; ++i)
        if (!std::isnan(whole[i])) {
          EXPECT_EQ(some[i], whole[i]) << f.name << " " << i << " of " << n;
        }
    }
  }
}

}  // namespace
}  // namespace libdl::kernels
