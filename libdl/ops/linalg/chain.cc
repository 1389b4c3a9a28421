// SPDX-License-Identifier: Apache-2.0

// Products of several matrices.
#include <limits>
#include <vector>

#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/linalg.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/view/view.h"

namespace libdl {

namespace {

// Which product of tensors i..j is the last one, by dynamic programming (T. H. Cormen et al.,
// Introduction to Algorithms, section 15.2).
class Order {
 public:
  explicit Order(const std::vector<Tensor>& each) : n_(each.size()), best_(n_ * n_) {
    std::vector<double> sizes;
    sizes.reserve(n_ + 1);
    for (const Tensor& x : each) sizes.push_back(static_cast<double>(x.size(0)));
    sizes.push_back(static_cast<double>(each.back().size(1)));
    for (size_t length = 1; length < n_; ++length)
      for (size_t i = 0; i + length < n_; ++i) choose(i, i + length, sizes);
  }

  Tensor multiplied(const std::vector<Tensor>& each, size_t i, size_t j) const {
    if (i == j) return each[i];
    const size_t k = best_[i * n_ + j].last;
    return mm(multiplied(each, i, k), multiplied(each, k + 1, j));
  }

 private:
  struct Choice {
    double cost = 0;  // multiplications
    size_t last = 0;  // of the tensors left of the last product
  };

  void choose(size_t i, size_t j, const std::vector<double>& sizes) {
    Choice& best = best_[i * n_ + j] = {std::numeric_limits<double>::infinity(), i};
    for (size_t k = i; k < j; ++k) {
      const double cost = best_[i * n_ + k].cost + best_[(k + 1) * n_ + j].cost +
                          sizes[i] * sizes[k + 1] * sizes[j + 1];
      if (cost < best.cost) best = {cost, k};
    }
  }

  size_t n_;
  std::vector<Choice> best_;
};

void check_chain(TensorSpan tensors) {
  const char* const op = "linalg_multi_dot";
  if (tensors.size() < 2)
    fail_argument(LIBDL_ERROR_VALUE, op, "tensors", "holds " + std::to_string(tensors.size()),
                  "two or more");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const bool end = i == 0 || i + 1 == tensors.size();
    if (tensors[i].ndim() != 2 && !(end && tensors[i].ndim() == 1))
      fail_argument(
          LIBDL_ERROR_SHAPE, op, "tensors",
          "holds shape " + to_string(tensors[i].shape()) + " as number " + std::to_string(i),
          "a matrix");
  }
}

}  // namespace

Tensor linalg_multi_dot_impl(TensorSpan tensors) {
  check_chain(tensors);
  std::vector<Tensor> each(tensors.begin(), tensors.end());
  const bool row = each.front().ndim() == 1, column = each.back().ndim() == 1;
  if (row) each.front() = unsqueeze(each.front(), 0);
  if (column) each.back() = unsqueeze(each.back(), 1);
  const Order order(each);
  return rename_error("linalg_multi_dot", {{"input", "tensors"}, {"mat2", "tensors"}}, [&] {
    Tensor y = order.multiplied(each, 0, each.size() - 1);
    if (!row && !column) return y;
    return own(reshape(y, y.shape().subspan(row, 2 - row - column)));
  });
}

// By squares: the product of those powers of two that n is the sum of.
Tensor linalg_matrix_power_impl(const Tensor& input, int64_t n) {
  const char* const op = "linalg_matrix_power";
  const int ndim = input.ndim();
  if (ndim < 2 || input.size(ndim - 1) != input.size(ndim - 2))
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "square matrices");
  if (n < 0)
    fail_argument(LIBDL_ERROR_UNSUPPORTED, op, "n", "is " + std::to_string(n),
                  "0 or more: there is no inverse");
  if (n == 0) {  // its gradient is zeros
    const Tensor one = eye(input.size(ndim - 1), {}, input.dtype(), input.device());
    return where(number(false), input, one);
  }
  if (n == 1) return clone(input);
  Tensor power, square = input;
  for (; n; n /= 2) {
    if (n % 2) power = power.defined() ? matmul(power, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  return power;
}

}  // namespace libdl
