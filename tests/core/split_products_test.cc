// SPDX-License-Identifier: Apache-2.0

// Products of float32 in three parts, on the processor's matrix unit. Without one these tests see
// the plain products alone.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/gemm/matmul.h"
#include "kernels/cpu/gemm/matrix_unit.h"
#include "kernels/cpu/gemm/split_amx.h"
#include "kernels/cpu/kernels.h"
#include "tests/core/kernel_runs.h"

namespace libdl::kernels::test {
namespace {

using Floats = Array<float>;

struct Options {
  double alpha = 1, beta = 0;
  bool packed = false;
  const Floats* bias = nullptr;
  Context context = plain_context();
};

void multiply(Floats& out, const Floats& a, const Floats& b, Options o = {}) {
  MatmulArgs args{};
  args.out = out.view(), args.a = a.view(), args.b = b.view();
  if (o.bias) args.bias = o.bias->view();
  args.alpha = o.alpha, args.beta = o.beta;
  std::vector<char> panels;
  if (o.packed) {
    const int64_t one = cpu::packed_size(LIBDL_DTYPE_FLOAT32, b.sizes[2], b.sizes[1]);
    panels.assign(static_cast<size_t>(b.sizes[0] * one + 64), '\xff');  // NaN
    args.packed_b = panels.data() + (64 - reinterpret_cast<uintptr_t>(panels.data()) % 64);
    cpu::pack_b(o.context, const_cast<void*>(args.packed_b), b.view());
  }
  cpu::matmul(o.context, args);
}
std::vector<float> product(const Floats& a, const Floats& b, Options o = {}) {
  Floats out({a.sizes[0], a.sizes[1], b.sizes[2]});
  std::fill(out.data.begin(), out.data.end(), std::numeric_limits<float>::quiet_NaN());
  multiply(out, a, b, o);
  return out.data;
}

// The largest error as a part of 2^-24 sum |a| |b|.
double worst(const std::vector<float>& out, const Floats& a, const Floats& b) {
  const int64_t m = a.sizes[1], k = a.sizes[2], n = b.sizes[2];
  double most = 0;
  std::vector<double> sum(static_cast<size_t>(n)), size(sum);
  for (int64_t row = 0; row < a.sizes[0] * m; ++row) {
    std::fill(sum.begin(), sum.end(), 0.0), std::fill(size.begin(), size.end(), 0.0);
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) {
        const double y =
            static_cast<double>(a.data[static_cast<size_t>(row * k + p)]) *
            static_cast<double>(b.data[static_cast<size_t>((row / m * k + p) * n + j)]);
        sum[static_cast<size_t>(j)] += y, size[static_cast<size_t>(j)] += std::abs(y);
      }
    for (size_t j = 0; j < sum.size(); ++j) {
      const double got = static_cast<double>(out[static_cast<size_t>(row) * sum.size() + j]);
      const double error = std::abs(got - sum[j]);
      // A comparison with NaN is false, and counts as an infinite error.
      most = error <= 1e300 ? std::max(most, error / (0x1p-24 * size[j] + 0x1p-149)) : 1e300;
    }
  }
  return most;
}

// With the matrix unit, where there is one, and without.
void both_ways(const std::function<void(bool)>& f) {
  const cpu::BfloatUnit before = cpu::bfloat_unit();
  for (bool unit : {false, true}) {
    const auto wanted = unit ? cpu::BfloatUnit::kTiles : cpu::BfloatUnit::kNone;
    if (!cpu::set_bfloat_unit(wanted) || cpu::splits_products() != unit) continue;
    SCOPED_TRACE(unit ? "matrix unit" : "vectors");
    f(unit);
  }
  cpu::set_bfloat_unit(before);
}

struct Size {
  int64_t batch, m, n, k;
};
// Missing rows and columns of tiles, and parts of k and n that are split by themselves.
constexpr Size kSizes[] = {{1, 256, 256, 128}, {1, 259, 1100, 385}, {1, 1025, 65, 127},
                           {2, 300, 257, 801}, {1, 270, 251, 6200}, {1, 2053, 64, 64}};

// Sums of k numbers in float32 would be allowed k units. Those of independent signs need fewer: the
// worst of these have 4.9 in vectors, and 1.9 in tiles.
TEST(SplitProducts, AreAsExactAsPlainOnes) {
  for (const Size& s : kSizes) {
    SCOPED_TRACE(testing::Message() << s.m << "x" << s.k << "x" << s.n);
    const Floats a = normal<float>({s.batch, s.m, s.k}, 1),
                 b = normal<float>({s.batch, s.k, s.n}, 2);
    both_ways([&](bool unit) {
      const auto out = product(a, b);
      EXPECT_LE(worst(out, a, b), unit ? 2.5 : 6);
      EXPECT_TRUE(same_bits(out, product(a.crossed(), b)));
      EXPECT_TRUE(same_bits(out, product(a, b.crossed())));
      EXPECT_TRUE(same_bits(out, product(a, b, {.packed = true})));
      for (const Context& context : contexts())
        EXPECT_TRUE(same_bits(out, product(a, b, {.context = context})));
    });
  }
}

TEST(SplitProducts, AreScaledAndAddedTo) {
  const Floats a = normal<float>({1, 300, 800}, 1), b = normal<float>({1, 800, 270}, 2);
  const Floats old = normal<float>({1, 300, 270}, 3), bias = normal<float>({270}, 4);
  both_ways([&](bool) {
    const auto plain = product(a, b);
    Floats out = old;
    multiply(out, a, b, {.alpha = -2, .beta = 0.5, .bias = &bias});
    for (int64_t i = 0; i < out.numel(); ++i) {
      const double want = -2 * static_cast<double>(plain[static_cast<size_t>(i)]) +
                          0.5 * static_cast<double>(old[i]) + static_cast<double>(bias[i % 270]);
      // 800 products of size 1: their sum is rounded at a size of 100, twice over, where it is
      // scaled.
      ASSERT_NEAR(static_cast<double>(out[i]), want, 8 * 100 * 0x1p-24) << i;
    }
  });
}

// Numbers whose parts, or their products, are no normal numbers: computed without the tiles, so as
// exact as everywhere, and infinities and NaN come out where they do in plain products.
TEST(SplitProducts, LeaveExtremesToPlainOnes) {
  const int64_t m = 320, k = 400, n = 288;
  const auto with = [&](float x, float y, bool one) {
    Floats a = normal<float>({1, m, k}, 1), b = normal<float>({1, k, n}, 2);
    for (int64_t i = 0; i < a.numel(); ++i)
      if (!one || i == 40 * k + 7) a[i] *= x;
    for (int64_t i = 0; i < b.numel(); ++i)
      if (!one || i == 7 * n + 100) b[i] *= y;
    return std::pair(a, b);
  };
  both_ways([&](bool) {
    for (const auto& [x, y] : {std::pair(1e-30f, 1e20f),
                               {1e-36f, 1e30f},
                               {1e-20f, 1e-15f},
                               {1e19f, 1e17f},
                               {1e-38f, 1e36f}}) {
      for (bool one : {false, true}) {
        SCOPED_TRACE(testing::Message() << x << ", " << y << (one ? ", one of each" : ""));
        const auto [a, b] = with(x, y, one);
        EXPECT_LE(worst(product(a, b), a, b), 8);
      }
    }
    {  // One product near the largest float: of its parts, the first ones' would overflow.
      auto [a, b] = with(1, 1, true);
      const float x = 0x1.018p63f, y = std::numeric_limits<float>::max() / x;
      a[40 * k + 7] = x, b[7 * n + 100] = y;
      for (int64_t p = 0; p < k; ++p)
        if (p != 7) a[40 * k + p] = 0;
      EXPECT_EQ(product(a, b)[40 * n + 100], x * y);
      EXPECT_TRUE(std::isfinite(x * y));
    }
    const float inf = std::numeric_limits<float>::infinity();
    const auto [a, b] = with(inf, 1, true);
    const auto out = product(a, b);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const float got = out[static_cast<size_t>(i * n + j)];
        const float want = i == 40 ? std::copysign(inf, a[40 * k + 7] * b[7 * n + j]) : 0;
        ASSERT_TRUE(i == 40 ? got == want : std::isfinite(got)) << i << ", " << j;
      }
  });
}

// All 2^32 floats would take a minute: the exponents that fit, and significands of few and many
// bits.
TEST(SplitProducts, PartsAddUpToTheNumber) {
  if (!cpu::matrix_unit()) GTEST_SKIP() << "no matrix unit here";
  std::vector<float> x(32 * 32);
  std::vector<uint16_t> tiles(3 * 1024);
  uint32_t bits = 0x0d800000;  // 2^-100
  for (int round = 0; round < 20000; ++round) {
    for (float& value : x) {
      bits = bits >= 0x7e800000 ? 0x0d800000 + (bits & 0x7fffff) : bits + 0x1d7a3;
      value = std::bit_cast<float>(bits | (round % 2 ? 0x80000000u : 0u));
    }
    alignas(64) static char to[cpu::split::kStepBytes];
    cpu::split::pack_rows(to, {x.data(), 32, 1}, 32, 32);
    std::memcpy(tiles.data(), to, sizeof(to));
    for (size_t i = 0; i < x.size(); ++i) {
      double sum = 0;
      for (size_t part = 0; part < 3; ++part)
        sum += static_cast<double>(std::bit_cast<float>(uint32_t{tiles[part * 1024 + i]} << 16));
      ASSERT_EQ(sum, static_cast<double>(x[i]));
    }
  }
}

}  // namespace
}  // namespace libdl::kernels::test
