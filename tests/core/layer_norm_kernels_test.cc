// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "kernels/cpu/kernels.h"
#include "tests/core/kernel_runs.h"

namespace libdl::kernels::test {
namespace {

template <class T>
struct Result {
  Array<T> out, mean, rstd;
};

template <class T>
Result<T> layer_norm(const Array<T>& x, const Array<T>* weight, const Array<T>* bias,
                     Context context = plain_context()) {
  Result<T> r{Array<T>(x.sizes), Array<T>({x.sizes[0]}), Array<T>({x.sizes[0]})};
  LayerNormArgs args{};
  args.out = r.out.view();
  args.mean = r.mean.view();
  args.rstd = r.rstd.view();
  args.in = x.view();
  if (weight != nullptr) args.weight = weight->view();
  if (bias != nullptr) args.bias = bias->view();
  args.eps = 1e-5;
  cpu::layer_norm(context, args);
  return r;
}

template <class T>
struct Gradient {
  Array<T> dx, dweight, dbias;
};

template <class T>
Gradient<T> backward(const Array<T>& dy, const Array<T>& x, const Result<T>& saved,
                     const Array<T>* weight, Context context = plain_context()) {
  const int64_t cols = x.sizes[1];
  Gradient<T> g{Array<T>(x.sizes), Array<T>({cols}), Array<T>({cols})};
  LayerNormBackwardArgs args{};
  args.dx = g.dx.view();
  args.dweight = g.dweight.view();
  args.dbias = g.dbias.view();
  args.dy = dy.view();
  args.in = x.view();
  args.mean = saved.mean.view();
  args.rstd = saved.rstd.view();
  if (weight != nullptr) args.weight = weight->view();
  cpu::layer_norm_backward(context, args);
  return g;
}

template <class T>
void expect_rows(int64_t rows, int64_t n, double tolerance) {
  const auto x = normal<T>({rows, n}, 1), dy = normal<T>({rows, n}, 2);
  const auto weight = normal<T>({n}, 3), bias = normal<T>({n}, 4);
  const auto got = layer_norm(x, &weight, &bias);
  const auto bare = layer_norm<T>(x, nullptr, nullptr);
  const auto gradient = backward(dy, x, got, &weight);
  const auto size = static_cast<double>(n);
  std::vector<double> dweight(static_cast<size_t>(n)), dbias(static_cast<size_t>(n));
  for (int64_t r = 0; r < rows; ++r) {
    double mean = 0, squares = 0, sum_g = 0, sum_gx = 0;
    const auto at = [&](const Array<T>& a, int64_t i) { return static_cast<double>(a[r * n + i]); };
    for (int64_t i = 0; i < n; ++i) mean += at(x, i) / size;
    for (int64_t i = 0; i < n; ++i) squares += (at(x, i) - mean) * (at(x, i) - mean);
    const double rstd = 1 / std::sqrt(squares / size + 1e-5);
    ASSERT_NEAR(static_cast<double>(got.mean[r]), mean, tolerance);
    ASSERT_NEAR(static_cast<double>(got.rstd[r]), rstd, tolerance * rstd * (n == 1 ? 1e3 : 1));
    for (int64_t i = 0; i < n; ++i) {
      const double xhat = (at(x, i) - mean) * rstd, w = static_cast<double>(weight[i]);
      ASSERT_NEAR(at(bare.out, i), xhat, tolerance * (1 + std::abs(xhat)));
      ASSERT_NEAR(at(got.out, i), xhat * w + static_cast<double>(bias[i]),
                  tolerance * (4 + std::abs(xhat * w)));
      sum_g += at(dy, i) * w / size;
      sum_gx += at(dy, i) * w * xhat / size;
      dweight[static_cast<size_t>(i)] += at(dy, i) * xhat;
      dbias[static_cast<size_t>(i)] += at(dy, i);
    }
    for (int64_t i = 0; i < n; ++i) {
      const double xhat = (at(x, i) - mean) * rstd, g = at(dy, i) * static_cast<double>(weight[i]);
      const double want = rstd * (g - sum_g - xhat * sum_gx);
      ASSERT_NEAR(at(gradient.dx, i), want, tolerance * (4 + rstd) * 4) << n << " " << i;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    const double slack = tolerance * 4 * std::sqrt(static_cast<double>(rows));
    ASSERT_NEAR(static_cast<double>(gradient.dweight[i]), dweight[static_cast<size_t>(i)], slack);
    ASSERT_NEAR(static_cast<double>(gradient.dbias[i]), dbias[static_cast<size_t>(i)], slack);
  }
}

TEST(LayerNormKernel, ForwardAndGradientEqualDoubleReference) {
  for_isas([](cpu::Isa) {
    for (int64_t n : {2, 7, 65, 1000, 2500}) {
      expect_rows<float>(5, n, 3e-6);
      expect_rows<double>(5, n, 1e-14);
    }
    expect_rows<float>(700, 9, 3e-6);
  });
}

TEST(LayerNormKernel, AConstantRowGivesTheBias) {
  const Array<float> x({2, 30}, 5.0f), weight({30}, 2.0f), bias({30}, 0.25f);
  const auto y = layer_norm(x, &weight, &bias);
  for (float v : y.out.data) EXPECT_EQ(v, 0.25f);
  EXPECT_NEAR(y.rstd[0], 1 / std::sqrt(1e-5), 0.1);
}

TEST(LayerNormKernel, BitsDoNotDependOnStridesOrThreads) {
  for_isas([](cpu::Isa) {
    for (int64_t n : {3, 65, 1500}) {
      const auto x = normal<float>({90, n}, 1), dy = normal<float>({90, n}, 2);
      const auto weight = normal<float>({n}, 3), bias = normal<float>({n}, 4);
      const auto want = layer_norm(x, &weight, &bias);
      const auto gradient = backward(dy, x, want, &weight);
      const auto spread = weight.spread(2);
      EXPECT_TRUE(same_bits(want.out.data, layer_norm(x.crossed(), &spread, &bias).out.data));
      const auto other = backward(dy.spread(2), x.crossed(), want, &spread);
      EXPECT_TRUE(same_bits(gradient.dx.data, other.dx.data));
      EXPECT_TRUE(same_bits(gradient.dweight.data, other.dweight.data));
      for (const Context& c : contexts()) {
        EXPECT_TRUE(same_bits(want.out.data, layer_norm(x, &weight, &bias, c).out.data));
        const auto again = backward(dy, x, want, &weight, c);
        EXPECT_TRUE(same_bits(gradient.dx.data, again.dx.data));
        EXPECT_TRUE(same_bits(gradient.dweight.data, again.dweight.data));
        EXPECT_TRUE(same_bits(gradient.dbias.data, again.dbias.data));
      }
    }
  });
}

TEST(LayerNormKernel, GradientMayOverwriteDy) {
  const auto x = normal<float>({40, 33}, 1);
  auto dy = normal<float>({40, 33}, 2);
  const auto saved = layer_norm<float>(x, nullptr, nullptr);
  const auto want = backward<float>(dy, x, saved, nullptr);
  Array<float> dweight({33}), dbias({33});
  LayerNormBackwardArgs args{};
  args.dx = args.dy = dy.view();
  args.dweight = dweight.view();
  args.dbias = dbias.view();
  args.in = x.view();
  args.mean = saved.mean.view();
  args.rstd = saved.rstd.view();
  Context context = plain_context();
  cpu::layer_norm_backward(context, args);
  EXPECT_TRUE(same_bits(want.dx.data, dy.data));
  EXPECT_TRUE(same_bits(want.dweight.data, dweight.data));
  EXPECT_TRUE(same_bits(want.dbias.data, dbias.data));
}

}  // namespace
}  // namespace libdl::kernels::test
