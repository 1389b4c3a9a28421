// SPDX-License-Identifier: Apache-2.0

// Weights that are kept in 16 bits: shared until they are written to or memory runs short.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/linalg.h"
#include "entries/reduction.h"
#include "memory/pressure.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "tensor/conversion.h"

namespace libdl {
namespace {

Tensor weight(double value) {
  const int64_t shape[] = {32, 32};
  return full(shape, number(value), Dtype::kFloat32);
}
const void* bytes_of(const Tensor& x) { return x.read_plain(); }
double sum_of(const Tensor& x) { return item_f64(sum(cast(x, Dtype::kFloat64))); }

TEST(Conversion, IsSharedUntilTheBytesChange) {
  const Tensor w = weight(3);
  const int64_t kept = packed_bytes();
  const Tensor first = cast_kept(w, Dtype::kBfloat16), second = cast_kept(w, Dtype::kBfloat16);
  EXPECT_EQ(bytes_of(first), bytes_of(second));
  EXPECT_NE(bytes_of(cast_kept(w, Dtype::kFloat16)), bytes_of(first));
  EXPECT_EQ(packed_bytes() - kept, 2 * 2 * 32 * 32);
  add(w, w, nullptr, Into(w));
  EXPECT_EQ(packed_bytes(), kept);
  EXPECT_EQ(sum_of(first), 3 * 1024);  // as before, for whoever still has it
  EXPECT_EQ(sum_of(cast_kept(w, Dtype::kBfloat16)), 6 * 1024);
}

TEST(Conversion, CannotBeWrittenAndMayHaveFormsItself) {
  const Tensor w = weight(1), x = cast(weight(1), Dtype::kBfloat16);
  const int64_t kept = packed_bytes();
  for (int turn = 0; turn < 3; ++turn) {
    const Tensor narrow = cast_kept(w, Dtype::kBfloat16);
    EXPECT_THROW(fill(number(0.0), Into(narrow)), Error);
    EXPECT_EQ(sum_of(mm(x, narrow)), 32 * 1024);
  }
  EXPECT_GT(packed_bytes() - kept, 2 * 32 * 32);  // panels, made once, lie beside it
}

TEST(Conversion, GoesUnderPressureUnlessItIsRead) {
  const Tensor w = weight(1), other = weight(2);
  const Tensor read = cast_kept(w, Dtype::kBfloat16);
  cast_kept(other, Dtype::kBfloat16);
  const int64_t kept = packed_bytes();
  relieve_pressure(int64_t{1} << 40);
  EXPECT_LT(packed_bytes(), kept);
  EXPECT_EQ(bytes_of(cast_kept(w, Dtype::kBfloat16)), bytes_of(read));
  EXPECT_EQ(sum_of(cast_kept(other, Dtype::kBfloat16)), 2 * 1024);
}

TEST(ConversionThreads, ReadersAndAWriterInTurn) {
  for (int turn = 1; turn <= 50; ++turn) {
    const Tensor w = weight(turn);
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i)
      readers.emplace_back([&] {
        for (int again = 0; again < 5; ++again)
          EXPECT_EQ(sum_of(cast_kept(w, Dtype::kBfloat16)), turn * 1024);
      });
    for (std::thread& reader : readers) reader.join();
    zero(Into(w));
    EXPECT_EQ(sum_of(cast_kept(w, Dtype::kBfloat16)), 0);
  }
}

}  // namespace
}  // namespace libdl
