// SPDX-License-Identifier: Apache-2.0

// Sizes past 2^31, where an index of 32 bits wraps: one byte an element, or one element seen many
// times. What narrows silently is an error of tests/gates/clang.py; this is for the rest.
#include <gtest/gtest.h>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {
namespace {

constexpr int64_t kMany = (int64_t{1} << 31) + 1000;
constexpr int64_t kLast = kMany - 1;
const int64_t kShape[] = {kMany};

Tensor at(int64_t i) {
  const Tensor x = empty(Dims(), Dtype::kInt64);
  *x.update_plain<int64_t>() = i;
  return reshape(x, std::to_array<int64_t>({1}));
}

TEST(Large, OneElementSeenManyTimes) {
  const Tensor one = full(std::to_array<int64_t>({1}), number(int64_t{1}), Dtype::kUint8);
  const Tensor x = expand(one, kShape);
  EXPECT_EQ(item_i64(sum(x)), kMany);
  EXPECT_TRUE(item_bool(any(x)));
  EXPECT_TRUE(item_bool(all(x)));
  EXPECT_EQ(item_i64(argmax(x, std::nullopt, false)), 0);
  EXPECT_EQ(item_i64(index_select(x, 0, at(kLast))), 1);
  EXPECT_EQ(item_i64(gather(x, 0, at(-1))), 1);
  // Rows and columns of 2^16 and more: their product is what wraps.
  const Tensor table = expand(one, std::to_array<int64_t>({65536, 32800}));
  EXPECT_EQ(item_i64(sum(table)), int64_t{65536} * 32800);
  EXPECT_EQ(item_i64(sum(sum(table, Dims(std::to_array<int64_t>({0}))))), int64_t{65536} * 32800);
}

TEST(Large, ElementsBehindTheTwoBillionth) {
  Tensor x = zeros(kShape, Dtype::kUint8);
  x.update_plain<uint8_t>()[kLast] = 7;
  EXPECT_TRUE(item_bool(any(x)));
  EXPECT_EQ(item_i64(sum(x)), 7);
  EXPECT_EQ(item_i64(max(x)), 7);
  EXPECT_EQ(item_i64(argmax(x, std::nullopt, false)), kLast);
  EXPECT_EQ(item_i64(index_select(x, 0, at(kLast))), 7);
  EXPECT_EQ(item_i64(gather(x, 0, at(-1))), 7);
  const Tensor where = nonzero(x);
  ASSERT_EQ(where.numel(), 1);
  EXPECT_EQ(item_i64(where), kLast);

  add(x, x, nullptr, Into(x));
  EXPECT_EQ(x.read_plain<uint8_t>()[kLast], 14);
  cumsum(x, 0, Dtype::kUint8, Into(x));
  EXPECT_EQ(x.read_plain<uint8_t>()[kLast - 1], 0);
  EXPECT_EQ(x.read_plain<uint8_t>()[kLast], 14);
  index_fill(x, 0, at(kLast - 1), number(int64_t{3}), Into(x));
  EXPECT_EQ(x.read_plain<uint8_t>()[kLast - 1], 3);

  constexpr int64_t kHalf = int64_t{1} << 30;
  const Tensor parts[] = {narrow(x, 0, kHalf, kMany - kHalf), narrow(x, 0, 0, kHalf)};
  const Tensor joined = cat(parts, 0);
  EXPECT_EQ(joined.read_plain<uint8_t>()[kMany - kHalf - 1], 14);
  EXPECT_EQ(joined.read_plain<uint8_t>()[kMany - kHalf - 2], 3);
  EXPECT_EQ(item_i64(sum(joined)), 17);
  copy(x, false, Into(joined));
  EXPECT_EQ(joined.read_plain<uint8_t>()[kLast], 14);
  EXPECT_EQ(joined.read_plain<uint8_t>()[kMany - kHalf - 1], 0);
  Tensor truth = alias(joined, kShape, std::to_array<int64_t>({1}), 0, Dtype::kBool);
  eq(x, number(int64_t{14}), Into(truth));
  EXPECT_EQ(item_i64(argmax(alias(truth, kShape, std::to_array<int64_t>({1}), 0, Dtype::kUint8),
                            std::nullopt, false)),
            kLast);
}

}  // namespace
}  // namespace libdl
