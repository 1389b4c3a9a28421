// SPDX-License-Identifier: Apache-2.0

// Sparse matrices below the operators, and bags composed of other operators as on a device.
#include "tensor/sparse_rows.h"
#include "entries/arithmetic.h"
#include "entries/nn.h"
#include "entries/view.h"
#include "ops/pointwise/arithmetic.h"
#include "tests/core/derivatives.h"

namespace libdl {
namespace {

using testing::doubles;
using testing::expect_derivatives;
using List = std::vector<Tensor>;
using V = std::vector<double>;
using Numbers = std::vector<int64_t>;

V values(const Tensor& x) {
  const Tensor all = plain(x, Dtype::kFloat64);
  return {all.read_plain<double>(), all.read_plain<double>() + all.numel()};
}

Tensor list(const Numbers& numbers) {
  const int64_t count[] = {std::ssize(numbers)};
  const Tensor x = empty(count, Dtype::kInt64);
  std::ranges::copy(numbers, x.overwrite_plain<int64_t>());
  return x;
}

Tensor matrix(const V& elements, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  const Tensor x = empty(shape, Dtype::kFloat64);
  std::ranges::copy(elements, x.overwrite_plain<double>());
  return x;
}

// Rows 1 and 3 of five.
Tensor example() {
  const int64_t shape[] = {5, 2};
  return sparse_matrix(shape, {1, 3}, matrix({1, 2, 3, 4}, 2, 2));
}

TEST(SparseRows, AMatrixOfWhichTwoRowsAreHeld) {
  const Tensor x = example();
  ASSERT_TRUE(is_sparse(x));
  EXPECT_EQ(*held_rows(x), (Numbers{1, 3}));
  EXPECT_EQ(values(held_values(x)), (V{1, 2, 3, 4}));
  EXPECT_EQ(values(x), (V{0, 0, 1, 2, 0, 0, 3, 4, 0, 0}));
  EXPECT_EQ(*held_rows(x), (Numbers{1, 3})) << "reading has not changed it";
  EXPECT_EQ(values(held_values(x)), (V{1, 2, 3, 4})) << "from the plain bytes";
  EXPECT_TRUE(is_sparse(alias(x)));
  const int64_t turned[] = {2, 5};
  EXPECT_FALSE(is_sparse(reshape(x, turned)));
  EXPECT_FALSE(is_sparse(number(1.0)));
}

TEST(SparseRows, OtherRowsAreTaken) {
  for (const bool looked : {false, true}) {
    const Tensor x = example();
    if (looked) values(x);
    const PackedReader reading = sparse_rows_of(x);
    const int64_t shape[] = {5, 2};
    take_rows(x, sparse_matrix(shape, {0}, matrix({7, 8}, 1, 2)), "test");
    EXPECT_EQ(*held_rows(x), Numbers{0});
    EXPECT_EQ(x.storage().version.load(), 1u);
    if (reading.data()) {
      EXPECT_EQ(rows_in(reading).count, 2) << "whoever reads the form keeps it";
    }
    EXPECT_EQ(values(x), (V{7, 8, 0, 0, 0, 0, 0, 0, 0, 0}));
    take_rows(x, sparse_matrix(shape, {}, matrix({}, 0, 2)), "test");
    EXPECT_EQ(held_rows(x)->size(), 0u);
    EXPECT_EQ(values(x), V(10, 0.0));
  }
}

TEST(SparseRows, AWriteEndsIt) {
  const Tensor x = example(), one = number(1.0);
  add(x, one, nullptr, Into(x));
  EXPECT_FALSE(is_sparse(x));
  EXPECT_EQ(values(x), (V{1, 1, 2, 3, 1, 1, 4, 5, 1, 1}));
}

TEST(SparseRows, SumsOfDifferentRows) {
  const int64_t shape[] = {5, 2};
  const Tensor x = example(), y = sparse_matrix(shape, {0, 3}, matrix({5, 6, 7, 8}, 2, 2));
  EXPECT_EQ(*held_rows(add(x, y)), (Numbers{0, 1, 3}));
  EXPECT_EQ(values(held_values(sub(x, y))), (V{-5, -6, 1, 2, -4, -4}));
  EXPECT_FALSE(is_sparse(mul(x, y)));
  EXPECT_FALSE(is_sparse(add(x, number(1.0))));
  EXPECT_EQ(*held_rows(mul(number(2.0), x)), (Numbers{1, 3}));
  EXPECT_FALSE(is_sparse(div(number(2.0), x, {})));
}

TEST(SparseRows, EmptyOnes) {
  const int64_t none[] = {0, 3}, thin[] = {4, 0};
  for (const Dims shape : {Dims(none), Dims(thin)}) {
    const int64_t held[] = {0, shape[1]};
    const Tensor x = sparse_matrix(shape, {}, empty(held, Dtype::kFloat32));
    EXPECT_TRUE(is_sparse(x));
    EXPECT_EQ(held_values(x).numel(), 0);
    EXPECT_EQ(values(x).size(), 0u);
    EXPECT_TRUE(is_sparse(mul(x, number(2.0))));
  }
}

// -- bags -----------------------------------------------------------------------------------------

TEST(EmbeddingBag, Derivatives) {
  const Tensor at = list({3, 1, 1, 0, 2}), offsets = list({0, 2, 2});
  for (const char* mode : {"sum", "mean", "max"})
    expect_derivatives(
        [&](const List& w) { return embedding_bag(at, w[0], &offsets, false, mode); },
        {doubles(Shape{4, 2}, 1)});
  expect_derivatives(
      [&](const List& w) {
        return embedding_bag(at, w[0], &offsets, false, "sum", false, &w[1], false, 1);
      },
      {doubles(Shape{4, 2}, 1), doubles(Shape{5}, 2)});
}

TEST(EmbeddingBag, FrequenciesAndSizesDivideTheGradient) {
  const Tensor at = list({1, 1, 0, 1}), offsets = list({0, 2}), w = doubles(Shape{3, 1}, 1);
  set_requires_grad(w, true);
  const Tensor outputs[] = {embedding_bag(at, w, &offsets, true)}, inputs[] = {w};
  const Tensor ones[] = {full(Shape{2, 1}, number(1.0), Dtype::kFloat64)};
  const V found = values(grad(outputs, inputs, ones, {})[0]);
  EXPECT_DOUBLE_EQ(found[0], 0.5);
  EXPECT_DOUBLE_EQ(found[1], 0.5);  // half of each third, twice, and of the other bag's
  EXPECT_EQ(found[2], 0);
}

}  // namespace
}  // namespace libdl
