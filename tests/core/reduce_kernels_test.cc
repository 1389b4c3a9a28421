// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "tests/core/kernel_runs.h"

namespace libdl::kernels::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// in's last `reduced` dimensions, reduced.
template <class To, class From>
Array<To> reduce_to(Reduction op, const Array<From>& in, int reduced, double number = 0,
                    Context context = plain_context(), Array<int64_t>* indices = nullptr) {
  Array<To> out(std::vector<int64_t>(in.sizes.begin(), in.sizes.end() - reduced), To{});
  ReduceArgs args{};
  args.op = static_cast<int32_t>(op);
  args.reduced = reduced;
  args.out = out.view();
  args.in = in.view();
  args.number = number;
  if (indices != nullptr) {
    *indices = Array<int64_t>(out.sizes);
    args.indices = indices->view();
  }
  cpu::reduce(context, args);
  return out;
}

double reference(Reduction op, const std::vector<double>& x, double p) {
  const long double n = static_cast<double>(x.size());
  long double sum = 0, product = 1, squares = 0;
  double top = -kInf, low = kInf;
  for (double v : x) {
    sum += v, product *= v;
    top = v > top ? v : top, low = v < low ? v : low;
  }
  for (double v : x) squares += (v - sum / n) * (v - sum / n);
  long double norm = 0, exps = 0;
  double largest = 0, smallest = kInf;
  for (double v : x) {
    norm += p == 0 ? v != 0
                   : std::pow(static_cast<long double>(std::abs(v)), static_cast<long double>(p));
    largest = std::max(largest, std::abs(v)), smallest = std::min(smallest, std::abs(v));
    exps += std::exp(static_cast<long double>(v) - top);
  }
  switch (op) {
    case Reduction::kSum: return static_cast<double>(sum);
    case Reduction::kProd: return static_cast<double>(product);
    case Reduction::kMax: return top;
    case Reduction::kMin: return low;
    case Reduction::kVar: return static_cast<double>(squares / (n - static_cast<long double>(p)));
    case Reduction::kLogsumexp: return static_cast<double>(top + std::log(exps));
    case Reduction::kNorm:
      if (p == kInf || p == -kInf) return p > 0 ? largest : smallest;
      return static_cast<double>(p == 0 ? norm
                                        : std::pow(norm, 1.0L / static_cast<long double>(p)));
    default: return kNan;
  }
}

template <class T>
void expect_rows_near(Reduction op, double number, const Array<T>& in, const Array<T>& out,
                      double tolerance) {
  const int64_t n = in.sizes.back();
  for (int64_t r = 0; r < out.numel(); ++r) {
    std::vector<double> row;
    double scale = 1;
    for (int64_t i = 0; i < n; ++i) {
      row.push_back(static_cast<double>(in[r * n + i]));
      scale += op == Reduction::kSum ? std::abs(row.back()) : 0;
    }
    const double want = reference(op, row, number);
    if (op != Reduction::kSum) scale = std::abs(want) + 1e-6;
    ASSERT_NEAR(static_cast<double>(out[r]), want, tolerance * scale)
        << "op " << static_cast<int>(op) << " number " << number << " n " << n << " row " << r;
  }
}

struct Case {
  Reduction op;
  double number;
};
const Case kCases[] = {
    {Reduction::kSum, 0},    {Reduction::kProd, 0},      {Reduction::kMax, 0},
    {Reduction::kMin, 0},    {Reduction::kVar, 1},       {Reduction::kVar, 0},
    {Reduction::kNorm, 0},   {Reduction::kNorm, 1},      {Reduction::kNorm, 2},
    {Reduction::kNorm, 3},   {Reduction::kNorm, kInf},   {Reduction::kNorm, -kInf},
    {Reduction::kNorm, 0.5}, {Reduction::kLogsumexp, 0},
};

TEST(ReduceKernel, EqualsDoubleReferenceForOddSizes) {
  for_isas([](cpu::Isa) {
    for (const Case& c : kCases) {
      for (int64_t n : {2, 7, 65, 129, 1000, 5000}) {
        const double scale = c.op == Reduction::kProd ? 1e-1 : 1;
        Array<float> x = normal<float>({5, n}, 3, scale);
        Array<double> y = normal<double>({5, n}, 3, scale);
        if (c.op == Reduction::kProd) {
          for (float& v : x.data) v += 1;
          for (double& v : y.data) v += 1;
        }
        // Sums within 2 log2(n) eps sum|x|; the others add roundings of their own formula, and a
        // product one rounding a factor.
        const double steps = 2 * std::log2(static_cast<double>(n)) + 6 +
                             (c.op == Reduction::kProd ? static_cast<double>(n) : 0);
        expect_rows_near(c.op, c.number, x, reduce_to<float>(c.op, x, 1, c.number), steps * 6e-8);
        expect_rows_near(c.op, c.number, y, reduce_to<double>(c.op, y, 1, c.number),
                         steps * 1.2e-16);
      }
    }
  });
}

TEST(ReduceKernel, SumStaysWithinItsBoundForLongRows) {
  const int64_t n = 3000001;
  Array<float> x({n});
  for (int64_t i = 0; i < n; ++i) x[i] = 0.1f;
  const double want = static_cast<double>(0.1f) * static_cast<double>(n);
  const double bound = 2 * std::log2(static_cast<double>(n)) * 6e-8 * want;
  EXPECT_NEAR(static_cast<double>(reduce_to<float>(Reduction::kSum, x, 1)[0]), want, bound);
}

// Every layout of the same numbers gives the same bits: [7, n] contiguous, spread, and with the
// reduced dimension outside.
TEST(ReduceKernel, BitsDoNotDependOnStrides) {
  for_isas([](cpu::Isa) {
    for (const Case& c : kCases) {
      for (int64_t n : {1, 3, 20, 65, 1500}) {
        for (int64_t rows : {1, 7, 130}) {
          const Array<float> x = normal<float>({rows, n}, 5);
          const auto want = reduce_to<float>(c.op, x, 1, c.number);
          EXPECT_TRUE(same_bits(want.data, reduce_to<float>(c.op, x.spread(3), 1, c.number).data));
          EXPECT_TRUE(same_bits(want.data, reduce_to<float>(c.op, x.crossed(), 1, c.number).data))
              << "op " << static_cast<int>(c.op) << " number " << c.number << " n " << n << " rows "
              << rows;
        }
      }
    }
  });
}

// The order of order-inl.h, one value after the other.
float extreme_in_order(const std::vector<float>& x, bool max) {
  const auto join = [=](float a, float b) {
    const bool better = max ? b > a : b < a;
    return better || (std::isnan(b) && !std::isnan(a)) ? b : a;
  };
  constexpr size_t kLanes = 16, kBlock = 1024;
  const float none = static_cast<float>(max ? -kInf : kInf);
  std::vector<float> blocks;
  for (size_t b = 0; b < x.size(); b += kBlock) {
    std::vector<float> lane(std::min(kLanes, x.size() - b), none);
    for (size_t i = b; i < std::min(b + kBlock, x.size()); ++i) {
      lane[(i - b) % kLanes] = join(lane[(i - b) % kLanes], x[i]);
    }
    for (size_t half = kLanes / 2; half > 0; half /= 2) {
      for (size_t l = 0; l + half < lane.size(); ++l) lane[l] = join(lane[l], lane[l + half]);
      lane.resize(std::min(lane.size(), half));
    }
    blocks.push_back(lane[0]);
  }
  // Equal neighbours of a level are joined; what is left over, from the right.
  std::function<float(size_t, size_t)> tree = [&](size_t first, size_t count) {
    if (count == 1) return blocks[first];
    const size_t left = std::bit_ceil(count) / 2;
    return join(tree(first, left), tree(first + left, count - left));
  };
  return tree(0, blocks.size());
}

// Zeros of both signs are equal and NaNs have payloads, so that the bits tell which value won.
TEST(ReduceKernel, ExtremaTakeTheFirstNanAndTheFirstOfEqualsInOrder) {
  for (int64_t n : {2, 9, 20, 65, 129, 1500, 5000}) {
    for (int nans : {0, 1, 3}) {
      Array<float> x({40, n});
      std::mt19937 random(static_cast<unsigned>(n + nans));
      for (int64_t i = 0; i < x.numel(); ++i) x[i] = random() % 2 == 0 ? 0.0f : -0.0f;
      for (int64_t r = 0; r < 40; r += 3) {
        for (int k = 0; k < nans; ++k) x[r * n + random() % n] = std::nanf(k == 0 ? "1" : "2");
      }
      for (Reduction op : {Reduction::kMax, Reduction::kMin}) {
        std::vector<float> want;
        for (int64_t r = 0; r < 40; ++r) {
          const float* row = x.data.data() + r * n;
          want.push_back(extreme_in_order({row, row + n}, op == Reduction::kMax));
        }
        for_isas([&](cpu::Isa) {
          for (const auto& in : {x, x.crossed(), x.spread(2)}) {
            EXPECT_TRUE(same_bits(want, reduce_to<float>(op, in, 1).data))
                << "n " << n << " NaNs " << nans << " op " << static_cast<int>(op);
          }
        });
      }
    }
  }
}

// Nine long rows are computed one by one; as columns they are one unit, split among threads.
TEST(ReduceKernel, BitsDoNotDependOnWhatIsSplit) {
  const Array<float> x = normal<float>({9, 40000}, 5);
  for (const Case& c : kCases) {
    EXPECT_TRUE(same_bits(reduce_to<float>(c.op, x, 1, c.number).data,
                          reduce_to<float>(c.op, x.crossed(), 1, c.number).data))
        << "op " << static_cast<int>(c.op);
  }
}

TEST(ReduceKernel, BitsDoNotDependOnThreads) {
  for_isas([](cpu::Isa) {
    for (const Case& c : kCases) {
      for (auto shape : {std::vector<int64_t>{300001}, {40, 3000}, {3000, 40}}) {
        Array<float> x = normal<float>(shape, 5);
        if (shape.size() == 2 && shape[0] == 3000) x.swap_dims(0, 1);
        const auto all = contexts();
        const auto want = reduce_to<float>(c.op, x, 1, c.number, all[0]);
        for (size_t i = 1; i < all.size(); ++i) {
          EXPECT_TRUE(same_bits(want.data, reduce_to<float>(c.op, x, 1, c.number, all[i]).data))
              << "op " << static_cast<int>(c.op) << " context " << i;
        }
      }
    }
  });
}

TEST(ReduceKernel, BitsOfSumsAreEqualOnAllIsas) {
  for (int64_t n : {7, 1000, 70001}) {
    const Array<float> x = normal<float>({9, n}, 8);
    const Array<double> y = normal<double>({n, 9}, 8).crossed();
    std::vector<float> first;
    std::vector<double> first_double;
    for_isas([&](cpu::Isa) {
      const auto sum = reduce_to<float>(Reduction::kSum, x, 1).data;
      const auto sum_double = reduce_to<double>(Reduction::kSum, y, 1).data;
      if (first.empty()) first = sum, first_double = sum_double;
      EXPECT_TRUE(same_bits(first, sum));
      EXPECT_TRUE(same_bits(first_double, sum_double));
    });
  }
}

TEST(ReduceKernel, ReducesSeveralDimensionsOfAPermutedView) {
  Array<double> x = normal<double>({3, 4, 5, 6}, 2);
  x.swap_dims(0, 2);  // [5, 4, 3, 6], reduce the last two
  const auto sum = reduce_to<double>(Reduction::kSum, x, 2);
  for (int64_t r = 0; r < 20; ++r) {
    double want = 0;
    for (int64_t i = 0; i < 18; ++i) want += x[r * 18 + i];
    EXPECT_NEAR(sum[r], want, 1e-14);
  }
  double all = 0;
  for (double v : x.data) all += v;
  EXPECT_NEAR(reduce_to<double>(Reduction::kSum, x, 4)[0], all, 1e-13);
}

TEST(ReduceKernel, EmptyGivesTheIdentity) {
  const Array<float> none({3, 0});
  EXPECT_EQ(reduce_to<float>(Reduction::kSum, none, 1)[2], 0);
  EXPECT_EQ(reduce_to<float>(Reduction::kProd, none, 1)[2], 1);
  EXPECT_EQ(reduce_to<float>(Reduction::kLogsumexp, none, 1)[0], -kInf);
  EXPECT_TRUE(std::isnan(reduce_to<float>(Reduction::kVar, none, 1)[0]));
  EXPECT_EQ(reduce_to<Truth>(Reduction::kAll, Array<float>({0}), 1)[0], Truth::kTrue);
  EXPECT_EQ(reduce_to<Truth>(Reduction::kAny, Array<float>({0}), 1)[0], Truth::kFalse);
  EXPECT_EQ(reduce_to<float>(Reduction::kSum, Array<float>({0, 4}), 1).numel(), 0);
}

TEST(ReduceKernel, NanWinsAndTheFirstExtremumIsFound) {
  for_isas([](cpu::Isa) {
    for (int64_t n : {5, 40, 1030, 300000}) {
      for (int64_t at : {int64_t{0}, int64_t{2}, n - 1}) {
        for (bool crossed : {false, true}) {
          Array<float> x = normal<float>({6, n}, 4);
          for (int64_t r = 0; r < 6; ++r) x[r * n + at] = static_cast<float>(r < 3 ? 99 : kNan);
          x[n - 1] = 99;  // a second extremum, later
          x[4 * n + n - 1] = static_cast<float>(kNan);
          if (crossed) x = x.crossed();
          Array<int64_t> where({0});
          const auto top = reduce_to<float>(Reduction::kMaxIndex, x, 1, 0, contexts()[2], &where);
          const auto plain = reduce_to<float>(Reduction::kMax, x, 1, 0, contexts()[2]);
          const auto index = reduce_to<int64_t>(Reduction::kArgmax, x, 1);
          for (int64_t r = 0; r < 6; ++r) {
            EXPECT_EQ(where[r], at) << "n " << n << " row " << r;
            EXPECT_EQ(index[r], at);
            EXPECT_TRUE(r < 3 ? top[r] == 99 && plain[r] == 99
                              : std::isnan(top[r]) && std::isnan(plain[r]));
          }
          const auto low = reduce_to<int64_t>(Reduction::kArgmin, x, 1);
          EXPECT_EQ(low[3], at);
          for (int64_t i = 0; i < n; ++i) EXPECT_LE(x[low[0]], x[i]);
        }
      }
    }
  });
}

TEST(ReduceKernel, IntegersWrapAndBoolsCount) {
  Array<int8_t> small({3, 200}, 100);
  EXPECT_EQ(reduce_to<int64_t>(Reduction::kSum, small, 1)[1], 20000);
  Array<int64_t> big({2, 4}, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(reduce_to<int64_t>(Reduction::kSum, big, 1)[0], -4);
  EXPECT_EQ(reduce_to<int64_t>(Reduction::kMax, big, 1)[0], std::numeric_limits<int64_t>::max());
  Array<Truth> flags({1000}, Truth::kTrue);
  flags[7] = Truth::kFalse;
  EXPECT_EQ(reduce_to<int64_t>(Reduction::kSum, flags, 1)[0], 999);
  EXPECT_EQ(reduce_to<uint64_t>(Reduction::kMin, Array<uint64_t>({3}, ~uint64_t{0}), 1)[0],
            ~uint64_t{0});
}

template <class T>
void expect_extrema_of_narrow() {
  for (int64_t n : {1, 15, 16, 63, 64, 65, 200, 5000, 300000}) {
    Array<T> x({2, n}, T{3});
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      Array<T> y = x;
      y[at] = std::numeric_limits<T>::max();
      y[n + at] = std::numeric_limits<T>::min();
      EXPECT_EQ(reduce_to<T>(Reduction::kMax, y, 1)[0], std::numeric_limits<T>::max()) << n;
      EXPECT_EQ(reduce_to<T>(Reduction::kMin, y, 1)[1], std::numeric_limits<T>::min()) << n;
      EXPECT_EQ(reduce_to<T>(Reduction::kMax, y, 1)[1], n == 1 ? y[n] : T{3}) << n;
    }
  }
}
TEST(ReduceKernel, ExtremaOfNarrowIntegersAreFoundEverywhere) {
  for_isas([](cpu::Isa) {
    expect_extrema_of_narrow<uint8_t>();
    expect_extrema_of_narrow<int8_t>();
    expect_extrema_of_narrow<int16_t>();
    expect_extrema_of_narrow<int32_t>();
  });
}

TEST(ReduceKernel, AllAndAnyOfAnyDtype) {
  Array<double> x({50, 70}, 1.0);
  x[3 * 70 + 69] = 0;
  for (bool crossed : {false, true}) {
    const auto y = crossed ? x.crossed() : x;
    const auto all = reduce_to<Truth>(Reduction::kAll, y, 1);
    const auto any = reduce_to<Truth>(Reduction::kAny, y, 1);
    const auto none = reduce_to<Truth>(Reduction::kAny, Array<double>({50, 70}), 1);
    for (int64_t r = 0; r < 50; ++r) EXPECT_EQ(all[r] == Truth::kTrue, r != 3);
    EXPECT_EQ(any[3], Truth::kTrue);
    EXPECT_EQ(none[3], Truth::kFalse);
  }
}

TEST(ReduceKernel, ComplexSumsProductsAndNorms) {
  const auto x = normal<std::complex<double>>({4, 300}, 6);
  const auto sum = reduce_to<std::complex<double>>(Reduction::kSum, x, 1);
  const auto norm = reduce_to<double>(Reduction::kNorm, x, 1, 2);
  const auto cubic = reduce_to<double>(Reduction::kNorm, x, 1, 3);
  for (int64_t r = 0; r < 4; ++r) {
    std::complex<double> want = 0;
    double squares = 0, cubes = 0;
    for (int64_t i = 0; i < 300; ++i) {
      want += x[r * 300 + i];
      squares += std::norm(x[r * 300 + i]);
      cubes += std::pow(std::abs(x[r * 300 + i]), 3);
    }
    EXPECT_LT(std::abs(sum[r] - want), 1e-12);
    EXPECT_NEAR(norm[r], std::sqrt(squares), 1e-12 * norm[r]);
    EXPECT_NEAR(cubic[r], std::cbrt(cubes), 1e-12 * cubic[r]);
  }
  const auto z = normal<std::complex<double>>({3, 4}, 6);
  EXPECT_LT(std::abs(reduce_to<std::complex<double>>(Reduction::kProd, z, 1)[1] -
                     z[4] * z[5] * z[6] * z[7]),
            1e-13);
}

TEST(ReduceKernel, LogsumexpOfInfinities) {
  Array<float> x({3, 20}, static_cast<float>(-kInf));
  x[20] = static_cast<float>(kInf);
  for (int64_t i = 40; i < 60; ++i) x[i] = 1000;
  const auto y = reduce_to<float>(Reduction::kLogsumexp, x, 1);
  EXPECT_EQ(y[0], -kInf);
  EXPECT_EQ(y[1], kInf);
  EXPECT_NEAR(y[2], 1000 + std::log(20.0), 1e-4);
}

TEST(ScanKernel, EqualsReferenceForLongAndShortRows) {
  for (int64_t n : {1, 7, 65, 1000, 100000}) {
    for (int64_t rows : {1, 9}) {
      for (bool crossed : {false, true}) {
        auto x = normal<float>({rows, n}, 11);
        if (crossed) x = x.crossed();
        for (Scan op : {Scan::kSum, Scan::kProd, Scan::kMax, Scan::kMin, Scan::kLogsumexp}) {
          std::vector<float> first;
          for (const Context& c : contexts()) {
            Array<float> out(x.sizes);
            Array<int64_t> index(x.sizes);
            ScanArgs args{};
            args.op = static_cast<int32_t>(op);
            args.in = x.view();
            args.out = out.view();
            if (op == Scan::kMax || op == Scan::kMin) args.indices = index.view();
            Context context = c;
            cpu::scan(context, args);
            if (first.empty()) first = out.data;
            ASSERT_TRUE(same_bits(first, out.data));
            for (int64_t r = 0; r < rows; ++r) {
              double sum = 0, product = 1, top = -kInf, low = kInf, magnitude = 1, lse = -kInf;
              for (int64_t i = 0; i < n; ++i) {
                const double v = static_cast<double>(x[r * n + i]);
                sum += v, product *= v, magnitude += std::abs(v);
                top = std::max(top, v), low = std::min(low, v);
                lse = std::max(lse, v) + std::log1p(std::exp(-std::abs(lse - v)));
                const double got = static_cast<double>(out[r * n + i]);
                if (op == Scan::kSum) {
                  ASSERT_NEAR(got, sum, 2e-7 * std::abs(sum) + 1e-12 * magnitude);
                }
                if (op == Scan::kProd) {
                  ASSERT_NEAR(got, product, 2e-7 * std::abs(product) + 1e-44);
                }
                if (op == Scan::kLogsumexp) {
                  ASSERT_NEAR(got, lse, 2e-7 * std::abs(lse) + 1e-7);
                }
                if (op == Scan::kMax) {
                  ASSERT_EQ(got, top);
                }
                if (op == Scan::kMin) {
                  ASSERT_EQ(got, low);
                }
                if (op == Scan::kMax) {
                  ASSERT_EQ(x[r * n + index[r * n + i]], out[r * n + i]);
                }
              }
            }
          }
        }
      }
    }
  }
}

TEST(ScanKernel, BitsDoNotDependOnStrides) {
  for (int64_t n : {1, 3, 8, 10, 31, 128, 129, 700}) {  // short rows are turned to columns
    for (Scan op : {Scan::kSum, Scan::kProd, Scan::kMax}) {
      const auto x = normal<double>({70, n}, 11);
      std::vector<Array<double>> outs;
      for (const auto& in : {x, x.crossed(), x.spread(2)}) {
        outs.emplace_back(x.sizes);
        ScanArgs args{static_cast<int32_t>(op), outs.back().view(), {}, in.view()};
        Context context = plain_context();
        cpu::scan(context, args);
      }
      EXPECT_TRUE(same_bits(outs[0].data, outs[1].data)) << n;
      EXPECT_TRUE(same_bits(outs[0].data, outs[2].data)) << n;
    }
  }
}

TEST(ScanKernel, BitsOfRunningSumsAreEqualOnAllIsas) {
  for (int64_t n : {5, 8, 1003, 70001}) {
    const auto x = normal<double>({2, n}, 3);
    std::vector<double> first;
    for (int isa = 0; isa < cpu::kIsas; ++isa) {
      if (!cpu::set_isa(static_cast<cpu::Isa>(isa))) continue;
      Array<double> out(x.sizes);
      ScanArgs args{static_cast<int32_t>(Scan::kSum), out.view(), {}, x.view()};
      Context context = plain_context();
      cpu::scan(context, args);
      if (first.empty()) first = out.data;
      EXPECT_TRUE(same_bits(first, out.data)) << n << " on " << isa;
    }
    cpu::set_isa(cpu::best_isa());
  }
}

TEST(ScanKernel, OfEqualExtremaTheLastHasTheIndexAndNanStays) {
  Array<float> x({6});
  x.data = {1, 3, 3, static_cast<float>(kNan), 5, static_cast<float>(kNan)};
  Array<float> out({6});
  Array<int64_t> index({6});
  ScanArgs args{static_cast<int32_t>(Scan::kMax), out.view(), index.view(), x.view()};
  Context context = plain_context();
  cpu::scan(context, args);
  EXPECT_EQ(index.data, (std::vector<int64_t>{0, 1, 2, 3, 3, 5}));
  EXPECT_EQ(out[2], 3);
  EXPECT_TRUE(std::isnan(out[4]));
}

// x and the values and places of its running extrema, found one after another.
template <class T>
void extrema_one_by_one(const Array<T>& x, bool largest, std::vector<T>& values,
                        std::vector<int64_t>& places) {
  const int64_t n = x.sizes[1];
  for (int64_t r = 0; r < x.sizes[0]; ++r) {
    T best{};
    int64_t place = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T next = x[r * n + i];
      const bool as_good = largest ? next >= best : next <= best;
      if (i == 0 || next != next || (best == best && as_good)) best = next, place = i;
      values.push_back(best);
      places.push_back(place);
    }
  }
}

template <class T>
void compare_extrema(std::vector<int64_t> sizes, bool with_nan) {
  Array<T> x(sizes);
  uint64_t state = 88172645463325252u;
  for (T& v : x.data) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    v = static_cast<T>(state % 23);
    if constexpr (std::is_floating_point_v<T>) {
      if (with_nan && state % 1009 == 0) v = static_cast<T>(kNan);
      if (v == T(3)) v = T(-0.0);
    }
  }
  for (const bool largest : {true, false}) {
    std::vector<T> values;
    std::vector<int64_t> places;
    extrema_one_by_one(x, largest, values, places);
    for (const Array<T>& in : {x, x.crossed(), x.spread(2)}) {
      for (const Context& c : contexts()) {
        Array<T> out(sizes);
        Array<int64_t> index(sizes);
        const Scan op = largest ? Scan::kMax : Scan::kMin;
        ScanArgs args{static_cast<int32_t>(op), out.view(), index.view(), in.view()};
        Context context = c;
        cpu::scan(context, args);
        ASSERT_TRUE(same_bits(values, out.data)) << sizes[0] << " x " << sizes[1];
        ASSERT_EQ(places, index.data) << sizes[0] << " x " << sizes[1];
      }
    }
  }
}

TEST(ScanKernel, ExtremaAndPlacesAreThoseFoundOneByOneOnAllIsas) {
  for (int isa = 0; isa < cpu::kIsas; ++isa) {
    if (!cpu::set_isa(static_cast<cpu::Isa>(isa))) continue;
    for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
             {1, 1}, {3, 7}, {5, 100}, {300, 9}, {2, 70001}, {1, 200000}}) {
      for (const bool with_nan : {false, true}) {
        compare_extrema<float>(sizes, with_nan);
        compare_extrema<double>(sizes, with_nan);
      }
      compare_extrema<int8_t>(sizes, false);
      compare_extrema<int32_t>(sizes, false);
      compare_extrema<int64_t>(sizes, false);
      compare_extrema<uint64_t>(sizes, false);
    }
  }
  cpu::set_isa(cpu::best_isa());
}

TEST(ScanKernel, IntegersWrap) {
  Array<int32_t> x({40}, 1 << 30), out({40});
  ScanArgs args{static_cast<int32_t>(Scan::kSum), out.view(), {}, x.view()};
  Context context = plain_context();
  cpu::scan(context, args);
  EXPECT_EQ(out[1], std::numeric_limits<int32_t>::min());
  EXPECT_EQ(out[3], 0);
}

}  // namespace
}  // namespace libdl::kernels::test
