// SPDX-License-Identifier: Apache-2.0

// Tile functions that compute in the dtype of memory give what the compute class gives.
#include <gtest/gtest.h>
#include <libdl/dtype.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/cpu/traverse/convert.h"

namespace libdl::kernels::cpu {
namespace {

class ExactTiles : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!set_isa(static_cast<Isa>(GetParam()))) GTEST_SKIP() << "not on this machine";
  }
  void TearDown() override { set_isa(best_isa()); }
};
INSTANTIATE_TEST_SUITE_P(All, ExactTiles, testing::Range(0, kIsas), [](const auto& info) {
  return std::string(isa_name(static_cast<Isa>(info.param)));
});

constexpr int64_t kCounts[] = {1, 7, 64, 1000};

bool is_division(Expression e) {
  using enum Expression;
  return e == div_trunc || e == div_floor || e == remainder || e == fmod;
}

template <class T>
void check_narrow(int32_t dtype) {
  std::mt19937 random(1);
  for (int e = 0; e < kExpressions; ++e) {
    const TileFn narrow = narrow_tiles(dtype)[e], wide = tile_table(Class::kI64)[e];
    // Divisions are left to the class, which has vectors for them.
    const bool divides = is_division(static_cast<Expression>(e));
    ASSERT_EQ(narrow != nullptr, wide != nullptr && !divides) << kExpressionInfo[e].name;
    if (narrow == nullptr) continue;
    const bool truth = kExpressionInfo[e].truth;
    for (const int64_t n : kCounts) {
      std::vector<T> x[3];
      std::vector<int64_t> w[3];
      const void *in[3], *widened[3];
      for (int k = 0; k < 3; ++k) {
        for (int64_t i = 0; i < n; ++i) {
          // Small ones too: distances of shifts, divisors of 0 and -1.
          const auto any = static_cast<T>(random());
          x[k].push_back(random() % 3 == 0 ? static_cast<T>(static_cast<int>(random() % 80) - 8)
                                           : any);
          w[k].push_back(x[k].back());
        }
        in[k] = x[k].data();
        widened[k] = w[k].data();
      }
      std::vector<T> y(n);
      std::vector<int64_t> z(n);
      std::vector<uint8_t> p(n), q(n);
      narrow(in, truth ? static_cast<void*>(p.data()) : y.data(), n);
      wide(widened, truth ? static_cast<void*>(q.data()) : z.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        if (truth) {
          ASSERT_EQ(p[i], q[i]) << kExpressionInfo[e].name << " at " << i;
          continue;
        }
        ASSERT_EQ(y[i], static_cast<T>(z[i]))
            << kExpressionInfo[e].name << " of " << w[0][i] << ", " << w[1][i] << ", " << w[2][i];
      }
    }
  }
}
TEST_P(ExactTiles, NarrowIntegersWrapToTheValuesOf64Bits) {
  check_narrow<uint8_t>(LIBDL_DTYPE_UINT8);
  check_narrow<int8_t>(LIBDL_DTYPE_INT8);
  check_narrow<int16_t>(LIBDL_DTYPE_INT16);
  check_narrow<int32_t>(LIBDL_DTYPE_INT32);
}

// All elements shifted by one number are those shifted by as many equal ones.
template <class T>
void check_shifts(int32_t dtype) {
  constexpr int64_t kCount = 517;
  std::mt19937 random(2);
  std::vector<T> x(kCount);
  for (T& v : x) v = static_cast<T>(random());
  for (const Expression e : {Expression::bitwise_left_shift, Expression::bitwise_right_shift}) {
    if (narrow_number_tiles(dtype)[static_cast<int>(e)] == nullptr) {
      EXPECT_EQ(isa(), Isa::kBaseline);
      continue;
    }
    for (int bits = -2; bits < 70; ++bits) {
      const std::vector<T> many(kCount, static_cast<T>(bits));
      std::vector<T> y(kCount), z(kCount);
      const void* in[] = {x.data(), many.data()};
      narrow_number_tiles(dtype)[static_cast<int>(e)](in, y.data(), kCount);
      narrow_tiles(dtype)[static_cast<int>(e)](in, z.data(), kCount);
      ASSERT_EQ(y, z) << kExpressionInfo[static_cast<int>(e)].name << " by " << bits;
    }
  }
}
TEST_P(ExactTiles, ShiftsByANumber) {
  check_shifts<uint8_t>(LIBDL_DTYPE_UINT8);
  check_shifts<int8_t>(LIBDL_DTYPE_INT8);
  check_shifts<int16_t>(LIBDL_DTYPE_INT16);
  check_shifts<int32_t>(LIBDL_DTYPE_INT32);
}

// Divisions by way of doubles, where they are exact, and beyond.
TEST_P(ExactTiles, IntegerDivisionIsExactAtEverySize) {
  using enum Expression;
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  std::mt19937_64 random(4);
  std::vector<int64_t> x, y;
  const auto some = [&] {
    constexpr int64_t kEdges[] = {0,
                                  1,
                                  -1,
                                  2,
                                  -3,
                                  (int64_t{1} << 53) - 1,
                                  int64_t{1} << 53,
                                  -(int64_t{1} << 53),
                                  kMin,
                                  kMin + 1,
                                  -(kMin + 1)};
    if (random() % 4 == 0) return kEdges[random() % std::size(kEdges)];
    return static_cast<int64_t>(random()) >> (random() % 64);
  };
  for (int i = 0; i < 40000; ++i) {
    const int64_t b = some();
    // Half of the dividends lie beside a multiple of the divisor.
    int64_t a = some();
    if (i % 2 == 0 && b != 0 && b > -(int64_t{1} << 26) && b < int64_t{1} << 26) {
      a = (a >> 38) * b + static_cast<int64_t>(random() % 3) - 1;
    }
    x.push_back(a);
    y.push_back(b);
  }
  const auto n = static_cast<int64_t>(x.size());
  const void* in[] = {x.data(), y.data()};
  for (const Expression e : {div_trunc, div_floor, remainder, fmod}) {
    std::vector<int64_t> z(n);
    tile_table(Class::kI64)[static_cast<int>(e)](in, z.data(), n);
    for (int64_t i = 0; i < n; ++i) {
      int64_t q = 0, r = 0;  // by zero: 0 here; the operators raise before
      if (y[i] == -1) {
        q = static_cast<int64_t>(0 - static_cast<uint64_t>(x[i]));
      } else if (y[i] != 0) {
        q = x[i] / y[i], r = x[i] % y[i];
      }
      const bool lower = r != 0 && (r < 0) != (y[i] < 0);
      const int64_t wanted = e == div_trunc   ? q
                             : e == div_floor ? q - lower
                             : e == fmod      ? r
                                              : r + (lower ? y[i] : 0);
      ASSERT_EQ(z[i], wanted) << kExpressionInfo[static_cast<int>(e)].name << " of " << x[i] << ", "
                              << y[i];
    }
  }
}

// Numbers in place of operands that repeat them.
template <class T>
void check_numbers(int32_t dtype) {
  std::mt19937 random(5);
  for (int e = 0; e < kExpressions; ++e) {
    const TileFn fn = narrow_number_tiles(dtype)[e];
    if (fn == nullptr) continue;
    for (const int64_t n : kCounts) {
      std::vector<T> x(n), second(n, static_cast<T>(random())), third(n, static_cast<T>(random()));
      for (T& v : x) v = static_cast<T>(random());
      const void* in[] = {x.data(), second.data(), third.data()};
      std::vector<T> y(n), wanted(n);
      fn(in, y.data(), n);
      narrow_tiles(dtype)[e](in, wanted.data(), n);
      EXPECT_EQ(y, wanted) << kExpressionInfo[e].name;
    }
  }
}
TEST_P(ExactTiles, NarrowNumbers) {
  check_numbers<uint8_t>(LIBDL_DTYPE_UINT8);
  check_numbers<int8_t>(LIBDL_DTYPE_INT8);
  check_numbers<int16_t>(LIBDL_DTYPE_INT16);
  check_numbers<int32_t>(LIBDL_DTYPE_INT32);
}

// float16 or bfloat16 beside the same by way of float32; all patterns of the first input.
struct ShortFloats {
  static constexpr int64_t kAll = 1 << 16;
  int32_t dtype;
  std::vector<uint16_t> x[3];
  std::vector<float> wide[3];

  explicit ShortFloats(int32_t type) : dtype(type) {
    std::mt19937 random(6);
    for (int k = 0; k < 3; ++k) {
      for (int64_t i = 0; i < kAll; ++i) {
        x[k].push_back(static_cast<uint16_t>(k == 0 ? i : static_cast<int64_t>(random())));
      }
      wide[k].resize(kAll);
      convert_to_class(dtype, Class::kF32)(x[k].data(), wide[k].data(), kAll);
    }
  }
  bool is_nan(uint16_t bits) const {
    return (bits & 0x7FFF) > (dtype == LIBDL_DTYPE_FLOAT16 ? 0x7C00 : 0x7F80);
  }
  // The class's way; where that function takes numbers they are in[1] and in[2].
  void expect(TileFn fn, TileFn by_class, const void* const* in, const void* const* wide_in,
              const std::string& name) const {
    std::vector<float> through(kAll);
    std::vector<uint16_t> wanted(kAll), y(kAll);
    by_class(wide_in, through.data(), kAll);
    convert_from_class(Class::kF32, dtype)(through.data(), wanted.data(), kAll);
    for (const int64_t n : {int64_t{7}, kAll}) fn(in, y.data(), n);
    for (int64_t i = 0; i < kAll; ++i) {
      if (is_nan(wanted[i]) && is_nan(y[i])) continue;
      ASSERT_EQ(y[i], wanted[i]) << name << " of " << wide[0][i] << ", " << wide[1][i] << ", "
                                 << wide[2][i];
    }
  }
  void expect_truths(TileFn fn, TileFn by_class, const void* const* in, const void* const* wide_in,
                     const std::string& name) const {
    std::vector<uint8_t> y(kAll), wanted(kAll);
    fn(in, y.data(), kAll);
    by_class(wide_in, wanted.data(), kAll);
    EXPECT_EQ(y, wanted) << name;
  }
};
TEST_P(ExactTiles, ShortFloatsRoundOnceWhatFloat32Gives) {
  for (const int32_t dtype : {LIBDL_DTYPE_FLOAT16, LIBDL_DTYPE_BFLOAT16}) {
    const ShortFloats s(dtype);
    const void *in[3], *wide[3];
    for (int k = 0; k < 3; ++k) in[k] = s.x[k].data(), wide[k] = s.wide[k].data();
    for (int e = 0; e < kExpressions; ++e) {
      const std::string name = kExpressionInfo[e].name;
      const TileFn by_class = tile_table(Class::kF32)[e];
      if (const TileFn fn = short_tile(dtype, ShortOperands::kTensors, e)) {
        if (kExpressionInfo[e].truth) s.expect_truths(fn, by_class, in, wide, name);
        if (!kExpressionInfo[e].truth) s.expect(fn, by_class, in, wide, name);
      }
      if (const TileFn fn = short_tile(dtype, ShortOperands::kCounted, e)) {
        s.expect(fn, counted_tile(Class::kF32, e), in, wide, name + " as numbers");
      }
      const float low = -0.7f, high = 1.3f;
      const void* numbers[] = {in[0], &low, &high};
      const void* wide_numbers[] = {wide[0], &low, &high};
      if (const TileFn fn = short_tile(dtype, ShortOperands::kNumbers, e)) {
        s.expect(fn, number_tile(Class::kF32, e), numbers, wide_numbers, name + " of numbers");
      }
    }
    for (const float exponent : {2.0f, 3.0f}) {
      const TileFn fn = short_power_tile(dtype, exponent);
      if (fn == nullptr) continue;
      const void* powers[] = {wide[0], &exponent};
      const TileFn by_class = number_tile(Class::kF32, static_cast<int>(Expression::pow));
      s.expect(fn, by_class, in, powers, "power");
    }
    EXPECT_EQ(short_power_tile(dtype, 2.5f), nullptr);
  }
}

// A truth as a number is the truth.
template <class T>
void check_counted(Class c) {
  std::mt19937 random(7);
  for (int e = 0; e < kExpressions; ++e) {
    const TileFn fn = counted_tile(c, e), truths = tile_table(c)[e];
    ASSERT_EQ(fn != nullptr, truths != nullptr && kExpressionInfo[e].truth);
    if (fn == nullptr) continue;
    for (const int64_t n : kCounts) {
      std::vector<T> x(n), y(n), z(n);
      for (int64_t i = 0; i < n; ++i) {
        x[i] = static_cast<T>(static_cast<int>(random() % 5) - 2);
        y[i] = static_cast<T>(static_cast<int>(random() % 5) - 2);
        if (std::is_floating_point_v<T> && random() % 4 == 0) y[i] = static_cast<T>(NAN);
      }
      const void* in[] = {x.data(), y.data()};
      std::vector<uint8_t> wanted(n);
      fn(in, z.data(), n);
      truths(in, wanted.data(), n);
      EXPECT_EQ(z, std::vector<T>(wanted.begin(), wanted.end())) << kExpressionInfo[e].name;
    }
  }
}
TEST_P(ExactTiles, TruthsAsNumbers) {
  check_counted<int64_t>(Class::kI64);
  check_counted<float>(Class::kF32);
  check_counted<double>(Class::kF64);
}

using C64 = std::complex<float>;
using C128 = std::complex<double>;

std::vector<C64> numbers(int64_t n, unsigned seed) {
  constexpr float kSpecial[] = {0,   -0.0f, 1,      -1,     INFINITY, -INFINITY,
                                NAN, 1e38f, 1e-38f, 1e-45f, 3,        -0.5f};
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto part = [&] { return random() % 4 == 0 ? kSpecial[random() % 12] : normal(random); };
  std::vector<C64> z;
  for (int64_t i = 0; i < n; ++i) {
    const float re = part();
    z.emplace_back(re, part());
  }
  return z;
}
std::vector<C128> wide(const std::vector<C64>& z) { return {z.begin(), z.end()}; }

bool same(float x, float y) { return (x != x && y != y) || std::memcmp(&x, &y, sizeof(x)) == 0; }

// With `number` the inputs after the first are that complex128 each.
void check_complex(Expression e, const C128* number) {
  const int index = static_cast<int>(e);
  const TileFn tile = number ? c64_number_tile(index) : c64_tile(index);
  const char* name = kExpressionInfo[index].name;
  if (tile == nullptr) GTEST_SKIP() << "no vectors on this machine";
  for (const int64_t n : kCounts) {
    std::vector<C64> x[3];
    std::vector<C128> w[3];
    const void *in[3], *widened[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = numbers(n, 10 * k + 1);
      w[k] = number && k > 0 ? std::vector<C128>(n, *number) : wide(x[k]);
      in[k] = number && k > 0 ? static_cast<const void*>(number) : x[k].data();
      widened[k] = w[k].data();
    }
    std::vector<C64> y(n);
    std::vector<C128> z(n);
    tile(in, y.data(), n);
    tile_table(Class::kC128)[index](widened, z.data(), n);
    for (int64_t i = 0; i < n; ++i) {
      const C64 wanted(z[i]);
      if (e == Expression::abs) {  // the root of exact squares, not the C library's function
        ASSERT_NEAR(y[i].real() / wanted.real(), 1, 1e-7) << x[0][i];
        ASSERT_TRUE(same(y[i].imag(), 0));
        continue;
      }
      ASSERT_TRUE(same(y[i].real(), wanted.real()) && same(y[i].imag(), wanted.imag()))
          << name << " of " << x[0][i] << ", " << w[1][i] << ": " << y[i] << ", wanted " << wanted;
    }
  }
}
TEST_P(ExactTiles, Complex64RoundsOnceWhatComplex128Gives) {
  using enum Expression;
  for (const Expression e : {add, sub, mul, div, add_scaled, lerp, neg, square, reciprocal, conj}) {
    check_complex(e, nullptr);
  }
  const C128 one(0.1, -1.0 / 3);
  for (const Expression e : {add, sub, mul, div, add_scaled, lerp}) check_complex(e, &one);
}
TEST_P(ExactTiles, Complex64TimesNumbers) {  // real ones and floats have a way of their own
  for (const C128 number : {C128(0.1, 0), C128(0.1, -0.0), C128(-2, 0.25), C128(0, -1), C128(-0.0),
                            C128(1e-300), C128(-1e-190), C128(1e300), C128(INFINITY), C128(NAN)}) {
    check_complex(Expression::mul, &number);
  }
}
TEST_P(ExactTiles, TheModulusOfComplex64) {
  const int index = static_cast<int>(Expression::abs);
  const TileFn tile = c64_tile(index);
  if (tile == nullptr) GTEST_SKIP() << "no vectors on this machine";
  for (const C64 z : numbers(5000, 3)) {
    C64 y;
    const void* in = &z;
    tile(&in, &y, 1);
    const float wanted = static_cast<float>(std::hypot(C128(z).real(), C128(z).imag()));
    EXPECT_TRUE(same(y.real(), wanted) || std::abs(y.real() / wanted - 1) < 1.2e-7f) << z;
    EXPECT_TRUE(same(y.imag(), 0)) << z;
  }
}

TEST_P(ExactTiles, WholePowersOfComplex64) {
  const TileFn square = c64_power_tile(2), cube = c64_power_tile(3);
  if (square == nullptr) GTEST_SKIP() << "no vectors on this machine";
  EXPECT_EQ(c64_power_tile(0.5), nullptr);
  for (int k = 0; k < 100; ++k) {
    const C128 z(0.01 * k - 0.3, 2 - 0.03 * k);
    const C64 x(z);
    C64 y;
    const void* in = &x;
    square(&in, &y, 1);
    EXPECT_LT(std::abs(C128(y) - C128(x) * C128(x)), 1.2e-7 * std::abs(C128(x) * C128(x)));
    cube(&in, &y, 1);
    const C128 third = C128(x) * C128(x) * C128(x);
    EXPECT_LT(std::abs(C128(y) - third), 1.2e-7 * std::abs(third));
  }
}

// The vector forms against the scalar arithmetic of kernels/scalars.h.
TEST_P(ExactTiles, Complex128IsTheScalarArithmetic) {
  using enum Expression;
  const int64_t n = 777;
  const auto x = wide(numbers(n, 5)), y = wide(numbers(n, 6));
  const void* in[] = {x.data(), y.data()};
  const auto at = [&](Expression e, int64_t i) {
    std::vector<C128> z(n);
    tile_table(Class::kC128)[static_cast<int>(e)](in, z.data(), n);
    return z[i];
  };
  const auto agree = [](double a, double b) { return (a != a && b != b) || a == b; };
  for (int64_t i = 0; i < n; i += 13) {
    const C128 a = x[i], b = y[i], product = at(mul, i), sum = at(add, i), difference = at(sub, i);
    EXPECT_TRUE(agree(product.real(), a.real() * b.real() - a.imag() * b.imag())) << a << b;
    EXPECT_TRUE(agree(product.imag(), a.real() * b.imag() + a.imag() * b.real())) << a << b;
    EXPECT_TRUE(agree(sum.real(), a.real() + b.real()) && agree(sum.imag(), a.imag() + b.imag()));
    EXPECT_TRUE(agree(difference.real(), a.real() - b.real()));
    EXPECT_TRUE(agree(difference.imag(), a.imag() - b.imag()));
    if (!std::isfinite(std::abs(a)) || !std::isfinite(std::abs(b)) || b == C128(0)) continue;
    const C128 quotient = at(div, i), wanted = a / b;
    EXPECT_NEAR(std::abs(quotient - wanted), 0, 1e-14 * std::abs(wanted)) << a << b;
  }
}

template <class T>
void check_choice() {
  std::mt19937 random(2);
  for (const int64_t n : kCounts) {
    std::vector<uint8_t> condition(n);
    std::vector<T> x(n), y(n), z(n);
    for (auto& c : condition) c = static_cast<uint8_t>(random() % 3);  // 2 is true as well
    for (auto* list : {&x, &y}) {
      auto* bytes = reinterpret_cast<uint8_t*>(list->data());
      for (size_t i = 0; i < n * sizeof(T); ++i) bytes[i] = static_cast<uint8_t>(random());
    }
    const void* in[] = {condition.data(), x.data(), y.data()};
    choice_tile(sizeof(T))(in, z.data(), n);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(std::memcmp(&z[i], condition[i] ? &x[i] : &y[i], sizeof(T)), 0);
    }
    choice_tile(sizeof(T))(in, x.data(), n);  // in place
    ASSERT_EQ(std::memcmp(x.data(), z.data(), n * sizeof(T)), 0);
  }
}
TEST_P(ExactTiles, ChoicesMoveBits) {
  check_choice<uint8_t>();
  check_choice<uint16_t>();
  check_choice<uint32_t>();
  check_choice<uint64_t>();
  check_choice<C128>();
}

}  // namespace
}  // namespace libdl::kernels::cpu
