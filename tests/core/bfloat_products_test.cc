// SPDX-License-Identifier: Apache-2.0

// Products of bfloat16 on the processor's matrix unit, by its dot products in vectors, and by
// neither.
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "kernels/cpu/gemm/matmul.h"
#include "kernels/cpu/gemm/matrix_unit.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/load_store.h"
#include "tests/core/kernel_runs.h"

namespace libdl::kernels::test {
namespace {

using Bfloats = Array<uint16_t>;

float value(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }
uint16_t nearest(float x) {  // of finite numbers, half to even
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

Bfloats zeros(std::vector<int64_t> shape) {
  Bfloats a(std::move(shape));
  a.dtype = LIBDL_DTYPE_BFLOAT16;
  return a;
}
Bfloats bfloats(std::vector<int64_t> shape, unsigned seed) {
  const auto x = normal<float>(shape, seed);
  Bfloats a = zeros(std::move(shape));
  for (size_t i = 0; i < a.data.size(); ++i) a.data[i] = nearest(x.data[i]);
  return a;
}
Bfloats like(Bfloats moved) {
  moved.dtype = LIBDL_DTYPE_BFLOAT16;
  return moved;
}

struct Options {
  double alpha = 1, beta = 0;
  bool packed = false;
  Context context = plain_context();
};

void multiply(Bfloats& out, const Bfloats& a, const Bfloats& b, const Bfloats* bias, Options o) {
  MatmulArgs args{};
  args.out = out.view(), args.a = a.view(), args.b = b.view();
  if (bias) args.bias = bias->view();
  args.alpha = o.alpha, args.beta = o.beta;
  std::vector<char> panels;
  const auto aligned = [](std::vector<char>& v, int64_t bytes) {
    v.assign(static_cast<size_t>(bytes + 64), '\xff');  // NaN in every dtype
    return v.data() + (64 - reinterpret_cast<uintptr_t>(v.data()) % 64);
  };
  if (o.packed) {
    const int64_t one = cpu::packed_size(LIBDL_DTYPE_BFLOAT16, b.sizes[2], b.sizes[1]);
    void* to = aligned(panels, b.sizes[0] * one);
    cpu::pack_b(o.context, to, b.view());
    args.packed_b = to;
  }
  cpu::matmul(o.context, args);
}
std::vector<uint16_t> product(const Bfloats& a, const Bfloats& b, Options o = {}) {
  Bfloats out = zeros({a.sizes[0], a.sizes[1], b.sizes[2]});
  multiply(out, a, b, nullptr, o);
  return out.data;
}

// Operands are exact in float32: k roundings of sums there, and half a unit of the result, 2^-8.
void expect_close(uint16_t got, double want, double magnitude, int64_t roundings) {
  const double error = std::abs(static_cast<double>(value(got)) - want);
  ASSERT_LE(error, std::abs(want) * 0x1p-8 + static_cast<double>(roundings) * 0x1p-24 * magnitude);
}

void expect_product(const std::vector<uint16_t>& out, const Bfloats& a, const Bfloats& b) {
  const int64_t m = a.sizes[1], k = a.sizes[2], n = b.sizes[2];
  std::vector<double> sum(static_cast<size_t>(n)), size(sum);
  for (int64_t row = 0; row < a.sizes[0] * m; ++row) {
    std::fill(sum.begin(), sum.end(), 0.0), std::fill(size.begin(), size.end(), 0.0);
    for (int64_t p = 0; p < k; ++p) {
      const double x = static_cast<double>(value(a[row * k + p]));
      for (int64_t j = 0; j < n; ++j) {
        const double y = x * static_cast<double>(value(b[(row / m * k + p) * n + j]));
        sum[static_cast<size_t>(j)] += y, size[static_cast<size_t>(j)] += std::abs(y);
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      SCOPED_TRACE(testing::Message() << m << "x" << k << "x" << n << ": " << row << ", " << j);
      const size_t at = static_cast<size_t>(j);
      expect_close(out[static_cast<size_t>(row * n + j)], sum[at], size[at], k + 2);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// In every way that the processor has.
void each_way(const std::function<void()>& f) {
  const cpu::BfloatUnit before = cpu::bfloat_unit();
  for (const auto unit :
       {cpu::BfloatUnit::kNone, cpu::BfloatUnit::kDots, cpu::BfloatUnit::kTiles}) {
    if (!cpu::set_bfloat_unit(unit)) continue;
    SCOPED_TRACE(testing::Message() << "unit " << static_cast<int>(unit));
    f();
  }
  cpu::set_bfloat_unit(before);
}

// Every number of tiles, lines and values that are missing of the last of them, blocks of k.
TEST(BfloatProducts, EqualReferenceForEveryWayToThem) {
  struct Size {
    int64_t batch, m, n, k;
  };
  for (const Size& s : {Size{1, 16, 16, 16},
                        {1, 2, 2, 2048},
                        {2, 17, 33, 31},
                        {1, 32, 32, 32},
                        {3, 33, 15, 65},
                        {1, 48, 49, 63},
                        {1, 300, 40, 33},
                        {1, 40, 600, 64},
                        {1, 31, 47, 769},
                        {2, 70, 65, 1537},
                        {1, 5, 70, 2304},
                        {1, 64, 64, 1}}) {
    const Bfloats a = bfloats({s.batch, s.m, s.k}, 1), b = bfloats({s.batch, s.k, s.n}, 2);
    each_way([&] {
      const auto want = product(a, b);
      expect_product(want, a, b);
      const Bfloats far = like(a.spread(3));
      EXPECT_TRUE(same_bits(want, product(far, like(b.spread(2)))));
      EXPECT_TRUE(same_bits(want, product(like(a.crossed()), b)));
      EXPECT_TRUE(same_bits(want, product(a, like(b.crossed()))));
      EXPECT_TRUE(same_bits(want, product(a, b, {.packed = true})));
      EXPECT_TRUE(same_bits(want, product(a, like(b.crossed()), {.packed = true})));
      for (const Context& c : contexts()) {
        EXPECT_TRUE(same_bits(want, product(a, b, {.context = c})));
        EXPECT_TRUE(same_bits(want, product(like(a.crossed()), b, {.packed = true, .context = c})));
      }
    });
  }
}

// Rows 4 kB apart are copied for more columns than 64; a row's bits are its own.
TEST(BfloatProducts, RowsHaveTheSameBitsAmongOthersAndAlone) {
  const Bfloats a = bfloats({1, 50, 2048}, 1), b = bfloats({1, 2048, 100}, 2);
  each_way([&] {
    const auto all = product(a, b);
    expect_product(all, a, b);
    Bfloats part = a, few = b;
    part.sizes[1] = 3, part.offset = 40 * 2048;
    few.sizes[2] = 20;
    const auto rows = product(part, b), corner = product(part, few);
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 100; ++j) {
        const uint16_t want = all[static_cast<size_t>((40 + i) * 100 + j)];
        ASSERT_EQ(rows[static_cast<size_t>(i * 100 + j)], want);
        if (j < 20) {
          ASSERT_EQ(corner[static_cast<size_t>(i * 20 + j)], want);
        }
      }
    }
  });
}

// Products with one row or column widen what they read: the bits are those of float32, rounded.
TEST(SixteenBitVectors, AreFloatProductsRounded) {
  struct Size {
    int64_t m, n, k;
  };
  for (const int32_t dtype : {LIBDL_DTYPE_BFLOAT16, LIBDL_DTYPE_FLOAT16}) {
    for (const Size& s :
         {Size{1, 70, 5}, {1, 133, 1030}, {7, 1, 33}, {9, 1, 4100}, {1, 1, 777}, {1, 1100, 30}}) {
      auto a = bfloats({2, s.m, s.k}, 1), b = bfloats({2, s.k, s.n}, 2);
      // Any bits are numbers; these are an infinity and subnormal ones in float16.
      a.data[0] = dtype == LIBDL_DTYPE_FLOAT16 ? 0x7c00 : 0x7f80;
      for (size_t i = 1; i < a.data.size(); i += 7) a.data[i] = 0x0101;
      a.dtype = b.dtype = dtype;
      Array<float> x({2, s.m, s.k}), y({2, s.k, s.n}), sum({2, s.m, s.n});
      cpu::load_tile(x.data.data(), a.data.data(), dtype, 1, x.numel());
      cpu::load_tile(y.data.data(), b.data.data(), dtype, 1, y.numel());
      MatmulArgs args{};
      args.out = sum.view(), args.a = x.view(), args.b = y.view();
      for_isas([&](cpu::Isa) {
        for (Context& c : contexts()) {
          cpu::matmul(c, args);
          std::vector<uint16_t> want(sum.data.size());
          cpu::store_tile(want.data(), dtype, 1, sum.data.data(), sum.numel());
          const auto moved = [&](Bfloats v) {
            v.dtype = dtype;
            return v;
          };
          for (const auto& [u, v] : {std::pair{a, b},
                                     {moved(a.crossed()), moved(b.crossed())},
                                     {moved(a.spread(2)), moved(b.spread(3))}}) {
            Bfloats out = moved(Bfloats({2, s.m, s.n}));
            multiply(out, u, v, nullptr, {.context = c});
            EXPECT_TRUE(same_bits(out.data, want)) << dtype << ": " << s.m << " " << s.n;
          }
        }
      });
    }
  }
}

TEST(BfloatProducts, AlphaBetaAndBias) {
  for (int64_t m : {16, 33}) {
    const Bfloats a = bfloats({2, m, 90}, 1), b = bfloats({2, 90, 37}, 2);
    const Bfloats before = bfloats({2, m, 37}, 4), bias = like(bfloats({37}, 3).spread(2));
    each_way([&] {
      const auto plain = product(a, b);
      Bfloats rows = before, columns = like(before.crossed());
      multiply(rows, a, b, &bias, {.alpha = 0.5, .beta = -2});
      multiply(columns, a, b, &bias, {.alpha = 0.5, .beta = -2});
      for (int64_t i = 0; i < rows.numel(); ++i) {
        const double sum = 0.5 * static_cast<double>(value(plain[static_cast<size_t>(i)]));
        const double other = static_cast<double>(value(before[i]));
        const double added = static_cast<double>(value(bias[i % 37]));
        // plain is rounded to 2^-8 of itself.
        ASSERT_NEAR(static_cast<double>(value(rows[i])), sum - 2 * other + added,
                    (2 * std::abs(sum) + 2 * std::abs(other) + std::abs(added)) * 0x1p-8)
            << i;
        ASSERT_EQ(rows[i], columns[i]) << i;
      }
    });
  }
}

TEST(BfloatProducts, NanAndInfinityStayInTheirRowAndColumn) {
  const uint16_t inf = 0x7f80, nan = 0x7fc0;
  for (const auto& size : {std::array<int64_t, 3>{17, 35, 33}, {40, 70, 65}, {33, 33, 769}}) {
    const int64_t m = size[0], n = size[1], k = size[2];
    Bfloats a = bfloats({1, m, k}, 1), b = bfloats({1, k, n}, 2);
    each_way([&] {
      const auto clean = product(a, b);
      Bfloats x = a, y = b;
      x[(m - 1) * k + k - 1] = nan;
      y[(k - 1) * n + 3] = inf;
      y[(k - 1) * n + 4] = nan;
      const auto found = product(x, y), packed = product(x, y, {.packed = true});
      EXPECT_TRUE(same_bits(found, packed));
      for (int64_t i = 0; i < m * n; ++i) {
        const float z = value(found[static_cast<size_t>(i)]);
        if (i / n == m - 1 || i % n == 4) {
          ASSERT_TRUE(std::isnan(z)) << i;
        } else if (i % n == 3) {
          ASSERT_TRUE(std::isinf(z)) << i;
        } else {
          ASSERT_EQ(found[static_cast<size_t>(i)], clean[static_cast<size_t>(i)]) << i;
        }
      }
    });
  }
}

TEST(BfloatProducts, NothingToSumGivesZerosAndEmptyOnesNothing) {
  each_way([&] {
    EXPECT_EQ(product(zeros({1, 40, 0}), zeros({1, 0, 70})), std::vector<uint16_t>(2800, 0));
    EXPECT_TRUE(product(zeros({0, 40, 40}), zeros({0, 40, 40})).empty());
    EXPECT_TRUE(product(zeros({2, 0, 40}), zeros({2, 40, 40})).empty());
    EXPECT_TRUE(product(zeros({2, 40, 40}), zeros({2, 40, 0})).empty());
  });
}

TEST(BfloatProducts, BatchStrideZeroRepeatsTheMatrix) {
  const Bfloats a = bfloats({3, 20, 40}, 1), one = bfloats({1, 40, 50}, 2);
  Bfloats b = one;
  b.sizes[0] = 3, b.strides[0] = 0;
  each_way([&] {
    const auto all = product(a, b);
    EXPECT_TRUE(same_bits(all, product(a, b, {.packed = true})));
    expect_product(all, a, b);
  });
}

// Rows that the processor has a way of its own for, beside those that it widens.
TEST(BfloatProducts, WidenedPanelsServeProductsOfFloat32) {
  const auto a = normal<float>({1, 20, 70}, 1);
  const Bfloats b = bfloats({1, 70, 50}, 2);
  const auto widened = [&](bool packed) {
    Context context = plain_context();
    Array<float> out({1, 20, 50});
    MatmulArgs args{};
    args.out = out.view(), args.a = a.view(), args.b = b.view();
    std::vector<float> panels;
    if (packed) {
      const int64_t bytes = cpu::packed_size(LIBDL_DTYPE_BFLOAT16, 50, 70, true);
      panels.assign(static_cast<size_t>(bytes / 4 + 16), NAN);
      char* const at = reinterpret_cast<char*>(panels.data());
      args.packed_b = at + (64 - reinterpret_cast<uintptr_t>(at) % 64) % 64;
      cpu::pack_b(context, const_cast<void*>(args.packed_b), b.view(), true);
    }
    cpu::matmul(context, args);
    return out.data;
  };
  each_way([&] { EXPECT_EQ(widened(true), widened(false)); });
}

TEST(BfloatProducts, NamedInstructionSetsLeaveTheUnitsAlone) {
  const cpu::BfloatUnit before = cpu::bfloat_unit();
  const char* const given = std::getenv("LIBDL_CPU");
  const std::string kept = given ? given : "";
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    setenv("LIBDL_CPU", name, 1);
    EXPECT_EQ(cpu::find_bfloat_unit(), cpu::BfloatUnit::kNone) << name;
  }
  given ? setenv("LIBDL_CPU", kept.c_str(), 1) : unsetenv("LIBDL_CPU");
  cpu::set_bfloat_unit(before);
}

TEST(BfloatProducts, PanelsOfUncountableSizesAreRefused) {
  each_way([] {
    constexpr int64_t kLong = int64_t{1} << 40;
    EXPECT_EQ(cpu::packed_size(LIBDL_DTYPE_BFLOAT16, kLong, kLong), -1);
    const int64_t sizes[] = {1, int64_t{1} << 31, int64_t{1} << 31}, strides[] = {0, 0, 0};
    MatmulArgs args{};
    args.out = args.a = args.b = {nullptr, sizes, strides, 3, LIBDL_DTYPE_BFLOAT16};
    Context context = plain_context();
    cpu::matmul(context, args);
    EXPECT_TRUE(context.stopped);
  });
}

}  // namespace
}  // namespace libdl::kernels::test
