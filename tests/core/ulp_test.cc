// SPDX-License-Identifier: Apache-2.0

// Largest errors of the elementary functions against MPFR, in units of the last place, with their
// promised bounds. LIBDL_ULP_SAMPLES raises the number of samples a function.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/cpu/traverse/convert.h"
#include "libdl/dtype.h"
#include "tests/core/kernel_context.h"
#include "tests/core/mpfr_number.h"
#include "tests/core/whole.h"

namespace libdl::kernels {
namespace {

using Truth = void (*)(mpfr_t y, const mpfr_t x, const mpfr_t other);

using Number = libdl::test::MpfrNumber<160>;

#define DIRECT(name) [](mpfr_t y, const mpfr_t x, const mpfr_t) { mpfr_##name(y, x, MPFR_RNDN); }

void logistic(mpfr_t y, const mpfr_t x) {  // 1 / (1 + e^-x)
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}
void cdf(mpfr_t y, const mpfr_t x) {
  Number root;
  mpfr_sqrt_ui(root.m, 2, MPFR_RNDN);
  mpfr_div(y, x, root.m, MPFR_RNDN);
  mpfr_neg(y, y, MPFR_RNDN);
  mpfr_erfc(y, y, MPFR_RNDN);
  mpfr_div_2ui(y, y, 1, MPFR_RNDN);
}
void density(mpfr_t y, const mpfr_t x) {
  Number root;
  mpfr_const_pi(root.m, MPFR_RNDN);
  mpfr_mul_2ui(root.m, root.m, 1, MPFR_RNDN);
  mpfr_sqrt(root.m, root.m, MPFR_RNDN);
  mpfr_sqr(y, x, MPFR_RNDN);
  mpfr_div_2ui(y, y, 1, MPFR_RNDN);
  mpfr_neg(y, y, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_div(y, y, root.m, MPFR_RNDN);
}
// 2 sqrt(2 / pi) (x + 0.044715 x^3), or its derivative.
void bend(mpfr_t y, const mpfr_t x, bool slope) {
  Number scale, cubic;
  mpfr_const_pi(scale.m, MPFR_RNDN);
  mpfr_ui_div(scale.m, 8, scale.m, MPFR_RNDN);
  mpfr_sqrt(scale.m, scale.m, MPFR_RNDN);
  mpfr_set_ui(cubic.m, slope ? 134145 : 44715, MPFR_RNDN);
  mpfr_div_ui(cubic.m, cubic.m, 1000000, MPFR_RNDN);
  mpfr_sqr(y, x, MPFR_RNDN);
  mpfr_mul(y, y, cubic.m, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  if (!slope) mpfr_mul(y, y, x, MPFR_RNDN);
  mpfr_mul(y, y, scale.m, MPFR_RNDN);
}
void gelu_tanh_derivative(mpfr_t y, const mpfr_t x) {
  Number u, s, rest;
  bend(u.m, x, false);
  logistic(s.m, u.m);
  mpfr_neg(u.m, u.m, MPFR_RNDN);
  logistic(rest.m, u.m);
  bend(y, x, true);
  mpfr_mul(y, y, x, MPFR_RNDN);
  mpfr_mul(y, y, s.m, MPFR_RNDN);
  mpfr_mul(y, y, rest.m, MPFR_RNDN);
  mpfr_add(y, y, s.m, MPFR_RNDN);
}

// Samples are spread over [low, high], a quarter of them logarithmically. Bounds in ulp (without
// fma, on the baseline, twice as much is allowed); `floor` is the
// size of results below which the error counts against it instead (functions that cross zero away
// from zero, or go through a subnormal factor).
struct Case {
  Expression expression;
  Truth truth;
  double low, high;
  double bound32, bound64;
  double floor = 0;
};
const Case kCases[] = {
    {Expression::exp, DIRECT(exp), -750, 715, 1, 2},
    {Expression::expm1, DIRECT(expm1), -60, 715, 1, 2},
    {Expression::exp2, DIRECT(exp2), -1080, 1030, 1, 2},
    {Expression::log, DIRECT(log), 0, 1e300, 1, 2},
    {Expression::log1p, DIRECT(log1p), -1, 1e300, 1, 2},
    {Expression::log2, DIRECT(log2), 0, 1e300, 1, 2},
    {Expression::log10, DIRECT(log10), 0, 1e300, 1, 2},
    {Expression::sin, DIRECT(sin), -2e6, 2e6, 1, 2},
    {Expression::cos, DIRECT(cos), -2e6, 2e6, 1, 2},
    {Expression::tan, DIRECT(tan), -2e6, 2e6, 1, 2},
    {Expression::tanh, DIRECT(tanh), -25, 25, 1, 2},
    {Expression::erf, DIRECT(erf), -7, 7, 1, 2},
    {Expression::rsqrt, DIRECT(rec_sqrt), 0, 1e300, 1, 2},
    {Expression::sigmoid, [](mpfr_t y, const mpfr_t x, const mpfr_t) { logistic(y, x); }, -750, 40,
     1, 2},
    {Expression::silu,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) {
       logistic(y, x);
       mpfr_mul(y, y, x, MPFR_RNDN);
     },
     -750, 40, 2, 2},
    {Expression::gelu,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) {
       cdf(y, x);
       mpfr_mul(y, y, x, MPFR_RNDN);
     },
     -40, 40, 3, 6, 1e-30},
    {Expression::gelu_derivative,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) {
       Number c;
       cdf(c.m, x);
       density(y, x);
       mpfr_mul(y, y, x, MPFR_RNDN);
       mpfr_add(y, y, c.m, MPFR_RNDN);
     },
     -40, 40, 1, 12, 0.1},
    {Expression::gelu_tanh,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) {
       bend(y, x, false);
       logistic(y, y);
       mpfr_mul(y, y, x, MPFR_RNDN);
     },
     -20, 40, 1, 6, 0.1},
    {Expression::gelu_tanh_derivative,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) { gelu_tanh_derivative(y, x); }, -20, 40, 1, 8,
     0.1},
    {Expression::elu,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) {
       mpfr_sgn(x) < 0 ? mpfr_expm1(y, x, MPFR_RNDN) : mpfr_set(y, x, MPFR_RNDN);
     },
     -60, 60, 2, 2},
    {Expression::selu,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) {
       Number scale;
       mpfr_set_str(scale.m, "1.0507009873554804934193349852946", 10, MPFR_RNDN);
       mpfr_mul(y, x, scale.m, MPFR_RNDN);
       if (mpfr_sgn(x) >= 0) return;
       mpfr_expm1(y, x, MPFR_RNDN);
       mpfr_mul(y, y, scale.m, MPFR_RNDN);
       mpfr_set_str(scale.m, "1.6732632423543772848170429916717", 10, MPFR_RNDN);
       mpfr_mul(y, y, scale.m, MPFR_RNDN);
     },
     -60, 60, 3, 3},
    {Expression::mish,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) {
       mpfr_exp(y, x, MPFR_RNDN);
       mpfr_log1p(y, y, MPFR_RNDN);
       mpfr_tanh(y, y, MPFR_RNDN);
       mpfr_mul(y, y, x, MPFR_RNDN);
     },
     -60, 60, 6, 6},
    {Expression::softplus,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) {
       mpfr_exp(y, x, MPFR_RNDN);
       mpfr_log1p(y, y, MPFR_RNDN);
     },
     -750, 80, 2, 2},
    {Expression::logsigmoid,
     [](mpfr_t y, const mpfr_t x, const mpfr_t) {
       Number low;
       mpfr_abs(low.m, x, MPFR_RNDN);
       mpfr_neg(low.m, low.m, MPFR_RNDN);
       mpfr_exp(low.m, low.m, MPFR_RNDN);
       mpfr_log1p(low.m, low.m, MPFR_RNDN);
       mpfr_set_d(y, 0, MPFR_RNDN);
       if (mpfr_sgn(x) < 0) mpfr_set(y, x, MPFR_RNDN);
       mpfr_sub(y, y, low.m, MPFR_RNDN);
     },
     -750, 80, 2, 2},
    {Expression::pow,
     [](mpfr_t y, const mpfr_t x, const mpfr_t z) { mpfr_pow(y, x, z, MPFR_RNDN); }, 0, 1e5, 1, 2},
};

uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}
double unit(uint64_t seed) { return double(mix(seed) >> 11) * 0x1p-53; }

template <class T>
std::vector<T> samples(const Case& c, int n) {
  const double low = std::max<double>(c.low, std::numeric_limits<T>::lowest() / 2);
  const double high = std::min<double>(c.high, std::numeric_limits<T>::max() / 2);
  const double tiny = std::numeric_limits<T>::denorm_min() * 4;
  std::vector<T> x;
  for (int i = 0; static_cast<int>(x.size()) < n; ++i) {
    double u = unit(i), sample;
    if (i % 4 < 2) {
      sample = low + (high - low) * u;
    } else if (i % 4 == 2) {
      double side = low < 0 && mix(i + 7) % 2 == 0 ? -low : high;
      sample = std::exp(std::log(tiny) + (std::log(side) - std::log(tiny)) * u);
      if (side == -low) sample = -sample;
    } else {
      sample = std::max(low, -4.0) + (std::min(high, 4.0) - std::max(low, -4.0)) * u;
    }
    x.push_back(static_cast<T>(sample));
  }
  return x;
}

// |y - truth| in units of the last place of the rounded truth, at least of `floor`.
template <class T>
double error_of(T y, const mpfr_t truth, double floor) {
  double rounded = mpfr_get_d(truth, MPFR_RNDN);
  if (std::fabs(rounded) > double(std::numeric_limits<T>::max())) {
    return std::isinf(y) || std::fabs(y) == std::numeric_limits<T>::max() ? 0 : 1e9;
  }
  if (!std::isfinite(y)) {
    return std::fabs(rounded) > 0.9999999 * double(std::numeric_limits<T>::max()) ? 0 : 1e9;
  }
  int exponent;
  std::frexp(std::max(std::fabs(rounded), floor), &exponent);
  exponent = std::max(exponent - std::numeric_limits<T>::digits,
                      std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  Number difference;
  mpfr_set_d(difference.m, y, MPFR_RNDN);
  mpfr_sub(difference.m, difference.m, truth, MPFR_RNDN);
  mpfr_mul_2si(difference.m, difference.m, -exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference.m, MPFR_RNDN));
}

template <class T>
double worst(const Case& c, Class compute, int n, T* where) {
  std::vector<T> x = samples<T>(c, n), other(n), y(n);
  // Exponents for which x^y stays finite.
  for (int i = 0; i < n; ++i) {
    double most = std::log(double(std::numeric_limits<T>::max()));
    other[i] =
        T((2 * unit(i * 5 + 1) - 1) * most / std::max(1e-3, std::fabs(std::log(double(x[i])))));
  }
  // Numbers of a call: alpha and beta 1, a threshold beyond the samples.
  if (c.expression == Expression::elu || c.expression == Expression::softplus)
    std::fill(other.begin(), other.end(), T(1));
  std::vector<T> threshold(n, T(1e30));
  int64_t size = n, stride = 1;
  const int32_t dtype = sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64;
  PointwiseArgs args = {};
  args.expression = static_cast<int32_t>(c.expression);
  args.compute = static_cast<int32_t>(compute);
  args.inputs = kExpressionInfo[args.expression].inputs;
  args.out = {y.data(), &size, &stride, 1, dtype};
  args.in[0] = {x.data(), &size, &stride, 1, dtype};
  args.in[1] = {other.data(), &size, &stride, 1, dtype};
  args.in[2] = {threshold.data(), &size, &stride, 1, dtype};
  Context context = kernels::test::plain_context();
  cpu::pointwise(context, args);
  double most = 0;
  Number a, b, truth;
  for (int i = 0; i < n; ++i) {
    mpfr_set_d(a.m, x[i], MPFR_RNDN);
    mpfr_set_d(b.m, other[i], MPFR_RNDN);
    c.truth(truth.m, a.m, b.m);
    double error = error_of(y[i], truth.m, c.floor);
    if (error > most) {
      most = error;
      *where = x[i];
    }
  }
  return most;
}

class Ulp : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, Ulp, testing::Range(0, cpu::kIsas), [](const auto& info) {
  return std::string(cpu::isa_name(static_cast<cpu::Isa>(info.param)));
});

TEST_P(Ulp, ErrorsStayWithinTheirBounds) {
  const cpu::Isa isa = static_cast<cpu::Isa>(GetParam());
  if (!cpu::set_isa(isa)) GTEST_SKIP() << "not on this machine";
  const char* asked = std::getenv("LIBDL_ULP_SAMPLES");
  const int n = asked != nullptr ? std::atoi(asked) : 3000;
  std::printf("%-16s %20s %24s   (%s)\n", "largest error", "float32 ulp, at", "float64 ulp, at",
              cpu::isa_name(isa));
  double most = 0;
  const char* worst_name = "";
  for (const Case& c : kCases) {
    const char* name = kExpressionInfo[static_cast<int>(c.expression)].name;
    float at32 = 0;
    double at64 = 0;
    double e32 = worst<float>(c, Class::kF32, n, &at32);
    double e64 = worst<double>(c, Class::kF64, n, &at64);
    std::printf("%-16s %8.3f %13.6g %8.3f %15.8g\n", name, e32, double(at32), e64, at64);
    const double factor = isa == cpu::Isa::kBaseline ? 2 : 1;
    EXPECT_LE(e32, factor * c.bound32) << name << " float32 at " << at32;
    EXPECT_LE(e64, factor * c.bound64) << name << " at " << at64;
    if (c.bound64 == 2 && e64 > most) most = e64, worst_name = name;
  }
  libdl::test::figure(
      std::string("largest float64 error where 2 ulp are promised, ") + cpu::isa_name(isa),
      std::to_string(most) + " ulp (" + worst_name + "), " + std::to_string(n) +
          " samples a function");
  cpu::set_isa(cpu::best_isa());
}

// The sixteen-bit formats have so few numbers that all are tried: computed in float32 and rounded
// once, none errs by more than an ulp of its own.
struct Half {
  int32_t dtype;
  const char* name;
  int digits, min_exponent;  // as std::numeric_limits has them
  double largest;
};
constexpr Half kHalves[] = {{LIBDL_DTYPE_FLOAT16, "float16", 11, -13, 65504},
                            {LIBDL_DTYPE_BFLOAT16, "bfloat16", 8, -125, 0x1.FEp127}};
constexpr int64_t kPatterns = 1 << 16;

std::vector<float> widened(const Half& half, const std::vector<uint16_t>& x) {
  std::vector<float> y(x.size());
  cpu::convert_to_class(half.dtype, Class::kF32)(x.data(), y.data(),
                                                 static_cast<int64_t>(x.size()));
  return y;
}
// What c gives for each pattern, to 53 bits: enough to measure ulps of at most 11 in. The same for
// every instruction set, and slow to compute.
const std::vector<double>& truths(const Half& half, const Case& c, const std::vector<float>& x) {
  static std::map<std::pair<const Half*, const Case*>, std::vector<double>> known;
  std::vector<double>& all = known[{&half, &c}];
  if (!all.empty()) return all;
  Number in, out;
  for (const float value : x) {
    mpfr_set_d(in.m, static_cast<double>(value), MPFR_RNDN);
    c.truth(out.m, in.m, in.m);
    all.push_back(mpfr_get_d(out.m, MPFR_RNDN));
  }
  return all;
}
double ulps(const Half& half, double found, double truth) {
  if (std::fabs(truth) > half.largest) {
    if (std::isinf(found)) return std::signbit(found) == std::signbit(truth) ? 0 : 1e9;
  } else if (!std::isfinite(found)) {
    // Rounds up to infinity from half an ulp above the largest number on, and an ulp is allowed.
    const double ulp = std::ldexp(1.0, std::ilogb(half.largest) + 1 - half.digits);
    return std::isinf(found) && std::fabs(truth) + ulp > half.largest ? 1 : 1e9;
  }
  const int exponent = std::max(truth == 0 ? -10000 : std::ilogb(truth) + 1, half.min_exponent);
  return std::fabs(std::ldexp(found - truth, half.digits - exponent));
}

TEST_P(Ulp, EveryHalfIsWithinAnUlp) {
  const cpu::Isa isa = static_cast<cpu::Isa>(GetParam());
  if (!cpu::set_isa(isa)) GTEST_SKIP() << "not on this machine";
  std::vector<uint16_t> x(kPatterns), y(kPatterns);
  std::iota(x.begin(), x.end(), uint16_t{0});
  for (const Half& half : kHalves) {
    const std::vector<float> in = widened(half, x);
    double most = 0;
    const char* worst_name = "";
    for (const Case& c : kCases) {
      const auto& info = kExpressionInfo[static_cast<int>(c.expression)];
      if (info.inputs != 1 || !libdl::test::in_turn(&c - kCases, 3)) continue;
      const int64_t stride = 1;
      PointwiseArgs args = {};
      args.expression = static_cast<int32_t>(c.expression);
      args.compute = static_cast<int32_t>(Class::kF32);
      args.inputs = 1;
      args.out = {y.data(), &kPatterns, &stride, 1, half.dtype};
      args.in[0] = {x.data(), &kPatterns, &stride, 1, half.dtype};
      Context context = kernels::test::plain_context();
      cpu::pointwise(context, args);
      const std::vector<float> out = widened(half, y);
      const std::vector<double>& truth = truths(half, c, in);
      const bool turns = c.expression == Expression::sin || c.expression == Expression::cos ||
                         c.expression == Expression::tan;
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(in[i]) || std::isnan(truth[i])) {
          // A product of 0 and infinity in the truth alone does not count.
          if (!std::isinf(in[i])) {
            ASSERT_TRUE(std::isnan(out[i])) << half.name << " " << info.name << " at " << in[i];
          }
          continue;
        }
        if (in[i] == 0 && std::isinf(truth[i])) {  // IEEE 754 and MPFR give 1 / sqrt(-0) two signs
          ASSERT_TRUE(std::isinf(out[i])) << half.name << " " << info.name;
          continue;
        }
        if (turns && std::fabs(in[i]) > 2e6f) continue;  // where float32 promises nothing
        const double error = ulps(half, static_cast<double>(out[i]), truth[i]);
        ASSERT_LE(error, 1) << half.name << " " << info.name << " at " << in[i] << ": " << out[i];
        if (error > most) most = error, worst_name = info.name;
      }
    }
    std::printf("all of %-10s %.4f ulp, %s   (%s)\n", half.name, most, worst_name,
                cpu::isa_name(isa));
    libdl::test::figure(
        std::string("largest error of ") + half.name + ", all inputs, " + cpu::isa_name(isa),
        std::to_string(most) + " ulp (" + worst_name + ")");
  }
  cpu::set_isa(cpu::best_isa());
}

// All floats, or in a run of a tenth's size every 11th for a third of the functions (every 1009th
// where sanitizers look for other things, for an error may hide between two of those): where the C
// library has the function in double, whose errors of some 2^-29 of a float's ulp are let pass.
// Below 2^-14 and above 2^21 the functions follow their leading term or only their exponent
// changes: every 61st is enough there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint32_t kFloatStep = 1009;
#else
constexpr uint32_t kFloatStep = 11;
#endif
struct Plain {
  Expression expression;
  double (*truth)(double);
};
const Plain kPlain[] = {
    {Expression::exp, std::exp},
    {Expression::expm1, std::expm1},
    {Expression::exp2, std::exp2},
    {Expression::log, std::log},
    {Expression::log1p, std::log1p},
    {Expression::log2, std::log2},
    {Expression::log10, std::log10},
    {Expression::sin, std::sin},
    {Expression::cos, std::cos},
    {Expression::tan, std::tan},
    {Expression::tanh, std::tanh},
    {Expression::erf, std::erf},
    {Expression::rsqrt, [](double x) { return 1 / std::sqrt(x); }},
    {Expression::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {Expression::silu, [](double x) { return x / (1 + std::exp(-x)); }},
    {Expression::gelu, [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }},
};

// An ulp's inverse, as a factor: of results of that size, and no smaller than of the smallest.
double per_ulp(double size) {
  const auto word = std::bit_cast<uint64_t>(std::max(size, 0x1p-126));
  return std::bit_cast<double>(((2046 + 23) - (word >> 52 & 2047)) << 52);
}

struct Found {
  double error = 0;
  float at = 0;
};
Found worst_of(const Case& c, double (*truth)(double), uint32_t step) {
  constexpr int64_t kBatch = 4096;
  std::vector<float> x, y(kBatch);
  Found found;
  const auto look = [&] {
    const void* in[] = {x.data()};
    cpu::f32_tiles[static_cast<int>(cpu::isa())][static_cast<int>(c.expression)](
        in, y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double wanted = truth(static_cast<double>(x[i]));
      if (std::fabs(wanted) > static_cast<double>(std::numeric_limits<float>::max())) continue;
      const double size = std::max(std::fabs(wanted), c.floor);
      const double error = std::fabs(static_cast<double>(y[i]) - wanted) * per_ulp(size);
      if (!(error <= found.error)) found = {error, x[i]};
    }
    x.clear();
  };
  for (const uint32_t sign : {0u, 0x80000000u}) {
    for (uint32_t bits = 0; bits < 0x7f800000u;) {
      const float value = std::bit_cast<float>(bits | sign);
      const float size = std::fabs(value);
      if (value >= c.low && value <= c.high) x.push_back(value);
      if (x.size() == kBatch) look();
      bits += size >= 0x1p-14f && size < 0x1p21f ? step : 61 * step;
    }
  }
  look();
  return found;
}

TEST_P(Ulp, EveryFloatIsWithinTheBound) {
  const cpu::Isa isa = static_cast<cpu::Isa>(GetParam());
  if (!cpu::set_isa(isa)) GTEST_SKIP() << "not on this machine";
  double most = 0;
  const char* worst_name = "";
  for (const Plain& plain : kPlain) {
    if (!libdl::test::in_turn(&plain - kPlain, 3)) continue;
    const Case& c = *std::find_if(std::begin(kCases), std::end(kCases), [&](const Case& each) {
      return each.expression == plain.expression;
    });
    const char* name = kExpressionInfo[static_cast<int>(plain.expression)].name;
    const Found found = worst_of(c, plain.truth, libdl::test::is_whole() ? 1 : kFloatStep);
    std::printf("%-10s %8.3f %13.6g   (%s)\n", name, found.error, static_cast<double>(found.at),
                cpu::isa_name(isa));
    EXPECT_LE(found.error, (isa == cpu::Isa::kBaseline ? 2 : 1) * c.bound32 + 0x1p-28)
        << name << " at " << found.at;
    if (c.bound32 == 1 && found.error > most) most = found.error, worst_name = name;
  }
  libdl::test::figure(
      std::string("largest float32 error where 1 ulp is promised, ") + cpu::isa_name(isa),
      std::to_string(most) + " ulp (" + worst_name + ")");
  cpu::set_isa(cpu::best_isa());
}

// AVX2 divides where AVX-512 takes Newton's steps to the reciprocal: all numbers of a binade of
// x show all that 1 + e^-|x| can be, and whether the steps ever miss the rounded quotient. Pieces
// of polynomials are picked by other instructions, too. rsqrt is a series on one of them, and two
// binades show all its significands.
TEST(Vectors, EveryFloatHasTheSameFunctionsOnAvx2AndAvx512) {
  if (cpu::best_isa() < cpu::Isa::kAvx512) GTEST_SKIP() << "no AVX-512 here";
  constexpr uint32_t kBatch = 1 << 15;
  std::vector<float> x(kBatch), a(kBatch), b(kBatch);
  const void* in[] = {x.data()};
  for (Expression e : {Expression::tanh, Expression::sigmoid, Expression::gelu, Expression::erf,
                       Expression::rsqrt, Expression::tan, Expression::log1p}) {
    for (uint32_t first : {0x3e000000u, 0xbe000000u}) {  // from 1/8 to 16, both signs
      for (uint32_t batch = 0; batch < 7u << 23; batch += kBatch) {
        for (uint32_t i = 0; i < kBatch; ++i) {
          const uint32_t bits = first + batch + i;
          std::memcpy(&x[i], &bits, sizeof bits);
        }
        cpu::f32_tiles[static_cast<int>(cpu::Isa::kAvx2)][static_cast<int>(e)](in, a.data(),
                                                                               kBatch);
        cpu::f32_tiles[static_cast<int>(cpu::Isa::kAvx512)][static_cast<int>(e)](in, b.data(),
                                                                                 kBatch);
        ASSERT_EQ(std::memcmp(a.data(), b.data(), kBatch * sizeof(float)), 0)
            << kExpressionInfo[static_cast<int>(e)].name << " near " << x[0];
      }
    }
  }
}

// So it is with doubles, which take powers of two and rows of tables by other instructions, too,
// and the parts of a logarithm's argument. Both members of a pair of vectors see every sample, for
// only one divides.
TEST(Vectors, DoublesHaveTheSameFunctionsOnAvx2AndAvx512) {
  if (cpu::best_isa() < cpu::Isa::kAvx512) GTEST_SKIP() << "no AVX-512 here";
  constexpr int kCount = 1 << 18;
  std::vector<double> x = {0.0, -0.0, INFINITY, -INFINITY, double(NAN), 5e-324, 1e308, -1e308};
  for (int i = 0; i < kCount; ++i) {
    const double u = 2 * unit(i) - 1, range[] = {760, 40, 4, 0x1p-20};
    x.push_back(u * range[i % 4]);
  }
  for (Expression e :
       {Expression::exp, Expression::exp2, Expression::expm1, Expression::sigmoid, Expression::silu,
        Expression::tanh, Expression::erf, Expression::gelu, Expression::log, Expression::log2,
        Expression::log10, Expression::sin, Expression::cos, Expression::tan, Expression::rsqrt}) {
    for (size_t from : {0, 8}) {
      const auto n = static_cast<int64_t>(x.size() - from);
      std::vector<double> a(x.size()), b(x.size());
      const void* in[] = {&x[from]};
      cpu::f64_tiles[static_cast<int>(cpu::Isa::kAvx2)][static_cast<int>(e)](in, a.data(), n);
      cpu::f64_tiles[static_cast<int>(cpu::Isa::kAvx512)][static_cast<int>(e)](in, b.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(std::memcmp(&a[i], &b[i], sizeof(double)), 0)
            << kExpressionInfo[static_cast<int>(e)].name << " of " << x[from + i];
      }
    }
  }
}

// The square roots of the tile function in batches, against the system's, which IEEE 754 rounds.
template <class T>
void expect_rounded_roots(const cpu::TileTable table, std::vector<T> x) {
  std::vector<T> y(x.size());
  const void* in[] = {x.data()};
  table[static_cast<int>(Expression::sqrt)](in, y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], std::sqrt(x[i])) << x[i];
}

// Two binades of x show all significands of float32 and of their roots.
TEST(Vectors, SquareRootsOfFloatsAreRoundedOnce) {
  constexpr uint32_t kBatch = 1 << 15;
  std::vector<float> x(kBatch);
  for (uint32_t batch = 0; batch < 2u << 23; batch += kBatch) {
    for (uint32_t i = 0; i < kBatch; ++i) {
      const uint32_t bits = 0x3f800000u + batch + i;
      std::memcpy(&x[i], &bits, sizeof bits);
    }
    expect_rounded_roots(cpu::tile_table(Class::kF32), x);
  }
}

// A root of float64 can be rounded wrongly only where it lies close to the middle m of two numbers.
// With M = 2^53 m odd and X the significand of x as an integer, M^2 - 2^s X is a small number k (s
// = 54 or 55 by x's binade); below |k| = 1000, far above what the error of the steps comes to, all
// M are found bit by bit.
TEST(Vectors, SquareRootsOfDoublesNearestToAMiddleAreRoundedOnce) {
  using Wide = unsigned __int128;
  std::vector<double> x;
  for (int s : {54, 55}) {
    for (int64_t k = -999; k < 1000; k += 2) {
      std::vector<uint64_t> roots = {1};  // of k modulo 2^bits
      for (int bits = 1; bits <= s; ++bits) {
        const uint64_t mask = (uint64_t{1} << bits) - 1;
        std::vector<uint64_t> longer;
        for (uint64_t m : roots) {
          for (uint64_t t : {m, m | uint64_t{1} << (bits - 1)}) {
            if (((t * t - static_cast<uint64_t>(k)) & mask) == 0) longer.push_back(t);
          }
        }
        std::sort(longer.begin(), longer.end());
        longer.erase(std::unique(longer.begin(), longer.end()), longer.end());
        roots = longer;
      }
      for (uint64_t m : roots) {
        if (m >> 53 != 1) continue;
        const uint64_t significand = static_cast<uint64_t>(
            (static_cast<Wide>(m) * m - static_cast<Wide>(static_cast<__int128>(k))) >> s);
        if (significand >> 52 == 1) x.push_back(std::ldexp(double(significand), s - 106));
      }
    }
  }
  ASSERT_GT(x.size(), 300u);
  for (int i = 0; i < 100000; ++i) x.push_back(std::ldexp(1 + unit(i), i % 1800 - 899));
  // A vector with a lane out of range is left to the instruction, a whole one is not.
  x.insert(x.end(), {0.0, -0.0, 5e-324, 0x1p-1022, INFINITY});
  expect_rounded_roots(cpu::tile_table(Class::kF64), x);
}

// A number after the first operand has a tile function of its own; an array of it has not.
TEST(Vectors, NumbersGiveTheBitsOfArraysOfThem) {
  for (Class c : {Class::kF32, Class::kF64}) {
    const bool wide = c == Class::kF64;
    const int32_t dtype = wide ? LIBDL_DTYPE_FLOAT64 : LIBDL_DTYPE_FLOAT32;
    constexpr int64_t n = 2500;  // tiles and a rest
    const auto bytes = [&](auto value) {
      std::vector<char> to(n * (wide ? 8 : 4));
      for (int64_t i = 0; i < n; ++i) {
        const double x = value(i);
        const float y = static_cast<float>(x);
        std::memcpy(&to[i * (wide ? 8 : 4)], wide ? (const void*)&x : &y, wide ? 8 : 4);
      }
      return to;
    };
    for (Expression e : {Expression::add, Expression::sub, Expression::mul, Expression::div,
                         Expression::pow, Expression::clamp}) {
      for (double number : {2.0, 3.0, 0.5, -1.25, -0.0, double(NAN)}) {
        auto x = bytes([](int64_t i) { return i % 97 == 0 ? NAN : 8 * unit(i) - 4; });
        auto low = bytes([&](int64_t) { return number; });
        auto high = bytes([&](int64_t) { return number + 1; });
        std::vector<char> result[2] = {x, x};
        for (int form = 0; form < 2; ++form) {
          int64_t size = n, one = 1, stride = form;
          PointwiseArgs args = {};
          args.expression = static_cast<int32_t>(e);
          args.compute = static_cast<int32_t>(c);
          args.inputs = kExpressionInfo[args.expression].inputs;
          args.out = {result[form].data(), &size, &one, 1, dtype};
          args.in[0] = {x.data(), &size, &one, 1, dtype};
          args.in[1] = {low.data(), &size, &stride, 1, dtype};
          args.in[2] = {high.data(), &size, &stride, 1, dtype};
          Context context = kernels::test::plain_context();
          cpu::pointwise(context, args);
        }
        EXPECT_EQ(std::memcmp(result[0].data(), result[1].data(), result[0].size()), 0)
            << kExpressionInfo[static_cast<int>(e)].name << " with " << number;
      }
    }
  }
}

}  // namespace
}  // namespace libdl::kernels
