// SPDX-License-Identifier: Apache-2.0

#include "entries/indexing.h"
#include "entries/nn.h"
#include "entries/view.h"
#include "tests/core/derivatives.h"

namespace libdl {
namespace {

using testing::doubles;
using testing::expect_derivatives;
using List = std::vector<Tensor>;

Tensor of(std::vector<int64_t> values, std::vector<int64_t> shape) {
  const Tensor x = empty(shape, Dtype::kInt64);
  std::copy(values.begin(), values.end(), x.update_plain<int64_t>());
  return x;
}
Tensor list(std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return of(std::move(values), {count});
}
Tensor mask(std::vector<int> values, std::vector<int64_t> shape) {
  const Tensor x = empty(shape, Dtype::kBool);
  std::copy(values.begin(), values.end(), x.update_plain<uint8_t>());
  return x;
}
Tensor counting(std::vector<int64_t> shape, Dtype dtype = Dtype::kFloat64) {
  const Tensor x = empty(shape, Dtype::kFloat64);
  for (int64_t i = 0; i < x.numel(); ++i) x.update_plain<double>()[i] = static_cast<double>(i);
  return cast(x, dtype);
}
std::vector<double> values(const Tensor& x) {
  const Tensor all = plain(x, Dtype::kFloat64);
  return {all.read_plain<double>(), all.read_plain<double>() + all.numel()};
}
using V = std::vector<double>;

template <class F>
void expect_error(libdl_error_code code, const std::string& message, F&& f) {
  try {
    f();
    ADD_FAILURE() << "no error, wanted: " << message;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_EQ(e.message(), message);
  }
}

// -- gather, scatter ------------------------------------------------------------------------------

TEST(GatherOp, ValuesAndDerivatives) {
  const Tensor index = of({0, -1, 2, 0, 1, 1}, {2, 3});  // one element twice
  EXPECT_EQ(values(gather(counting({3, 4}), 0, index)), (V{0, 9, 10, 0, 5, 6}));
  EXPECT_EQ(values(gather(transpose(counting({3, 4}), 0, 1), 1, index)), (V{0, 8, 8, 1, 5, 5}));
  expect_derivatives([&](const List& x) { return gather(x[0], 0, index); },
                     {doubles(Shape{3, 4}, 1)});
  expect_derivatives([&](const List& x) { return gather(x[0], 0, of({0}, {})); },
                     {doubles(Shape{}, 1)});
}

TEST(GatherOp, NamesTheValueAndItsPosition) {
  const Tensor x = counting({3, 4});
  expect_error(LIBDL_ERROR_INDEX,
               "gather: argument (index) holds 5 at position [0, 2], wanted -3 to 2",
               [&] { gather(x, 0, of({0, 1, 5, 0}, {1, 4})); });
  expect_error(LIBDL_ERROR_INDEX,
               "gather: argument (index) holds -4 at position [1, 1], wanted -3 to 2",
               [&] { gather(x, 0, of({0, 1, 2, 0, -4, 9}, {2, 3})); });
  expect_error(LIBDL_ERROR_INDEX, "gather: argument (dim) is 2, wanted -2 to 1",
               [&] { gather(x, 2, of({0}, {1, 1})); });
  expect_error(LIBDL_ERROR_SHAPE,
               "gather: argument (index) has shape [4, 1], wanted no larger sizes than input's "
               "[3, 4] outside dimension 1",
               [&] { gather(x, 1, of({0, 0, 0, 0}, {4, 1})); });
  expect_error(LIBDL_ERROR_DTYPE, "gather: argument (index) is float64, wanted int64 or int32",
               [&] { gather(x, 1, counting({1, 1})); });
  expect_error(LIBDL_ERROR_INDEX,
               "gather: argument (index) holds 0 at position [0, 0], wanted no index into a "
               "dimension of size 0",
               [&] { gather(counting({3, 0}), 1, of({0}, {1, 1})); });
}

TEST(ScatterOp, ValuesAndDerivatives) {
  const Tensor index = of({2, 0, 1, 0, 1, -1}, {2, 3});
  const Tensor zero = zeros(Shape{3, 3}, Dtype::kFloat64);
  EXPECT_EQ(values(scatter(zero, 0, index, counting({2, 3}))), (V{3, 1, 0, 0, 4, 2, 0, 0, 5}));
  EXPECT_EQ(values(scatter(zero, 0, index, number(7.0))), (V{7, 7, 0, 0, 7, 7, 7, 0, 7}));
  EXPECT_EQ(values(scatter(counting({3}), 0, list({1, 1}), counting({2}), "add")), (V{0, 2, 2}));
  EXPECT_EQ(values(scatter(counting({3}), 0, list({2, 2}), number(int64_t{3}), "multiply")),
            (V{0, 1, 18}));
  const List in = {doubles(Shape{3, 3}, 1), doubles(Shape{2, 3}, 2)};
  expect_derivatives([&](const List& x) { return scatter(x[0], 0, index, x[1]); }, in);
  expect_derivatives([&](const List& x) { return scatter_add(x[0], 0, index, x[1]); }, in);
  // src larger than index, and one value for all
  expect_derivatives([&](const List& x) { return scatter_add(x[0], 0, index, x[1]); },
                     {in[0], doubles(Shape{4, 5}, 3)});
  expect_derivatives([&](const List& x) { return scatter(x[0], 0, index, x[1]); },
                     {in[0], doubles(Shape{}, 3)});
}

TEST(ScatterOp, InPlaceWritesAndRecords) {
  const Tensor index = of({2, 0}, {2});
  expect_derivatives(
      [&](const List& x) {
        const Tensor y = clone(x[0]);
        EXPECT_TRUE(scatter_add(y, 0, index, x[1], Into(y)).is(y));
        return y;
      },
      {doubles(Shape{3}, 1), doubles(Shape{2}, 2)});
  const Tensor x = counting({4}), view = narrow(x, 0, 1, 3);
  const uint64_t before = x.storage().version;
  scatter(view, 0, list({0}), number(9.0), {}, Into(view));
  EXPECT_EQ(values(x), (V{0, 9, 2, 3}));
  EXPECT_GT(x.storage().version, before);
}

TEST(ScatterOp, BadIndexChangesNothing) {
  const Tensor x = counting({3});
  expect_error(LIBDL_ERROR_INDEX,
               "scatter: argument (index) holds -4 at position [1], wanted -3 to 2",
               [&] { scatter(x, 0, list({0, -4}), number(9.0), {}, Into(x)); });
  EXPECT_EQ(values(x), (V{0, 1, 2}));
}

TEST(ScatterOp, IndexThatSharesTheDestinationsMemory) {
  const Tensor x = list({2, 1, 0});
  scatter(x, 0, x, number(int64_t{1000}), {}, Into(x));
  EXPECT_EQ(values(x), (V{1000, 1000, 1000}));
}

TEST(TakeAlongDim, Broadcasts) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(values(take_along_dim(x, of({2, 0}, {1, 2}), 1)), (V{2, 0, 5, 3}));
  EXPECT_EQ(values(take_along_dim(x, list({5, 0}), {})), (V{5, 0}));
  expect_derivatives([&](const List& a) { return take_along_dim(a[0], of({1, 0, 1}, {3, 1}), 1); },
                     {doubles(Shape{1, 2}, 1)});
}

// -- slices ---------------------------------------------------------------------------------------

TEST(IndexSelect, EveryDimension) {
  const Tensor x = counting({2, 3, 10});
  EXPECT_EQ(values(index_select(counting({2, 3}), 1, list({2, -3}))), (V{2, 0, 5, 3}));
  for (int dim = 0; dim < 3; ++dim) {
    const Tensor at = list({1, 0, -1, 1});
    Shape shape(x.shape());
    shape[dim] = 4;
    const Tensor y = index_select(x, dim, at);
    ASSERT_TRUE(same(y.shape(), shape));
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t from = std::vector<int64_t>{1, 0, x.size(dim) - 1, 1}[k];
      EXPECT_EQ(values(select(y, dim, k)), values(select(x, dim, from)));
    }
    expect_derivatives([&](const List& a) { return index_select(a[0], dim, at); },
                       {doubles(x.shape(), 4)});
  }
}

TEST(IndexAdd, AndCopyAndFill) {
  for (int dim = 0; dim < 2; ++dim) {
    const Tensor at = list({1, -1});
    Shape part{3, 3};
    part[dim] = 2;
    const List in = {doubles(Shape{3, 3}, 1), doubles(part, 2)};
    expect_derivatives([&](const List& x) { return index_add(x[0], dim, at, x[1]); }, in);
    expect_derivatives([&](const List& x) { return index_copy(x[0], dim, at, x[1]); }, in);
    const Tensor two = number(2.0);
    expect_derivatives([&](const List& x) { return index_add(x[0], dim, at, x[1], &two); }, in);
    expect_derivatives([&](const List& x) { return index_fill(x[0], dim, at, x[1]); },
                       {in[0], doubles(Shape{}, 5)});
  }
  const Tensor zero = zeros(Shape{2, 2}, Dtype::kFloat64), two = number(2.0);
  EXPECT_EQ(values(index_add(zero, 0, list({1, 1}), counting({2, 2}), &two)), (V{0, 0, 4, 8}));
  EXPECT_EQ(values(index_copy(zero, 1, list({1}), counting({2, 1}))), (V{0, 0, 0, 1}));
  EXPECT_EQ(values(index_fill(zero, 1, list({0}), number(3.0))), (V{3, 0, 3, 0}));
}

// -- advanced indexing ----------------------------------------------------------------------------

TEST(IndexOp, PlacesTheIndexShape) {
  const Tensor x = counting({2, 3, 4}), one = list({1, 0}), two = of({2, 0, 1}, {3, 1});
  // Neighbours stay where they are.
  const List middle = {Tensor(), one, list({3, 0})};
  EXPECT_EQ(values(index(x, middle)), (V{7, 0, 19, 12}));
  // Others come first, broadcast: [3, 2, 3].
  const List apart = {one, Tensor(), two};
  const Tensor y = index(x, apart);
  ASSERT_TRUE(same(y.shape(), Shape{3, 2, 3}));
  EXPECT_EQ(values(select(y, 0, 1)), (V{12, 16, 20, 0, 4, 8}));
  for (const List& indices : {middle, apart, List{Tensor(), two}, List{of({1}, {})}})
    expect_derivatives([&](const List& a) { return index(a[0], indices); },
                       {doubles(x.shape(), 1)});
}

TEST(IndexOp, Masks) {
  const Tensor x = counting({2, 3});
  const List both = {mask({1, 0, 0, 0, 1, 1}, {2, 3})};
  EXPECT_EQ(values(index(x, both)), (V{0, 4, 5}));
  const List columns = {Tensor(), mask({1, 0, 1}, {3})};
  EXPECT_EQ(values(index(x, columns)), (V{0, 2, 3, 5}));
  const List none = {mask({0, 0}, {2})};
  EXPECT_TRUE(same(index(x, none).shape(), Shape{0, 3}));
  expect_derivatives([&](const List& a) { return index(a[0], columns); }, {doubles(x.shape(), 1)});
}

// As the new form: input is expanded to the shape that it has with the mask.
TEST(MaskedScatter, WritesIntoTheBroadcastShape) {
  const Tensor dst = of({9, 9, 9, 9, 9, 9}, {2, 3});
  masked_scatter(of({7}, {1}), mask({1, 0, 0, 0, 1, 1}, {2, 3}), of({1, 2, 3}, {3}), Into(dst));
  EXPECT_EQ(values(dst), (V{1, 7, 7, 7, 2, 3}));
}

TEST(IndexOp, Errors) {
  const Tensor x = counting({2, 3});
  expect_error(LIBDL_ERROR_INDEX,
               "index: argument (indices) holds 3 at position [1], wanted -3 to 2",
               [&] { index(x, List{Tensor(), list({0, 3})}); });
  expect_error(LIBDL_ERROR_INDEX,
               "index: argument (indices) name more dimensions than input has, wanted at most 2",
               [&] { index(x, List{list({0}), list({0}), list({0})}); });
  expect_error(LIBDL_ERROR_SHAPE,
               "index: argument (indices) hold a mask of shape [3], wanted [2], the sizes it "
               "stands for",
               [&] { index(x, List{mask({1, 1, 1}, {3})}); });
  expect_error(LIBDL_ERROR_SHAPE,
               "index: argument (indices) have shapes that do not broadcast: [2] and [3], wanted "
               "one common shape",
               [&] { index(x, List{list({0, 1}), list({0, 1, 2})}); });
}

TEST(IndexPut, ValuesAndDerivatives) {
  const Tensor x = counting({3, 2});
  const List rows = {list({0, -1, 0})};
  EXPECT_EQ(values(index_put(x, rows, number(1.0), true)), (V{2, 3, 2, 3, 5, 6}));
  EXPECT_EQ(values(index_put(x, rows, counting({3, 1}))), (V{2, 2, 2, 3, 1, 1}));
  const List in = {doubles(Shape{3, 2}, 1), doubles(Shape{3, 1}, 2)};
  expect_derivatives([&](const List& a) { return index_put(a[0], rows, a[1], true); }, in);
  const List once = {list({2, 0})};
  expect_derivatives([&](const List& a) { return index_put(a[0], once, a[1]); },
                     {in[0], doubles(Shape{2}, 2)});
  expect_error(LIBDL_ERROR_SHAPE,
               "index_put: argument (values) has shape [2, 2], wanted one that broadcasts to "
               "[3, 2]",
               [&] { index_put(x, rows, counting({2, 2})); });
}

TEST(IndexPut, InPlaceThroughAView) {
  const Tensor x = counting({3, 2}), column = select(x, 1, 1);
  index_put(column, List{list({0, 2})}, number(-1.0), false, Into(column));
  EXPECT_EQ(values(x), (V{0, -1, 2, 3, 4, -1}));
  expect_derivatives(
      [&](const List& a) {
        const Tensor y = clone(a[0]);
        index_put(y, List{list({1, 1})}, a[1], true, Into(y));
        return y;
      },
      {doubles(Shape{3, 2}, 1), doubles(Shape{2, 2}, 2)});
}

// -- masks ----------------------------------------------------------------------------------------

TEST(Masked, FillSelectScatter) {
  const Tensor x = counting({2, 3}), row = mask({1, 0, 1}, {3});
  EXPECT_EQ(values(masked_fill(x, row, number(int64_t{9}))), (V{9, 1, 9, 9, 4, 9}));
  EXPECT_EQ(values(masked_select(x, row)), (V{0, 2, 3, 5}));
  EXPECT_EQ(values(masked_select(counting({3}), mask({1, 0}, {2, 1}))), (V{0, 1, 2}));
  EXPECT_EQ(values(masked_scatter(x, row, counting({5}))), (V{0, 1, 1, 2, 4, 3}));
  const List in = {doubles(Shape{2, 3}, 1), doubles(Shape{5}, 2)};
  expect_derivatives([&](const List& a) { return masked_fill(a[0], row, a[1]); },
                     {in[0], doubles(Shape{}, 2)});
  expect_derivatives([&](const List& a) { return masked_select(a[0], row); }, {in[0]});
  expect_derivatives([&](const List& a) { return masked_scatter(a[0], row, a[1]); }, in);
  expect_error(LIBDL_ERROR_DTYPE, "masked_select: argument (mask) is float64, wanted bool",
               [&] { masked_select(x, x); });
  expect_error(LIBDL_ERROR_SHAPE,
               "masked_scatter: argument (source) has 3 elements, wanted at least 4, one for "
               "each true element of mask",
               [&] { masked_scatter(x, row, counting({3})); });
}

TEST(NonzeroOp, Shapes) {
  EXPECT_EQ(values(nonzero(counting({2, 2}))), (V{0, 1, 1, 0, 1, 1}));
  EXPECT_TRUE(same(nonzero(counting({0, 2})).shape(), Shape{0, 2}));
  EXPECT_TRUE(same(nonzero(number(3.0)).shape(), Shape{1, 0}));
}

// -- order ----------------------------------------------------------------------------------------

TEST(SortOp, ValuesAndDerivatives) {
  const Tensor x = cast(of({3, 1, 2, 1, 5, 4}, {2, 3}), Dtype::kFloat64);
  const auto [sorted, where] = sort(x, 0, true, true);
  EXPECT_EQ(values(sorted), (V{3, 5, 4, 1, 1, 2}));
  EXPECT_EQ(values(where), (V{0, 1, 1, 1, 0, 0}));
  EXPECT_TRUE(sorted.is_contiguous());
  EXPECT_EQ(values(argsort(x, -1, false, false)), (V{1, 2, 0, 0, 2, 1}));
  const auto [top, at] = topk(x, 2, -1, true, true);
  EXPECT_EQ(values(top), (V{3, 2, 5, 4}));
  EXPECT_EQ(values(at), (V{0, 2, 1, 2}));
  for (int dim = 0; dim < 2; ++dim) {
    expect_derivatives([&](const List& a) { return std::get<0>(sort(a[0], dim, false, false)); },
                       {doubles(Shape{4, 5}, 1)});
    expect_derivatives([&](const List& a) { return std::get<0>(topk(a[0], 2, dim, true, true)); },
                       {doubles(Shape{4, 5}, 1)});
  }
  expect_derivatives([&](const List& a) { return std::get<0>(sort(a[0], 0, false, false)); },
                     {doubles(Shape{}, 1)});
}

TEST(SortOp, Kthvalue) {
  const Tensor x = cast(of({3, 1, 2, 1, 5, 1}, {2, 3}), Dtype::kFloat64);
  const auto [second, where] = kthvalue(x, 2, 1, false);
  EXPECT_EQ(values(second), (V{2, 1}));
  EXPECT_EQ(values(where), (V{2, 2}));
  EXPECT_TRUE(same(std::get<0>(kthvalue(x, 1, 0, true)).shape(), Shape{1, 3}));
  expect_derivatives([&](const List& a) { return std::get<0>(kthvalue(a[0], 3, 1, false)); },
                     {doubles(Shape{4, 5}, 1)});
  expect_error(LIBDL_ERROR_VALUE, "kthvalue: argument (k) is 0, wanted 1 to 3",
               [&] { kthvalue(x, 0, 1, false); });
}

TEST(SortOp, IntoBothOrNeither) {
  const Tensor x = cast(list({3, 1, 2}), Dtype::kFloat64);
  const Tensor v = zeros(Shape{3}, Dtype::kFloat64), i = zeros(Shape{3}, Dtype::kInt64);
  sort(x, 0, false, false, Into(v), Into(i));
  EXPECT_EQ(values(v), (V{1, 2, 3}));
  EXPECT_EQ(values(i), (V{1, 2, 0}));
  const Tensor wrong = zeros(Shape{2}, Dtype::kInt64), fresh = zeros(Shape{3}, Dtype::kFloat64);
  expect_error(LIBDL_ERROR_SHAPE, "sort: argument (dst) has shape [2], wanted [3]",
               [&] { sort(x, 0, false, false, Into(fresh), Into(wrong)); });
  EXPECT_EQ(values(fresh), (V{0, 0, 0}));
  expect_error(LIBDL_ERROR_VALUE, "topk: argument (k) is 4, wanted 0 to 3",
               [&] { topk(x, 4, 0, true, true); });
}

// -- embedding ------------------------------------------------------------------------------------

TEST(Embedding, GradientWithPaddingAndFrequency) {
  const Tensor at = of({1, 3, 1, 0}, {2, 2});
  EXPECT_EQ(values(embedding(at, counting({4, 2}))), (V{2, 3, 6, 7, 2, 3, 0, 1}));
  expect_derivatives([&](const List& w) { return embedding(at, w[0]); }, {doubles(Shape{4, 2}, 1)});
  const Tensor w = counting({4, 2});
  set_requires_grad(w, true);
  const Tensor outputs[] = {embedding(at, w, -1, true)};
  const Tensor ones[] = {full(Shape{2, 2, 2}, number(1.0), Dtype::kFloat64)}, inputs[] = {w};
  EXPECT_EQ(values(grad(outputs, inputs, ones, {})[0]), (V{1, 1, 1, 1, 0, 0, 0, 0}));
  expect_error(LIBDL_ERROR_INDEX,
               "embedding: argument (input) holds 4 at position [0], wanted -4 to 3",
               [&] { embedding(list({4}), w); });
}

}  // namespace
}  // namespace libdl
