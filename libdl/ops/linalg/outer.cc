// SPDX-License-Identifier: Apache-2.0

// Sums of products of pairs: of all pairs, and of those that dimensions tell.
#include <algorithm>
#include <array>

#include "entries/arithmetic.h"
#include "entries/linalg.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/view/view.h"

namespace libdl {

static void require_vector(const char* op, const char* name, const Tensor& x) {
  if (x.ndim() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(x.shape()), "1-d");
}

Tensor outer_impl(const Tensor& input, const Tensor& vec2) {
  require_vector("outer", "input", input);
  require_vector("outer", "vec2", vec2);
  return mul(unsqueeze(input, 1), vec2);
}

Tensor vdot_impl(const Tensor& input, const Tensor& other) {
  return rename_error("vdot", {{"input", "input"}, {"tensor", "other"}},
                      [&] { return dot(input.is_complex() ? conj(input) : input, other); });
}

Tensor inner_impl(const Tensor& input, const Tensor& other) {
  if (input.ndim() == 0 || other.ndim() == 0) return mul(input, other);
  const int64_t n = input.size(input.ndim() - 1);
  if (n != other.size(other.ndim() - 1))
    fail_argument(LIBDL_ERROR_SHAPE, "inner", "other", "has shape " + to_string(other.shape()),
                  "a last dimension of size " + std::to_string(n) + ", as argument (input)");
  const std::array<int64_t, 1> last{-1};
  return rename_error("inner", {{"a", "input"}, {"tensor", "other"}, {"b", "other"}}, [&] {
    if (input.ndim() == 1 && other.ndim() == 1) return dot(input, other);
    return tensordot(input, other, last, last);
  });
}

Tensor linalg_vecdot_impl(const Tensor& x, const Tensor& y, int32_t dim) {
  // Two vectors alone do not broadcast.
  if (x.ndim() == 1 && y.ndim() == 1 && x.size(0) != y.size(0))
    fail_argument(LIBDL_ERROR_SHAPE, "linalg_vecdot", "y", "has shape " + to_string(y.shape()),
                  to_string(x.shape()));
  const std::array<int64_t, 1> along{dim};
  return rename_error("linalg_vecdot", {{"input", "x"}, {"other", "y"}, {"dims", "dim"}},
                      [&] { return sum(mul(x.is_complex() ? conj(x) : x, y), Dims(along)); });
}

// -- tensordot ------------------------------------------------------------------------------------

namespace {

// A tensor's dimensions: those that stay, then those that are summed, in the order of the list.
struct Split {
  Shape kept, summed;

  Split(const char* name, const Tensor& x, Dims dims) {
    Shape seen(static_cast<size_t>(x.ndim()), 0);
    for (const int64_t d : dims) {
      if (d < -x.ndim() || d >= x.ndim())
        fail_argument(LIBDL_ERROR_INDEX, "tensordot", name, "names " + std::to_string(d),
                      std::to_string(-x.ndim()) + " to " + std::to_string(x.ndim() - 1));
      const int64_t at = d < 0 ? d + x.ndim() : d;
      if (seen[static_cast<size_t>(at)]++)
        fail_argument(LIBDL_ERROR_VALUE, "tensordot", name,
                      "names dimension " + std::to_string(at) + " twice", "each once");
      summed.push_back(at);
    }
    for (int64_t d = 0; d < x.ndim(); ++d)
      if (!seen[static_cast<size_t>(d)]) kept.push_back(d);
  }
};

Shape joined(const Shape& first, const Shape& second) {
  Shape all(first);
  for (const int64_t d : second) all.push_back(d);
  return all;
}

int64_t sizes_of(const Tensor& x, const Shape& dims, Shape* sizes = nullptr) {
  int64_t count = 1;
  for (const int64_t d : dims) {
    const int64_t n = x.size(static_cast<int>(d));
    count *= n;
    if (sizes) sizes->push_back(n);
  }
  return count;
}

// Along the dimensions where only x has more than one element, x is summed before it is multiplied.
Tensor summed_alone(const Tensor& x, const Shape& own, const Tensor& other, const Shape& others) {
  Shape alone;
  for (size_t i = 0; i < own.size(); ++i) {
    const int64_t n = x.size(static_cast<int>(own[i]));
    if (n != 1 && other.size(static_cast<int>(others[i])) == 1) alone.push_back(own[i]);
  }
  return alone.empty() ? x : sum(x, Dims(alone), true, x.dtype());
}

}  // namespace

Tensor tensordot_impl(const Tensor& a, const Tensor& b, Dims dims_a, Dims dims_b) {
  if (dims_a.size() != dims_b.size())
    fail_argument(LIBDL_ERROR_VALUE, "tensordot", "dims_b",
                  "names " + std::to_string(dims_b.size()) + " dimensions",
                  std::to_string(dims_a.size()) + ", as argument (dims_a)");
  const Split of_a("dims_a", a, dims_a), of_b("dims_b", b, dims_b);
  for (size_t i = 0; i < of_a.summed.size(); ++i) {
    const int64_t n = a.size(static_cast<int>(of_a.summed[i]));
    const int64_t m = b.size(static_cast<int>(of_b.summed[i]));
    if (n != m && n != 1 && m != 1)
      fail_argument(LIBDL_ERROR_SHAPE, "tensordot", "b", "has shape " + to_string(b.shape()),
                    "size " + std::to_string(n) + " in dimension " +
                        std::to_string(of_b.summed[i]) + ", as its partner in argument (a)");
  }
  const Tensor x = summed_alone(a, of_a.summed, b, of_b.summed);
  const Tensor y = summed_alone(b, of_b.summed, a, of_a.summed);
  Shape result;
  const int64_t rows = sizes_of(x, of_a.kept, &result), inner = sizes_of(x, of_a.summed);
  const int64_t columns = sizes_of(y, of_b.kept, &result);
  const std::array<int64_t, 2> left{rows, inner}, right{inner, columns};
  return rename_error("tensordot", {{"input", "a"}, {"mat2", "b"}}, [&] {
    const Tensor product = mm(reshape(permute(x, joined(of_a.kept, of_a.summed)), left),
                              reshape(permute(y, joined(of_b.summed, of_b.kept)), right));
    return own(reshape(product, result));
  });
}

}  // namespace libdl
