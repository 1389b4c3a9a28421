// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "tests/core/kernel_runs.h"

namespace libdl::kernels::test {
namespace {

template <class T>
Array<T> softmax(const Array<T>& x, bool log, Context context = plain_context()) {
  Array<T> y(x.sizes);
  cpu::softmax(context, {y.view(), x.view(), log});
  return y;
}

template <class T>
Array<T> gradient(const Array<T>& dy, const Array<T>& y, bool log,
                  Context context = plain_context()) {
  Array<T> dx(dy.sizes);
  cpu::softmax_backward(context, {dx.view(), dy.view(), y.view(), log});
  return dx;
}

// Errors: exp 1 ulp of an argument rounded once (|x - max| eps), the sum a few eps more.
template <class T>
void expect_softmax(double eps) {
  for (int64_t n : {1, 7, 65, 1000, 3001}) {
    const auto x = normal<T>({5, n}, 3, 3);
    const auto y = softmax(x, false), l = softmax(x, true);
    for (int64_t r = 0; r < 5; ++r) {
      double top = -1e30, sum = 0;
      for (int64_t i = 0; i < n; ++i) top = std::max(top, static_cast<double>(x[r * n + i]));
      for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[r * n + i]) - top);
      for (int64_t i = 0; i < n; ++i) {
        const double shifted = static_cast<double>(x[r * n + i]) - top;
        const double want = std::exp(shifted) / sum;
        ASSERT_NEAR(static_cast<double>(y[r * n + i]), want, 40 * eps * want) << n;
        ASSERT_NEAR(static_cast<double>(l[r * n + i]), shifted - std::log(sum),
                    40 * eps * (1 + std::abs(shifted) + std::log(sum)));
      }
    }
  }
}
TEST(SoftmaxKernel, EqualsDoubleReference) {
  for_isas([](cpu::Isa) {
    expect_softmax<float>(6e-8);
    expect_softmax<double>(2.3e-16);
  });
}

TEST(SoftmaxKernel, GradientEqualsReference) {
  for_isas([](cpu::Isa) {
    for (int64_t n : {1, 7, 65, 1000, 3001}) {
      const auto x = normal<float>({3, n}, 3), dy = normal<float>({3, n}, 4);
      for (bool log : {false, true}) {
        const auto y = softmax(x, log);
        const auto dx = gradient(dy, y, log);
        for (int64_t r = 0; r < 3; ++r) {
          double sum = 0, magnitude = 0;
          for (int64_t i = 0; i < n; ++i) {
            const double g = static_cast<double>(dy[r * n + i]);
            const double v = static_cast<double>(y[r * n + i]);
            sum += log ? g : g * v;
            magnitude += std::abs(log ? g : g * v);
          }
          for (int64_t i = 0; i < n; ++i) {
            const double g = static_cast<double>(dy[r * n + i]);
            const double v = static_cast<double>(y[r * n + i]);
            const double want = log ? g - std::exp(v) * sum : v * (g - sum);
            ASSERT_NEAR(static_cast<double>(dx[r * n + i]), want,
                        4e-6 * (magnitude + std::abs(g)) * (log ? std::exp(v) : v) + 1e-7);
          }
        }
      }
    }
  });
}

TEST(SoftmaxKernel, InfinitiesAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  for_isas([&](cpu::Isa) {
    for (bool log : {false, true}) {
      Array<float> x({4, 20}, -inf);
      for (int64_t i = 20; i < 40; ++i) x[i] = i == 25 ? -inf : 10000;
      for (int64_t i = 40; i < 80; ++i) x[i] = 1;
      x[45] = std::numeric_limits<float>::quiet_NaN();
      x[65] = inf;
      const auto y = softmax(x, log);
      EXPECT_TRUE(std::isnan(y[0]));
      EXPECT_EQ(y[25], log ? -inf : 0);
      EXPECT_NEAR(y[26], log ? -std::log(19.0) : 1 / 19.0, 1e-6);
      for (int64_t i = 40; i < 60; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
      EXPECT_TRUE(std::isnan(y[65]));
    }
  });
}

TEST(SoftmaxKernel, BitsDoNotDependOnStridesOrThreads) {
  for_isas([](cpu::Isa) {
    for (int64_t n : {1, 5, 65, 1500}) {
      const auto x = normal<float>({70, n}, 3), dy = normal<float>({70, n}, 4);
      for (bool log : {false, true}) {
        const auto y = softmax(x, log), dx = gradient(dy, y, log);
        EXPECT_TRUE(same_bits(y.data, softmax(x.spread(2), log).data));
        EXPECT_TRUE(same_bits(y.data, softmax(x.crossed(), log).data));
        EXPECT_TRUE(same_bits(dx.data, gradient(dy.crossed(), y.spread(2), log).data));
        Array<float> in_place = x, crossed = x.crossed();
        Context context = plain_context();
        cpu::softmax(context, {in_place.view(), in_place.view(), log});
        EXPECT_TRUE(same_bits(y.data, in_place.data));
        cpu::softmax(context, {crossed.view(), crossed.view(), log});
        for (int64_t i = 0; i < y.numel(); ++i) ASSERT_EQ(y[i], crossed[i]);
        for (const Context& c : contexts()) {
          EXPECT_TRUE(same_bits(y.data, softmax(x, log, c).data));
          EXPECT_TRUE(same_bits(dx.data, gradient(dy, y, log, c).data));
        }
      }
    }
  });
}

TEST(SoftmaxKernel, BitsAreEqualWithAvx2AndAvx512) {
  const auto x = normal<float>({9, 777}, 3, 5);
  std::vector<float> first;
  for_isas([&](cpu::Isa isa) {
    if (isa == cpu::Isa::kBaseline) return;  // has no fma
    const auto y = softmax(x, false).data;
    if (first.empty()) first = y;
    EXPECT_TRUE(same_bits(first, y));
  });
}

TEST(SoftmaxKernel, SixteenBitRowsAreComputedInFloat32) {
  Array<uint16_t> x({2, 3}), y({2, 3});
  x.dtype = y.dtype = LIBDL_DTYPE_BFLOAT16;
  x.data = {0, 0, 0xff80, 0x3f80, 0x3f80, 0x3f80};  // 0, 0, -inf; 1, 1, 1
  Context context = plain_context();
  cpu::softmax(context, {y.view(), x.view(), false});
  EXPECT_EQ(y.data, (std::vector<uint16_t>{0x3f00, 0x3f00, 0, 0x3eab, 0x3eab, 0x3eab}));
}

TEST(SoftmaxKernel, EmptyRows) {
  EXPECT_EQ(softmax(Array<float>({3, 0}), false).numel(), 0);
  EXPECT_EQ(softmax(Array<float>({0, 3}), true).numel(), 0);
}

}  // namespace
}  // namespace libdl::kernels::test
