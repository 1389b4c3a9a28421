// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>

#include "kernels/cpu/gemm/matmul.h"
#include "kernels/cpu/kernels.h"
#include "tests/core/kernel_runs.h"

namespace libdl::kernels::test {
namespace {

struct Options {
  double alpha = 1, beta = 0;
  bool packed = false;
  Context context = plain_context();
};

// out [batch, m, n] = a @ b, with bias where it has elements.
template <class T>
void multiply(Array<T>& out, const Array<T>& a, const Array<T>& b, const Array<T>& bias,
              Options o = {}) {
  MatmulArgs args{};
  args.out = out.view();
  args.a = a.view();
  args.b = b.view();
  if (bias.numel() > 0) args.bias = bias.view();
  args.alpha = o.alpha;
  args.beta = o.beta;
  const int64_t n = b.sizes[2], k = b.sizes[1];
  std::vector<char> panels;
  const auto aligned = [](std::vector<char>& v, int64_t bytes) {
    v.assign(static_cast<size_t>(bytes + 64), 'x');
    return v.data() + (64 - reinterpret_cast<uintptr_t>(v.data()) % 64);
  };
  if (o.packed) {
    void* to = aligned(panels, b.sizes[0] * cpu::packed_size(b.view().dtype, n, k));
    cpu::pack_b(o.context, to, b.view());
    args.packed_b = to;
  }
  cpu::matmul(o.context, args);
}

template <class T>
Array<T> product(const Array<T>& a, const Array<T>& b, Options o = {}) {
  Array<T> out({a.sizes[0], a.sizes[1], b.sizes[2]});
  if constexpr (std::is_floating_point_v<T>) {
    std::fill(out.data.begin(), out.data.end(), std::numeric_limits<T>::quiet_NaN());
  }
  multiply(out, a, b, Array<T>({0}), o);
  return out;
}

// A number that no product of T is rounded in, and one of its elements in it.
template <class T>
using Wide = std::conditional_t<std::is_arithmetic_v<T>, long double, std::complex<long double>>;
template <class T>
std::vector<Wide<T>> wide(const Array<T>& x) {
  std::vector<Wide<T>> all;
  for (int64_t i = 0; i < x.numel(); ++i) all.push_back(static_cast<Wide<T>>(x[i]));
  return all;
}
template <class T>
std::vector<long double> magnitudes(const std::vector<T>& x) {
  std::vector<long double> all;
  for (const T& e : x) all.push_back(std::abs(e));
  return all;
}

// a b, and how far a product may be from it: (k + 8) eps |a| |b|, element by element.
template <class T>
struct Expected {
  Expected(const Array<T>& a, const Array<T>& b, double eps)
      : m(a.sizes[1]), k(a.sizes[2]), n(b.sizes[2]) {
    const auto x = wide(a), y = wide(b);
    const auto size_x = magnitudes(x), size_y = magnitudes(y);
    for (int64_t row = 0; row < a.sizes[0] * m; ++row) {
      for (int64_t j = 0; j < n; ++j) {
        Wide<T> sum = 0;
        long double magnitude = 0;
        for (int64_t p = 0; p < k; ++p) {
          const auto at_x = static_cast<size_t>(row * k + p);
          const auto at_y = static_cast<size_t>((row / m * k + p) * n + j);
          sum += x[at_x] * y[at_y];
          magnitude += size_x[at_x] * size_y[at_y];
        }
        values.push_back(sum);
        bounds.push_back(static_cast<double>(k + 8) * eps * static_cast<double>(magnitude));
      }
    }
  }
  void holds(const Array<T>& out) const {
    ASSERT_EQ(static_cast<size_t>(out.numel()), values.size());
    const auto found = wide(out);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      ASSERT_LE(static_cast<double>(std::abs(found[i] - values[i])), bounds[i])
          << m << "x" << k << "x" << n << " at " << at / n % m << ", " << at % n;
    }
  }

  int64_t m, k, n;
  std::vector<Wide<T>> values;
  std::vector<double> bounds;
};

template <class T>
void expect_products(double eps) {
  struct Size {
    int64_t batch, m, n, k;
  };
  for (const Size& s : {Size{1, 1, 1, 1},
                        {1, 1, 65, 40},
                        {2, 65, 1, 40},
                        {1, 7, 65, 33},
                        {3, 5, 3, 2},
                        {1, 65, 130, 420},
                        {2, 40, 31, 390},
                        {1, 33, 64, 7},
                        // Rows of a, and columns of the crossed one, copied for their stride.
                        {1, 13, 70, 512},
                        {1, 140, 70, 20},
                        {1, 1, 4500, 70}}) {  // strips of a row's product at their widest
    const auto a = normal<T>({s.batch, s.m, s.k}, 1), b = normal<T>({s.batch, s.k, s.n}, 2);
    const Expected<T> expected(a, b, eps);
    for_isas([&](cpu::Isa) {
      expected.holds(product(a, b));
      expected.holds(product(a.crossed(), b.crossed()));
      expected.holds(product(a.spread(2), b.spread(3)));
      Array<T> out = Array<T>({s.batch, s.m, s.n}).crossed();
      multiply(out, a, b.crossed(), Array<T>({0}));
      expected.holds(out);
    });
  }
}

TEST(MatmulKernel, EqualsReferenceInFloat32) { expect_products<float>(6e-8); }
TEST(MatmulKernel, EqualsReferenceInFloat64) { expect_products<double>(1.2e-16); }
TEST(MatmulKernel, EqualsReferenceInComplex) {
  expect_products<std::complex<float>>(3e-7);
  expect_products<std::complex<double>>(6e-16);
}

TEST(MatmulKernel, IntegersWrap) {
  Array<int8_t> a({1, 3, 100}, 100), b({1, 100, 70}, 3);
  EXPECT_EQ(product(a, b)[5], static_cast<int8_t>(30000));
  Array<int64_t> x({1, 9, 2}, std::numeric_limits<int64_t>::max()), y({1, 2, 3}, 3);
  EXPECT_EQ(product(x, y)[26], -6);
  const auto p = normal<int32_t>({2, 9, 30}, 1, 50), q = normal<int32_t>({2, 30, 70}, 2, 50);
  Expected<int32_t>(p, q, 0).holds(product(p.crossed(), q));
}

template <class T>
void expect_wrapped() {
  struct Size {
    int64_t batch, m, n, k;
  };
  for (const Size& s : {Size{1, 1, 1, 1},
                        {2, 1, 1, 2100},
                        {1, 9, 70, 33},
                        {2, 65, 131, 129},
                        {1, 70, 300, 257},
                        {3, 33, 4, 1030},
                        {1, 1, 150, 40},
                        {2, 1, 1030, 41},
                        {2, 1030, 1, 39},
                        {2, 80, 600, 1},
                        {1, 5, 7, 0},
                        {1, 530, 530, 3}}) {
    Array<T> a({s.batch, s.m, s.k}), b({s.batch, s.k, s.n}), want({s.batch, s.m, s.n});
    std::mt19937_64 random(7);
    for (T& x : a.data) x = static_cast<T>(random());
    for (T& x : b.data) x = static_cast<T>(random());
    for (int64_t row = 0; row < s.batch * s.m; ++row) {
      std::vector<uint64_t> sum(static_cast<size_t>(s.n));
      for (int64_t p = 0; p < s.k; ++p) {
        const uint64_t x = static_cast<uint64_t>(a.data[static_cast<size_t>(row * s.k + p)]);
        const T* y = b.data.data() + (row / s.m * s.k + p) * s.n;
        for (size_t j = 0; j < sum.size(); ++j) sum[j] += x * static_cast<uint64_t>(y[j]);
      }
      for (size_t j = 0; j < sum.size(); ++j) {
        want[row * s.n + static_cast<int64_t>(j)] = static_cast<T>(sum[j]);
      }
    }
    SCOPED_TRACE(testing::Message() << dtype_of<T>() << ": " << s.m << "x" << s.k << "x" << s.n);
    for_isas([&](cpu::Isa) {
      EXPECT_TRUE(same_bits(want.data, product(a.crossed(), b).data));
      EXPECT_TRUE(same_bits(want.data, product(a, b.crossed()).data));
      EXPECT_TRUE(same_bits(want.data, product(a.spread(2), b.spread(3)).data));
      for (const Context& c : contexts()) {
        EXPECT_TRUE(same_bits(want.data, product(a, b, {.context = c}).data));
      }
      Array<T> columns = Array<T>({s.batch, s.m, s.n}, T(5)).crossed();
      const Array<T> bias({s.n}, T(3));
      multiply(columns, a, b, bias, {.alpha = 3, .beta = -2});
      for (int64_t i = 0; i < want.numel(); ++i) {
        const uint64_t sum = static_cast<uint64_t>(want[i]) * 3 - 7;
        ASSERT_EQ(columns[i], static_cast<T>(sum)) << i;
      }
    });
  }
}
TEST(MatmulKernel, IntegersWrapInEveryShapeAndLayout) {
  expect_wrapped<uint8_t>();
  expect_wrapped<int8_t>();
  expect_wrapped<int16_t>();
  expect_wrapped<uint16_t>();
  expect_wrapped<int32_t>();
  expect_wrapped<int64_t>();
  expect_wrapped<uint64_t>();
}

// A column times a row has the bits of a product that ends with zeros.
template <class T>
void expect_outer() {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{2, 2}, {65, 33}, {3, 1100}, {130, 515}}) {
    auto a = normal<T>({2, m, 1}, 1);
    const auto b = normal<T>({2, 1, n}, 2);
    a[0] = -T(0), a[1] = std::numeric_limits<T>::infinity();
    Array<T> longer({2, m, 2}), deeper({2, 2, n});
    for (int64_t i = 0; i < a.numel(); ++i) longer[2 * i] = a[i];
    for (int64_t i = 0; i < b.numel(); ++i) deeper[i / n * 2 * n + i % n] = b[i];
    for_isas([&](cpu::Isa) {
      const auto want = product(longer, deeper);
      EXPECT_TRUE(same_bits(want.data, product(a, b).data)) << m;
      EXPECT_TRUE(same_bits(want.data, product(a.spread(2), b.spread(3)).data)) << m;
      for (const Context& c : contexts()) {
        EXPECT_TRUE(same_bits(want.data, product(a, b, {.context = c}).data)) << m;
      }
    });
  }
}
TEST(MatmulKernel, OuterProductsHaveTheBitsOfOthers) {
  expect_outer<float>();
  expect_outer<double>();
}

TEST(MatmulKernel, HalfIsComputedInFloat32) {
  for (int32_t dtype : {LIBDL_DTYPE_FLOAT16, LIBDL_DTYPE_BFLOAT16}) {
    // 1.5 as bits; 40 products of 2.25 are 90, which both formats hold.
    const uint16_t x = dtype == LIBDL_DTYPE_FLOAT16 ? 0x3e00 : 0x3fc0;
    const uint16_t want = dtype == LIBDL_DTYPE_FLOAT16 ? 0x55a0 : 0x42b4;
    for (int64_t m : {1, 5, 40}) {
      Array<int64_t> shape({0});
      Array<uint8_t> none({0});
      std::vector<uint16_t> a(static_cast<size_t>(m * 40), x), b(40 * 70, x),
          out(static_cast<size_t>(m * 70));
      const int64_t sa[] = {1, m, 40}, sb[] = {1, 40, 70}, so[] = {1, m, 70};
      const int64_t ta[] = {m * 40, 40, 1}, tb[] = {2800, 70, 1}, to[] = {m * 70, 70, 1};
      MatmulArgs args{};
      args.a = {a.data(), sa, ta, 3, dtype};
      args.b = {b.data(), sb, tb, 3, dtype};
      args.out = {out.data(), so, to, 3, dtype};
      Context context = plain_context();
      cpu::matmul(context, args);
      EXPECT_EQ(out, std::vector<uint16_t>(out.size(), want));
    }
  }
}

TEST(MatmulKernel, EmptyInnerDimensionGivesZerosAndEmptyOuterNothing) {
  EXPECT_EQ(product(Array<float>({2, 3, 0}), Array<float>({2, 0, 4})).data,
            std::vector<float>(24, 0.0f));
  EXPECT_EQ(product(Array<double>({1, 3, 0}), Array<double>({1, 0, 1})).data,
            std::vector<double>(3, 0.0));
  EXPECT_EQ(product(Array<float>({0, 3, 2}), Array<float>({0, 2, 4})).numel(), 0);
  EXPECT_EQ(product(Array<double>({1, 0, 2}), Array<double>({1, 2, 4})).numel(), 0);
  using Complex = std::complex<double>;
  EXPECT_EQ(product(Array<Complex>({1, 0, 2}), Array<Complex>({1, 2, 1})).numel(), 0);
  EXPECT_EQ(product(Array<Complex>({2, 3, 0}), Array<Complex>({2, 0, 1})).data,
            std::vector<Complex>(6, Complex(0)));
}

template <class T>
void expect_scaled() {
  for (int64_t m : {1, 6, 70}) {
    for (int64_t n : {1, 37}) {
      const auto a = normal<T>({2, m, 20}, 1), b = normal<T>({2, 20, n}, 2);
      const auto bias = normal<T>({n}, 3), before = normal<T>({2, m, n}, 4);
      const auto plain = product(a, b);
      Array<T> out = before;
      multiply(out, a, b, bias, {.alpha = 0.5, .beta = -2});
      for (int64_t i = 0; i < out.numel(); ++i) {
        const double want = 0.5 * static_cast<double>(plain[i]) -
                            2 * static_cast<double>(before[i]) + static_cast<double>(bias[i % n]);
        ASSERT_NEAR(static_cast<double>(out[i]), want, 1e-5) << m << " " << n << " " << i;
      }
      multiply(out = before, a, b, Array<T>({0}), {.beta = 1});
      EXPECT_NEAR(static_cast<double>(out[0]), static_cast<double>(plain[0] + before[0]), 1e-5);
    }
  }
}
TEST(MatmulKernel, AlphaBetaAndBias) {
  for_isas([](cpu::Isa) {
    expect_scaled<float>();
    expect_scaled<double>();
  });
}

TEST(MatmulKernel, BatchStrideZeroRepeatsTheMatrix) {
  auto a = normal<float>({3, 10, 8}, 1);
  const auto one = normal<float>({1, 8, 40}, 2);
  auto b = one;
  b.sizes[0] = 3;
  b.strides[0] = 0;
  const auto all = product(a, b);
  EXPECT_TRUE(same_bits(all.data, product(a, b, {.packed = true}).data));
  a.sizes[0] = 1;
  const auto first = product(a, one);
  for (int64_t i = 0; i < first.numel(); ++i) EXPECT_EQ(all[i], first[i]);
}

TEST(MatmulKernel, NanAndInfinityTravelAsIeeeSays) {
  const float inf = std::numeric_limits<float>::infinity();
  for (int64_t m : {1, 4, 50}) {
    Array<float> a({1, m, 3}, 1), b({1, 3, 40}, 1);
    a[0] = 0, b[1] = inf, b[42] = inf;
    const auto y = product(a, b);
    EXPECT_TRUE(std::isnan(y[1]));  // 0 * inf
    EXPECT_EQ(y[2], inf);
    EXPECT_EQ(y[0], 2);
  }
}

// Kept panels, strides, threads and (between the two with fma) instruction sets.
TEST(MatmulKernel, BitsAreEqualForEveryWayToTheSameProduct) {
  for (int64_t m : {2, 8, 32, 100, 300}) {
    for (int64_t k : {5, 400}) {
      const auto a = normal<float>({2, m, k}, 1), b = normal<float>({2, k, 170}, 2);
      std::vector<float> with_fma;
      for_isas([&](cpu::Isa isa) {
        const auto want = product(a, b);
        EXPECT_TRUE(same_bits(want.data, product(a, b, {.packed = true}).data));
        EXPECT_TRUE(same_bits(want.data, product(a, b.crossed(), {.packed = true}).data));
        EXPECT_TRUE(same_bits(want.data, product(a.crossed(), b.crossed()).data));
        EXPECT_TRUE(same_bits(want.data, product(a.spread(2), b.spread(2)).data));
        for (const Context& c : contexts()) {
          EXPECT_TRUE(same_bits(want.data, product(a, b, {.context = c}).data));
        }
        if (isa == cpu::Isa::kAvx2) with_fma = want.data;
        if (isa == cpu::Isa::kAvx512) {
          EXPECT_TRUE(same_bits(with_fma, want.data)) << m;
        }
      });
    }
  }
}

// Complex products are real ones inside, so that the same holds for them.
TEST(MatmulKernel, ComplexBitsAreEqualForEveryWayToTheSameProduct) {
  using E = std::complex<float>;
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 70}, {70, 1}, {100, 170}}) {
    const auto a = normal<E>({2, m, 400}, 1), b = normal<E>({2, 400, n}, 2);
    std::vector<E> with_fma;
    for_isas([&](cpu::Isa isa) {
      const auto want = product(a, b);
      EXPECT_TRUE(same_bits(want.data, product(a.crossed(), b.crossed()).data)) << m;
      EXPECT_TRUE(same_bits(want.data, product(a.spread(2), b.spread(2)).data)) << m;
      for (const Context& c : contexts()) {
        EXPECT_TRUE(same_bits(want.data, product(a, b, {.context = c}).data)) << m;
      }
      if (m > 1 && n > 1) {
        EXPECT_TRUE(same_bits(want.data, product(a, b, {.packed = true}).data));
        EXPECT_TRUE(same_bits(want.data, product(a, b.crossed(), {.packed = true}).data));
        EXPECT_TRUE(same_bits(want.data, product(a, b.spread(3), {.packed = true}).data));
      }
      if (isa == cpu::Isa::kAvx2) with_fma = want.data;
      if (isa == cpu::Isa::kAvx512) {
        EXPECT_TRUE(same_bits(with_fma, want.data)) << m;
      }
    });
  }
}

template <class T>
void expect_dots(double eps) {
  using E = std::complex<T>;
  for (int64_t k : {1, 31, 33, 1030, 5000, 40'000}) {
    const auto a = normal<E>({2, 1, k}, 1), b = normal<E>({2, k, 1}, 2);
    const Expected<E> expected(a, b, eps);
    std::vector<E> with_fma;
    for_isas([&](cpu::Isa isa) {
      const auto want = product(a, b);
      expected.holds(want);
      EXPECT_TRUE(same_bits(want.data, product(a.spread(2), b.spread(3)).data)) << k;
      for (const Context& c : contexts()) {
        EXPECT_TRUE(same_bits(want.data, product(a, b, {.context = c}).data)) << k;
      }
      if (isa == cpu::Isa::kAvx2) with_fma = want.data;
      if (isa == cpu::Isa::kAvx512) {
        EXPECT_TRUE(same_bits(with_fma, want.data)) << k;
      }
    });
  }
}
TEST(MatmulKernel, ComplexDotsHaveTheSameBitsWithThreadsStridesAndBatches) {
  expect_dots<float>(3e-7);
  expect_dots<double>(6e-16);
  using E = std::complex<double>;
  Array<E> out({2, 1, 1}, E(1, 2));
  multiply(out, Array<E>({2, 1, 3}, E(0, 1)), Array<E>({2, 3, 1}, E(1, 1)), Array<E>({1}, E(5, 0)),
           {.alpha = 2, .beta = 3});
  EXPECT_EQ(out[1], E(2 * -3 + 3 + 5, 2 * 3 + 6));
  multiply(out, Array<E>({2, 1, 0}), Array<E>({2, 0, 1}), Array<E>({0}));
  EXPECT_EQ(out[0], E(0));
}

TEST(MatmulKernel, ComplexAlphaBetaAndBias) {
  using E = std::complex<double>;
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 30}, {30, 1}, {6, 37}}) {
    const auto a = normal<E>({2, m, 20}, 1), b = normal<E>({2, 20, n}, 2);
    const auto bias = normal<E>({n}, 3).spread(2), before = normal<E>({2, m, n}, 4);
    const auto plain = product(a, b);
    Array<E> by_rows = before, by_columns = before.crossed();
    multiply(by_rows, a, b, bias, {.alpha = 0.5, .beta = -2});
    multiply(by_columns, a, b, bias, {.alpha = 0.5, .beta = -2});
    for (int64_t i = 0; i < by_rows.numel(); ++i) {
      const E want = 0.5 * plain[i] - 2.0 * before[i] + bias[i % n];
      ASSERT_LE(std::abs(by_rows[i] - want), 1e-14)
          << m << " " << i;  // a few roundings at |y| < 30
      ASSERT_EQ(by_columns[i], by_rows[i]) << m << " " << i;
    }
  }
}

// Of 2^15 values on a row is cut into parts, of 2^20 on into longer ones.
TEST(MatmulKernel, LongRowsHaveTheSameBitsWithThreadsStridesAndBatches) {
  for (int64_t k : {(1 << 15) + 1, 100'000, (1 << 20) + 50'001}) {
    const auto a = normal<float>({2, 1, k}, 1), b = normal<float>({2, k, 1}, 2);
    const auto first = [](Array<float> both) {
      both.sizes[0] = 1;
      return both;
    };
    const Expected<float> expected(a, b, 6e-8);
    std::vector<float> with_fma;
    for_isas([&](cpu::Isa isa) {
      const auto want = product(a, b);
      expected.holds(want);
      EXPECT_TRUE(same_bits(want.data, product(a.spread(2), b.spread(3)).data)) << k;
      EXPECT_TRUE(same_bits({want[0]}, product(first(a), first(b)).data)) << k;
      for (const Context& c : contexts()) {
        EXPECT_TRUE(same_bits(want.data, product(a, b, {.context = c}).data)) << k;
        EXPECT_TRUE(same_bits({want[0]}, product(first(a), first(b), {.context = c}).data)) << k;
      }
      if (isa == cpu::Isa::kAvx2) with_fma = want.data;
      if (isa == cpu::Isa::kAvx512) {
        EXPECT_TRUE(same_bits(with_fma, want.data)) << k;
      }
    });
  }
}

TEST(MatmulKernel, GemvAndDoubleBitsDoNotDependOnThreadsOrStrides) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 900}, {900, 1}, {1, 1}}) {
    const auto a = normal<float>({2, m, 1000}, 1), b = normal<float>({2, 1000, n}, 2);
    std::vector<float> with_fma;
    for_isas([&](cpu::Isa isa) {
      const auto want = product(a, b);
      EXPECT_TRUE(same_bits(want.data, product(a.crossed(), b.crossed()).data)) << m;
      EXPECT_TRUE(same_bits(want.data, product(a.spread(2), b.spread(3)).data)) << m;
      for (const Context& c : contexts()) {
        EXPECT_TRUE(same_bits(want.data, product(a, b, {.context = c}).data));
      }
      if (isa == cpu::Isa::kAvx2) with_fma = want.data;
      if (isa == cpu::Isa::kAvx512) {
        EXPECT_TRUE(same_bits(with_fma, want.data)) << m;
      }
    });
  }
  const auto a = normal<double>({1, 300, 200}, 1), b = normal<double>({1, 200, 700}, 2);
  const auto want = product(a, b);
  EXPECT_TRUE(same_bits(want.data, product(a, b, {.packed = true}).data));
  EXPECT_TRUE(same_bits(want.data, product(a, b.crossed(), {.packed = true}).data));
  for (const Context& c : contexts()) {
    EXPECT_TRUE(same_bits(want.data, product(a, b, {.context = c}).data));
    EXPECT_TRUE(same_bits(want.data, product(a, b, {.packed = true, .context = c}).data));
  }
}

TEST(MatmulKernel, ScratchOfUncountableSizesIsRefused) {
  EXPECT_EQ(cpu::packed_size(LIBDL_DTYPE_FLOAT32, int64_t{1} << 40, int64_t{1} << 40), -1);
  const int64_t sizes[] = {1, int64_t{1} << 31, int64_t{1} << 31};
  const int64_t strides[] = {0, 0, 0};
  MatmulArgs args{};
  args.out = args.a = args.b = {nullptr, sizes, strides, 3, LIBDL_DTYPE_FLOAT32};
  Context context = plain_context();
  cpu::matmul(context, args);
  EXPECT_TRUE(context.stopped);
}

}  // namespace
}  // namespace libdl::kernels::test
