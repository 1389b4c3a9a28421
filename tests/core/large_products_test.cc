// SPDX-License-Identifier: Apache-2.0

// Products that are cut for what reading memory takes: a large matrix times few rows, and long
// sums. The panels of matmul_float.cc, which take another way, give the bits that are wanted.

#include "kernels/cpu/gemm/matmul.h"
#include "kernels/cpu/kernels.h"
#include "tests/core/kernel_runs.h"

namespace libdl::kernels::test {
namespace {

template <class T>
Array<T> product(Context context, const Array<T>& a, const Array<T>& b, const Array<T>& bias,
                 bool packed = false) {
  Array<T> out({a.sizes[0], a.sizes[1], b.sizes[2]}, T(7));
  MatmulArgs args{};
  args.out = out.view();
  args.a = a.view();
  args.b = b.view();
  args.alpha = 1;
  if (bias.numel() > 0) args.bias = bias.view();
  const int64_t bytes = cpu::packed_size(b.dtype, b.sizes[2], b.sizes[1]);
  const Scratch panels(context, packed ? b.sizes[0] * bytes : 0);
  if (packed) cpu::pack_b(context, panels.data(), b.view());
  args.packed_b = panels.data();
  cpu::matmul(context, args);
  return out;
}

// The columns of a whole matrix in which b's lie apart: its rows, or columns, are no neighbours.
template <class T>
Array<T> part_of_wider(const Array<T>& b) {
  Array<T> wider = normal<T>({b.sizes[0], b.sizes[1], b.sizes[2] + 37}, 9);
  wider.sizes[2] = b.sizes[2];
  wider.offset = 5;
  for (int64_t i = 0; i < b.numel(); ++i) wider[i] = b[i];
  return wider;
}

template <class T>
void expect_bits_of_panels(int64_t batch, int64_t m, int64_t n, int64_t k) {
  const auto a = normal<T>({batch, m, k}, 1), b = normal<T>({batch, k, n}, 2);
  const auto bias = normal<T>({n}, 3);
  const Array<T> wider = part_of_wider(b), none({0});
  for_isas([&](cpu::Isa) {
    const auto want = product(plain_context(), a, b, none, true);
    const auto biased = product(plain_context(), a, b, bias, true);
    for (const auto& left : {a, a.crossed()}) {
      for (const auto& right : {b, b.crossed(), wider}) {
        ASSERT_TRUE(same_bits(want.data, product(plain_context(), left, right, none).data));
      }
    }
    for (const auto& right : {b, b.crossed()}) {
      ASSERT_TRUE(same_bits(biased.data, product(plain_context(), a, right, bias).data));
      for (const Context& c : contexts())
        ASSERT_TRUE(same_bits(want.data, product(c, a, right, none).data));
    }
  });
}

// More than 2^20 bytes of b. The heights are those of each way and of its neighbours, the widths
// end within strips, panels and vectors.
TEST(LargeProducts, OfFewRowsHaveTheBitsOfPanels) {
  for (const int64_t m : {2, 3, 5, 8, 9, 13, 33, 48, 49, 201, 384, 385}) {
    SCOPED_TRACE(m);
    expect_bits_of_panels<float>(1, m, 427, 701);
  }
  expect_bits_of_panels<float>(2, 3, 97, 2800);
  expect_bits_of_panels<float>(2, 17, 2801, 97);
  expect_bits_of_panels<double>(1, 2, 405, 401);
  expect_bits_of_panels<double>(1, 7, 406, 390);
  expect_bits_of_panels<double>(1, 24, 390, 401);
  expect_bits_of_panels<double>(1, 192, 390, 401);
}

// More than 16 values of k for each row and column, cut among any number of threads.
TEST(LargeProducts, OfLongSumsHaveTheBitsOfPanelsOnAnyNumberOfThreads) {
  for (const int32_t threads : {1, 2, 3, 16}) {
    SCOPED_TRACE(threads);
    told_threads = threads;
    expect_bits_of_panels<float>(1, 33, 70, 6200);
    expect_bits_of_panels<float>(1, 101, 45, 4620);
    expect_bits_of_panels<double>(1, 40, 33, 5400);
  }
  told_threads = 2;
}

}  // namespace
}  // namespace libdl::kernels::test
