// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <libdl/dtype.h>

#include <cmath>
#include <complex>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/half.h"
#include "tests/core/kernel_views.h"

namespace libdl::kernels {
namespace {

using testing::Array;
using testing::Launch;
using Indices = Array<int64_t>;

constexpr int32_t kIndex = LIBDL_DTYPE_INT64;

Array<float> counting(std::vector<int64_t> shape) {
  Array<float> a(LIBDL_DTYPE_FLOAT32, std::move(shape));
  for (int64_t i = 0; i < a.count(); ++i) a[i] = static_cast<float>(i);
  return a;
}

Indices drawn(std::vector<int64_t> shape, int64_t size, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  Indices a(kIndex, std::move(shape));
  for (int64_t i = 0; i < a.count(); ++i)
    a[i] = static_cast<int64_t>(random() % static_cast<uint64_t>(2 * size)) - size;
  return a;
}

int64_t wrapped(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

TEST(CheckIndex, FindsTheFirstValueOutside) {
  Launch launch(3);
  for (int64_t count : {1, 63, 64, 65, 1000, 200000}) {
    Indices index = drawn({count}, 10);
    int64_t bad = 7;
    cpu::check_index(launch, {index.view(), 10, &bad, "test"});
    EXPECT_EQ(bad, -1) << count;
    for (int64_t value : {int64_t{10}, int64_t{-11}, INT64_MAX, INT64_MIN}) {
      Indices wrong = index;
      wrong[count - 1] = value;
      wrong[count * 2 / 3] = value;
      cpu::check_index(launch, {wrong.view(), 10, &bad, "test"});
      EXPECT_EQ(bad, count * 2 / 3) << count << " with " << value;
    }
  }
}

TEST(CheckIndex, CountsPositionsInRowMajorOrderWhateverTheStrides) {
  Launch launch;
  Indices index = drawn({3, 5}, 4);
  index[7] = 4;
  index[9] = -5;
  Indices other = index.scattered();
  int64_t bad = -2;
  cpu::check_index(launch, {other.view(), 4, &bad, "test"});
  EXPECT_EQ(bad, 7);
}

TEST(CheckIndex, NothingFitsIntoNothing) {
  Launch launch;
  Indices index(kIndex, {1}, {0}), none(kIndex, {0});
  int64_t bad = -2;
  cpu::check_index(launch, {index.view(), 0, &bad, "test"});
  EXPECT_EQ(bad, 0);
  cpu::check_index(launch, {none.view(), 0, &bad, "test"});
  EXPECT_EQ(bad, -1);
}

TEST(CheckIndex, Int32) {
  Launch launch;
  Array<int32_t> index(LIBDL_DTYPE_INT32, {3}, {0, -4, 4});
  int64_t bad = -2;
  cpu::check_index(launch, {index.view(), 4, &bad, "test"});
  EXPECT_EQ(bad, 2);
  for (int32_t value : {4, -5, INT32_MAX, INT32_MIN}) {
    Array<int32_t> many(LIBDL_DTYPE_INT32, {5000});
    cpu::check_index(launch, {many.view(), 4, &bad, "test"});
    EXPECT_EQ(bad, -1);
    many[4321] = value;
    cpu::check_index(launch, {many.view(), 4, &bad, "test"});
    EXPECT_EQ(bad, 4321) << value;
  }
}

// out[i, j, k] with the coordinate along dim replaced, spelled out.
template <class T>
std::vector<T> gather_reference(const Array<T>& in, const Indices& index, int dim) {
  std::vector<T> out;
  for (int64_t i = 0; i < index.count(); ++i) {
    int64_t at[3], rest = i, source = 0;
    for (int d = 2; d >= 0; --d) {
      at[d] = rest % index.sizes[d];
      rest /= index.sizes[d];
    }
    at[dim] = wrapped(index[i], in.sizes[dim]);
    for (int d = 0; d < 3; ++d) source = source * in.sizes[d] + at[d];
    out.push_back(in[source]);
  }
  return out;
}

TEST(Gather, EveryDimensionAndStride) {
  Launch launch(2);
  const Array<float> in = counting({4, 5, 6});
  for (int dim = 0; dim < 3; ++dim) {
    const Indices index = drawn({3, 4, 5}, in.sizes[dim], static_cast<unsigned>(dim));
    const auto wanted = gather_reference(in, index, dim);
    for (int form = 0; form < 8; ++form) {
      Array<float> out(LIBDL_DTYPE_FLOAT32, index.sizes), source = in;
      Indices where = index;
      if (form & 1) out = out.scattered();
      if (form & 2) source = in.scattered();
      if (form & 4) where = index.scattered();
      cpu::gather(launch, {out.view(), source.view(), where.view(), dim});
      EXPECT_EQ(out.list(), wanted) << "dim " << dim << " form " << form;
    }
  }
}

template <class T>
void gather_of_size(int32_t dtype, T a, T b) {
  Launch launch;
  Array<T> in(dtype, {2}, {a, b}), out(dtype, {3});
  Array<int32_t> index(LIBDL_DTYPE_INT32, {3}, {1, 0, -1});
  cpu::gather(launch, {out.view(), in.view(), index.view(), 0});
  EXPECT_EQ(out.data, (std::vector<T>{b, a, b}));
}

TEST(Gather, EveryElementSize) {
  gather_of_size<uint8_t>(LIBDL_DTYPE_UINT8, 1, 2);
  gather_of_size<uint16_t>(LIBDL_DTYPE_FLOAT16, 0x3c00, 0x7e01);
  gather_of_size<float>(LIBDL_DTYPE_FLOAT32, 1.5f, -2);
  gather_of_size<double>(LIBDL_DTYPE_FLOAT64, 1.5, -2);
  gather_of_size<std::complex<float>>(LIBDL_DTYPE_COMPLEX64, {1, 2}, {3, 4});
  gather_of_size<std::complex<double>>(LIBDL_DTYPE_COMPLEX128, {1, 2}, {3, 4});
}

TEST(Gather, LargeRowsAreCutAmongThreads) {
  Launch launch(3);
  const Array<float> in = counting({50000});
  const Indices index = drawn({100001}, 50000);
  Array<float> out(LIBDL_DTYPE_FLOAT32, {100001});
  cpu::gather(launch, {out.view(), in.view(), index.view(), 0});
  for (int64_t i = 0; i < out.count(); ++i)
    ASSERT_EQ(out[i], static_cast<float>(wrapped(index[i], 50000))) << i;
}

template <class T>
std::vector<T> scatter(int32_t dtype, ScatterOp op, std::vector<T> out, std::vector<T> src,
                       std::vector<int64_t> index) {
  Launch launch;
  const auto length = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  Array<T> to(dtype, {length(out)}, out);
  const Array<T> from(dtype, {length(src)}, src);
  const Indices where(kIndex, {length(index)}, index);
  cpu::scatter(launch, {to.view(), from.view(), where.view(), 0, static_cast<int32_t>(op)});
  return to.data;
}

TEST(Scatter, Operations) {
  using V = std::vector<float>;
  const auto run = [](ScatterOp op) {
    return scatter<float>(LIBDL_DTYPE_FLOAT32, op, {1, 2, 3}, {4, 0.5f, 6}, {0, -1, 0});
  };
  EXPECT_EQ(run(ScatterOp::kSet), (V{6, 2, 0.5f}));
  EXPECT_EQ(run(ScatterOp::kAdd), (V{11, 2, 3.5f}));
  EXPECT_EQ(run(ScatterOp::kMul), (V{24, 2, 1.5f}));
  EXPECT_EQ(run(ScatterOp::kMax), (V{6, 2, 3}));
  EXPECT_EQ(run(ScatterOp::kMin), (V{1, 2, 0.5f}));
}

TEST(Scatter, NanWins) {
  const float nan = std::nanf("");
  for (ScatterOp op : {ScatterOp::kMax, ScatterOp::kMin}) {
    const auto out = scatter<float>(LIBDL_DTYPE_FLOAT32, op, {nan, 2}, {1, nan}, {0, 1});
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));
  }
}

TEST(Scatter, IntegersWrapBoolsAreLogicHalvesComputeInFloat) {
  EXPECT_EQ(scatter<int8_t>(LIBDL_DTYPE_INT8, ScatterOp::kAdd, {100}, {100}, {0})[0], -56);
  EXPECT_EQ(scatter<int64_t>(LIBDL_DTYPE_INT64, ScatterOp::kMul, {INT64_MIN}, {-1}, {0})[0],
            INT64_MIN);
  EXPECT_EQ(scatter<uint8_t>(LIBDL_DTYPE_BOOL, ScatterOp::kAdd, {1}, {1}, {0})[0], 1);
  EXPECT_EQ(scatter<uint8_t>(LIBDL_DTYPE_BOOL, ScatterOp::kMul, {1}, {0}, {0})[0], 0);
  EXPECT_EQ(scatter<uint64_t>(LIBDL_DTYPE_UINT64, ScatterOp::kMax, {UINT64_MAX}, {1}, {0})[0],
            UINT64_MAX);
  EXPECT_EQ(scatter<uint16_t>(LIBDL_DTYPE_FLOAT16, ScatterOp::kAdd, {0x3c00}, {0x3c00}, {0})[0],
            0x4000);
  EXPECT_EQ(scatter<uint16_t>(LIBDL_DTYPE_BFLOAT16, ScatterOp::kMul, {0x4000}, {0x4040}, {0})[0],
            0x40c0);
  using C = std::complex<double>;
  EXPECT_EQ(scatter<C>(LIBDL_DTYPE_COMPLEX128, ScatterOp::kMul, {C(1, 2)}, {C(3, 4)}, {0})[0],
            C(-5, 10));
}

// Every half and another, with the bits of the conversions that need no instruction of their own.
TEST(Scatter, HalvesAddAlikeOnEveryProcessor) {
  std::vector<uint16_t> out(1 << 16), src(1 << 16), wanted;
  std::vector<int64_t> index(1 << 16);
  for (uint32_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<uint16_t>(i);
    src[i] = static_cast<uint16_t>(i * 40503u >> 3);
    index[i] = i;
    wanted.push_back(float16_from_float(float_from_float16(out[i]) + float_from_float16(src[i])));
  }
  for (int isa = 0; isa < cpu::kIsas; ++isa) {
    if (!cpu::set_isa(static_cast<cpu::Isa>(isa))) continue;
    const auto sums = scatter(LIBDL_DTYPE_FLOAT16, ScatterOp::kAdd, out, src, index);
    for (size_t i = 0; i < sums.size(); ++i) {
      const float x = float_from_float16(wanted[i]);
      ASSERT_TRUE(sums[i] == wanted[i] || (x != x && (sums[i] & 0x7FFF) > 0x7C00))
          << isa << " " << i;
    }
  }
  cpu::set_isa(cpu::best_isa());
}

TEST(Scatter, EveryDimensionStrideAndNumberOfThreads) {
  const std::vector<int64_t> shape = {7, 40, 60};
  for (int dim = 0; dim < 3; ++dim) {
    Array<float> src = counting(shape);
    for (float& x : src.data) x = 1 / (x + 1);  // sums that depend on the order
    const Indices index = drawn(shape, 5);
    std::vector<int64_t> out_shape = shape;
    out_shape[dim] = 5;

    Array<float> wanted(LIBDL_DTYPE_FLOAT32, out_shape);
    for (int64_t i = 0; i < index.count(); ++i) {
      int64_t at[3] = {i / 2400, i / 60 % 40, i % 60};
      at[dim] = wrapped(index[i], 5);
      wanted[(at[0] * out_shape[1] + at[1]) * out_shape[2] + at[2]] += src[i];
    }
    for (int form = 0; form < 8; ++form) {
      for (int64_t threads : {1, 2, 3, 8}) {
        Launch launch(threads);
        Array<float> out(LIBDL_DTYPE_FLOAT32, out_shape), from = src;
        Indices where = index;
        if (form & 1) out = out.scattered();
        if (form & 2) from = src.scattered();
        if (form & 4) where = index.scattered();
        cpu::scatter(launch, {out.view(), from.view(), where.view(), dim,
                              static_cast<int32_t>(ScatterOp::kAdd)});
        ASSERT_EQ(out.list(), wanted.list()) << "dim " << dim << " form " << form;
      }
    }
  }
}

TEST(Scatter, IndexSmallerThanBoth) {
  Launch launch;
  Array<float> out = counting({3, 4});
  const Array<float> src = counting({5, 6});
  const Indices index(kIndex, {1, 2}, {2, 0});
  cpu::scatter(launch,
               {out.view(), src.view(), index.view(), 0, static_cast<int32_t>(ScatterOp::kSet)});
  EXPECT_EQ(out.data, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11}));
}

// base[i, :, j] with index tensors of shape {2, 3} for dimensions 0 and 2, the second of which is
// broadcast: the rest is dimension 1.
struct Advanced {
  Array<float> base = counting({4, 5, 6});
  Indices rows{kIndex, {2, 3}, {3, 0, -1, 1, 1, 2}};
  Array<int32_t> columns{LIBDL_DTYPE_INT32, {2, 3}, {5, -6, 2}};
  Array<float> values{LIBDL_DTYPE_FLOAT32, {2, 3, 5}};
  int64_t sizes[2] = {4, 6}, strides[2];
  int64_t rest_size[1] = {5}, rest_stride[1];

  Advanced() {
    columns.data.resize(6);
    columns.strides = {0, 1};
  }
  IndexArgs args(bool accumulate = false) {
    strides[0] = base.strides[0];
    strides[1] = base.strides[2];
    rest_stride[0] = base.strides[1];
    IndexArgs args{};
    args.base = {base.data.data(), rest_size, rest_stride, 1, base.dtype};
    args.values = values.view();
    args.indices = 2;
    args.index[0] = rows.view();
    args.index[1] = columns.view();
    args.indexed_sizes = sizes;
    args.indexed_strides = strides;
    args.accumulate = accumulate;
    return args;
  }
  // The linear position in base that element i of values means.
  int64_t meant(int64_t i) {
    const int64_t position = i / 5;
    return (wrapped(rows[position], 4) * 5 + i % 5) * 6 + wrapped(columns[position % 3], 6);
  }
};

TEST(IndexGet, SeveralIndicesOfBothTypesAndAnyStrides) {
  for (int form = 0; form < 8; ++form) {
    Advanced a;
    if (form & 1) a.base = a.base.scattered();
    if (form & 2) a.values = a.values.scattered();
    if (form & 4) a.rows = a.rows.scattered();
    Launch launch;
    cpu::index_get(launch, a.args());
    for (int64_t i = 0; i < 30; ++i)
      ASSERT_EQ(a.values[i], static_cast<float>(a.meant(i))) << "form " << form << " at " << i;
  }
}

IndexArgs row_args(Array<float>& base, Array<float>& values, const Indices& index,
                   bool accumulate = false) {
  IndexArgs args{};
  args.base = {base.data.data(), &base.sizes[1], &base.strides[1], 1, base.dtype};
  args.values = values.view();
  args.indices = 1;
  args.index[0] = index.view();
  args.indexed_sizes = &base.sizes[0];
  args.indexed_strides = &base.strides[0];
  args.accumulate = accumulate;
  return args;
}

TEST(IndexGet, Rows) {
  for (const auto& [count, width] : {std::pair{1000, 37},
                                     {3, 40000},
                                     {5, 1},
                                     {4, 0},
                                     {0, 4},
                                     {9, 3},
                                     {9, 4},
                                     {9, 5},
                                     {9, 16},
                                     {9, 63},
                                     {9, 64},
                                     {9, 65}}) {
    Array<float> base = counting({20, width}), values(LIBDL_DTYPE_FLOAT32, {count, width});
    const Indices index = drawn({count}, 20);
    Launch launch(2);
    cpu::index_get(launch, row_args(base, values, index));
    for (int64_t i = 0; i < values.count(); ++i)
      ASSERT_EQ(values[i], base[wrapped(index[i / width], 20) * width + i % width]);
  }
}

TEST(IndexPut, LastOneWins) {
  Advanced a, before;
  for (float& x : a.values.data) x = 1000 + static_cast<float>(&x - a.values.data.data());
  Launch launch;
  cpu::index_put(launch, a.args());
  std::vector<float> wanted = before.base.data;
  for (int64_t i = 0; i < 30; ++i) wanted[a.meant(i)] = a.values[i];
  EXPECT_EQ(a.base.data, wanted);
}

TEST(IndexPut, AccumulatesInOrderForEveryNumberOfThreads) {
  for (int64_t width : {1, 37, 700}) {
    Array<float> values = counting({900, width});
    for (float& x : values.data) x = 1 / (x + 1);
    const Indices index = drawn({900}, 6);
    Array<float> wanted(LIBDL_DTYPE_FLOAT32, {6, width});
    for (int64_t i = 0; i < values.count(); ++i)
      wanted[wrapped(index[i / width], 6) * width + i % width] += values[i];
    for (int64_t threads : {1, 2, 3, 8}) {
      for (bool strided : {false, true}) {
        Launch launch(threads);
        Array<float> base(LIBDL_DTYPE_FLOAT32, {6, width});
        if (strided) base = base.scattered();
        cpu::index_put(launch, row_args(base, values, index, true));
        ASSERT_EQ(base.list(), wanted.list()) << width << " wide, " << threads << " threads";
      }
    }
  }
}

TEST(Nonzero, CoordinatesInRowMajorOrder) {
  for (int64_t length : {1, 5, 30000}) {
    Array<float> in(LIBDL_DTYPE_FLOAT32, {3, length});
    std::mt19937 random(2);
    for (float& x : in.data) x = random() % 3 == 0 ? 1.0f : 0.0f;
    in[0] = -0.0f;
    in[2 * length] = std::nanf("");
    std::vector<int64_t> wanted;
    for (int64_t i = 0; i < in.count(); ++i)
      if (in[i] != 0) wanted.insert(wanted.end(), {i / length, i % length});

    for (bool strided : {false, true}) {
      const Array<float> source = strided ? in.scattered() : in;
      Launch launch(3);
      int64_t count = -1;
      cpu::nonzero(launch, {source.view(), &count, View{}});
      ASSERT_EQ(count, static_cast<int64_t>(wanted.size()) / 2);
      Indices out(kIndex, {count, 2});
      cpu::nonzero(launch, {source.view(), &count, out.view()});
      ASSERT_EQ(out.data, wanted);
    }
  }
}

template <class T>
void expect_positions_of(int32_t dtype, int64_t length) {
  Array<T> in(dtype, {length});
  std::mt19937 random(3);
  std::vector<int64_t> wanted;
  for (int64_t i = 0; i < length; ++i) {
    in[i] = static_cast<T>(random() % 2);
    if (in[i] != 0) wanted.push_back(i);
  }
  Launch launch(2);
  int64_t count = -1;
  cpu::nonzero(launch, {in.view(), &count, View{}});
  ASSERT_EQ(count, static_cast<int64_t>(wanted.size())) << length;
  Indices out(kIndex, {count, 1});
  cpu::nonzero(launch, {in.view(), &count, out.view()});
  ASSERT_EQ(out.data, wanted) << length;
}

TEST(Nonzero, PositionsInOneDimensionWhateverTheWidth) {
  for (int64_t length : {1, 7, 8, 127, 128, 1000, 50000}) {
    expect_positions_of<uint8_t>(LIBDL_DTYPE_BOOL, length);
    expect_positions_of<int16_t>(LIBDL_DTYPE_INT16, length);
    expect_positions_of<float>(LIBDL_DTYPE_FLOAT32, length);
    expect_positions_of<int64_t>(LIBDL_DTYPE_INT64, length);
  }
}

template <class T>
int64_t count_nonzero(int32_t dtype, std::vector<T> values) {
  Launch launch;
  const Array<T> in(dtype, {static_cast<int64_t>(values.size())}, values);
  int64_t count = -1;
  cpu::nonzero(launch, {in.view(), &count, View{}});
  return count;
}

TEST(Nonzero, EveryKindOfZero) {
  EXPECT_EQ(count_nonzero<uint8_t>(LIBDL_DTYPE_BOOL, {0, 1, 128}), 2);
  EXPECT_EQ(count_nonzero<int8_t>(LIBDL_DTYPE_INT8, {0, -128}), 1);
  EXPECT_EQ(count_nonzero<uint16_t>(LIBDL_DTYPE_FLOAT16, {0, 0x8000, 1}), 1);
  EXPECT_EQ(count_nonzero<uint16_t>(LIBDL_DTYPE_UINT16, {0, 0x8000, 1}), 2);
  EXPECT_EQ(count_nonzero<double>(LIBDL_DTYPE_FLOAT64, {0, -0.0, 5e-324}), 1);
  using C = std::complex<float>;
  EXPECT_EQ(count_nonzero<C>(LIBDL_DTYPE_COMPLEX64, {C(-0.0f, -0.0f), C(0, 1), C(1, 0)}), 2);
  using D = std::complex<double>;
  EXPECT_EQ(count_nonzero<D>(LIBDL_DTYPE_COMPLEX128, {D(-0.0, -0.0), D(0, 1), D(1, 0)}), 2);
}

TEST(Nonzero, ScalarHasARowWithoutColumns) {
  Launch launch;
  const Array<float> in(LIBDL_DTYPE_FLOAT32, {}, {2});
  int64_t count = -1;
  cpu::nonzero(launch, {in.view(), &count, View{}});
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace libdl::kernels
