// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/cpu/kernels.h"
#include "kernels/half.h"
#include "tests/core/kernel_views.h"

namespace libdl::kernels {
namespace {

using testing::Array;
using testing::Launch;

template <class T>
struct Sorted {
  Array<T> values;
  Array<int64_t> indices;
};

template <class T>
Sorted<T> sort(const Array<T>& in, bool descending, int64_t k = -1, int64_t threads = 2) {
  std::vector<int64_t> shape = in.sizes;
  if (k >= 0) shape.back() = k;
  Sorted<T> out{Array<T>(in.dtype, shape), Array<int64_t>(LIBDL_DTYPE_INT64, shape)};
  Launch launch(threads);
  cpu::sort(launch, {out.values.view(), out.indices.view(), in.view(), k, descending});
  return out;
}

// Order of the values: NaN above all, equal to itself; -0 equal to 0.
template <class T>
bool below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

template <class T>
void expect_sorted(const Array<T>& in, bool descending, int64_t k = -1) {
  const Sorted<T> out = sort(in, descending, k);
  const int64_t length = in.sizes.back(), kept = k < 0 ? length : k;
  for (int64_t row = 0; row * length < in.count(); ++row) {
    std::vector<int64_t> order(static_cast<size_t>(length));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const T x = in[row * length + a], y = in[row * length + b];
      return descending ? below(y, x) : below(x, y);
    });
    for (int64_t j = 0; j < kept; ++j) {
      ASSERT_EQ(out.indices[row * kept + j], order[static_cast<size_t>(j)])
          << "row " << row << " of " << length << ", place " << j << ", k " << k;
      const T value = out.values[row * kept + j], wanted = in[row * length + order[j]];
      ASSERT_EQ(std::memcmp(&value, &wanted, sizeof(T)), 0);
    }
  }
}

template <class T>
Array<T> drawn(int32_t dtype, std::vector<int64_t> shape, uint64_t kinds) {
  Array<T> a(dtype, std::move(shape));
  std::mt19937_64 random(3);
  for (T& x : a.data) {
    const uint64_t bits = random();
    if constexpr (std::is_floating_point_v<T>)
      x = (static_cast<T>(bits % kinds) - static_cast<T>(kinds / 2)) / 7;
    else
      x = static_cast<T>(kinds == 0 ? bits : bits % kinds);
  }
  return a;
}

template <class T>
void sorts(int32_t dtype) {
  // Either side of each change of method: comparing, counting, threads on one row.
  for (int64_t length : {1, 2, 255, 256, 1000, 65535, 65536, 70001}) {
    for (uint64_t kinds : {3, 1000000}) {
      const Array<T> in = drawn<T>(dtype, {length > 1000 ? 2 : 40, length}, kinds);
      for (bool descending : {false, true}) {
        expect_sorted(in, descending);
        if (length > 1000 && kinds == 3) continue;
        for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{10}, length / 3, length})
          if (k <= length) expect_sorted(in, descending, k);
      }
    }
  }
}

TEST(Sort, Float32) { sorts<float>(LIBDL_DTYPE_FLOAT32); }
TEST(Sort, Float64) { sorts<double>(LIBDL_DTYPE_FLOAT64); }
TEST(Sort, Int64) { sorts<int64_t>(LIBDL_DTYPE_INT64); }
TEST(Sort, Int32) { sorts<int32_t>(LIBDL_DTYPE_INT32); }
TEST(Sort, Uint8) { sorts<uint8_t>(LIBDL_DTYPE_UINT8); }

TEST(Sort, WholeRangeOfIntegers) {
  for (bool descending : {false, true}) {
    expect_sorted(drawn<int64_t>(LIBDL_DTYPE_INT64, {3000}, 0), descending);
    expect_sorted(drawn<uint64_t>(LIBDL_DTYPE_UINT64, {3000}, 0), descending);
    expect_sorted(drawn<uint32_t>(LIBDL_DTYPE_UINT32, {3000}, 0), descending);
    expect_sorted(drawn<int16_t>(LIBDL_DTYPE_INT16, {3000}, 0), descending);
    expect_sorted(drawn<uint16_t>(LIBDL_DTYPE_UINT16, {3000}, 0), descending);
    expect_sorted(drawn<int8_t>(LIBDL_DTYPE_INT8, {3000}, 0), descending);
  }
}

// Keys of 64 bits are sorted by their leading bytes first: some of these are equal in few of them,
// in many, and in all.
TEST(Sort, LongKeysThatShareTheirLeadingBytes) {
  for (int64_t length : {300, 5000, 70000}) {
    for (int shift : {0, 20, 44, 58}) {
      Array<int64_t> in = drawn<int64_t>(LIBDL_DTYPE_INT64, {length}, 0);
      for (int64_t& x : in.data) x >>= shift;
      for (int64_t j = 0; j < length; j += 3) in.data[j] = in.data[j / 2] ^ 1;
      for (bool descending : {false, true}) expect_sorted(in, descending);
    }
  }
}

template <class T>
void special_values(int32_t dtype) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T tiny = std::numeric_limits<T>::denorm_min();
  const std::vector<T> kinds = {nan, -0.0, 0.0, inf, -inf, -nan, tiny, -tiny, 1, -1};
  for (int64_t length : {10, 500}) {
    Array<T> in(dtype, {length});
    for (int64_t j = 0; j < length; ++j) in[j] = kinds[static_cast<size_t>(j * 7 % 10)];
    for (bool descending : {false, true}) {
      expect_sorted(in, descending);
      expect_sorted(in, descending, 3);
    }
  }
}

TEST(Sort, NanIsLargestAndBothZerosAreEqual) {
  special_values<float>(LIBDL_DTYPE_FLOAT32);
  special_values<double>(LIBDL_DTYPE_FLOAT64);
}

TEST(Sort, HalfTypes) {
  using V = std::vector<uint16_t>;
  const Array<uint16_t> half(LIBDL_DTYPE_FLOAT16, {6}, {0x3c00, 0x7e00, 0xbc00, 0x8000, 0, 0x7c00});
  EXPECT_EQ(sort(half, false).values.data, (V{0xbc00, 0x8000, 0, 0x3c00, 0x7c00, 0x7e00}));
  const Array<uint16_t> brain(LIBDL_DTYPE_BFLOAT16, {4}, {0x3f80, 0x7fc0, 0xbf80, 0x7f80});
  EXPECT_EQ(sort(brain, true).values.data, (V{0x7fc0, 0x7f80, 0x3f80, 0xbf80}));
}

TEST(Sort, Bools) {
  const Array<uint8_t> in(LIBDL_DTYPE_BOOL, {4}, {1, 0, 1, 0});
  EXPECT_EQ(sort(in, true).indices.data, (std::vector<int64_t>{0, 2, 1, 3}));
}

TEST(Sort, AnyStrides) {
  expect_sorted(drawn<float>(LIBDL_DTYPE_FLOAT32, {3, 4, 300}, 100).scattered(), false);
  expect_sorted(drawn<float>(LIBDL_DTYPE_FLOAT32, {2, 70000}, 100).scattered(), true);
  expect_sorted(drawn<float>(LIBDL_DTYPE_FLOAT32, {5, 3000}, 100).scattered(), true, 20);
}

TEST(Sort, NothingInNothingOut) {
  EXPECT_EQ(sort(Array<float>(LIBDL_DTYPE_FLOAT32, {3, 0}), false).values.count(), 0);
  EXPECT_EQ(sort(Array<float>(LIBDL_DTYPE_FLOAT32, {0, 3}), false).values.count(), 0);
}

TEST(Topk, OrderedInputsAreTheHardOnes) {
  Array<int64_t> up(LIBDL_DTYPE_INT64, {100000});
  std::iota(up.data.begin(), up.data.end(), -50000);
  for (bool descending : {false, true})
    for (int64_t k : {1, 100, 5000}) expect_sorted(up, descending, k);
}

}  // namespace
}  // namespace libdl::kernels
