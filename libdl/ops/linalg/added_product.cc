// SPDX-License-Identifier: Apache-2.0

// Products that are added to a tensor: y = beta * input + alpha * product.
#include <array>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/linalg.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/view/view.h"

namespace libdl {

namespace {

// -- checks ---------------------------------------------------------------------------------------

// -1: any size.
void require_shape(const char* op, const char* name, const Tensor& x,
                   std::initializer_list<int64_t> expected) {
  bool fits = x.ndim() == static_cast<int>(expected.size());
  std::string expected_text;
  int d = 0;
  for (const int64_t n : expected) {
    fits = fits && (n < 0 || x.size(d) == n);
    expected_text += (d++ ? ", " : "") + (n < 0 ? std::string("any") : std::to_string(n));
  }
  if (!fits)
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(x.shape()),
                  "[" + expected_text + "]");
}

void require_dtype_of(const char* op, const char* name, const Tensor& x, const Tensor& like) {
  if (x.dtype() != like.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(x.dtype()),
                  name_of(like.dtype()));
}

Tensor broadcast(const char* op, const Tensor& input, Dims shape) {
  if (!broadcasts_to(input.shape(), shape))
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "one that broadcasts to " + to_string(shape));
  return expand(input, shape);
}

// -- beta and alpha -------------------------------------------------------------------------------

// None where it is the number 1.
using Scale = std::optional<Tensor>;

bool is(const Tensor& x, double value) {
  return x.is_number() && item_c128(x) == std::tuple(value, 0.0);
}

Scale factor(const char* op, const char* name, const Tensor* bound, Dtype dtype) {
  if (!bound) return {};
  const Tensor value = whole_factor(bound, dtype).value_or(*bound);
  if (value.numel() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(value.shape()), "a number");
  if (category(value.dtype()) > category(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(value.dtype()),
                  std::string("a number that ") + name_of(dtype) + " holds");
  if (is(value, 1)) return {};
  return value.ndim() ? reshape(value, {}) : value;
}

const Tensor* pointer_to(const Scale& by) { return by ? &*by : nullptr; }

Tensor scaled(const Tensor& x, const Scale& by) { return by ? mul(x, *by) : x; }

// beta * input + product. Where beta is 0, input is not read, but has a gradient, of zeros.
Tensor added(const Scale& beta, const Tensor& input, const Tensor& product) {
  if (beta && is(*beta, 0)) {
    const bool differentiable = input.meta() || (input.get()->flags & kStandIn);  // unseen there
    return differentiable ? where(number(true), product, input) : product;
  }
  const Tensor sum = add(scaled(input, beta), product);
  return !beta || beta->is_number() ? sum : where(eq(*beta, number(int64_t{0})), product, sum);
}

}  // namespace

// -- the products ---------------------------------------------------------------------------------

Tensor addmv_impl(const Tensor& input, const Tensor& mat, const Tensor& vec, const Tensor* beta,
                  const Tensor* alpha) {
  require_shape("addmv", "mat", mat, {-1, -1});
  require_shape("addmv", "vec", vec, {mat.size(1)});
  require_dtype_of("addmv", "vec", vec, mat);
  const std::array<int64_t, 1> shape{mat.size(0)};
  const Tensor start = unsqueeze(broadcast("addmv", input, shape), 1);
  const Scale of_input = factor("addmv", "beta", beta, mat.dtype());
  const Scale of_product = factor("addmv", "alpha", alpha, mat.dtype());
  return rename_error("addmv", {{"input", "input"}, {"mat1", "mat"}}, [&] {
    const Tensor column = unsqueeze(vec, 1);
    return own(
        select(addmm(start, mat, column, pointer_to(of_input), pointer_to(of_product)), 1, 0));
  });
}

Tensor baddbmm_impl(const Tensor& input, const Tensor& batch1, const Tensor& batch2,
                    const Tensor* beta, const Tensor* alpha) {
  require_shape("baddbmm", "batch1", batch1, {-1, -1, -1});
  require_shape("baddbmm", "batch2", batch2, {batch1.size(0), batch1.size(2), -1});
  require_dtype_of("baddbmm", "batch2", batch2, batch1);
  require_dtype_of("baddbmm", "input", input, batch1);
  const std::array<int64_t, 3> shape{batch1.size(0), batch1.size(1), batch2.size(2)};
  const Tensor start = broadcast("baddbmm", input, shape);
  const Scale of_input = factor("baddbmm", "beta", beta, input.dtype());
  const Scale of_product = factor("baddbmm", "alpha", alpha, input.dtype());
  return rename_error("baddbmm", {{"input", "batch1"}, {"mat2", "batch2"}}, [&] {
    return added(of_input, start, scaled(bmm(batch1, batch2), of_product));
  });
}

// The sum over the batch is part of one product, of [n, b k] and [b k, m].
Tensor addbmm_impl(const Tensor& input, const Tensor& batch1, const Tensor& batch2,
                   const Tensor* beta, const Tensor* alpha) {
  require_shape("addbmm", "batch1", batch1, {-1, -1, -1});
  require_shape("addbmm", "batch2", batch2, {batch1.size(0), batch1.size(2), -1});
  require_dtype_of("addbmm", "batch2", batch2, batch1);
  const int64_t n = batch1.size(1), m = batch2.size(2), inner = batch1.size(0) * batch1.size(2);
  const std::array<int64_t, 2> shape{n, m}, left{n, inner}, right{inner, m};
  const Tensor start = broadcast("addbmm", input, shape);
  const Scale of_input = factor("addbmm", "beta", beta, batch1.dtype());
  const Scale of_product = factor("addbmm", "alpha", alpha, batch1.dtype());
  return rename_error("addbmm", {{"input", "input"}, {"mat1", "batch1"}}, [&] {
    const Tensor beside = reshape(transpose(batch1, 0, 1), left), below = reshape(batch2, right);
    return addmm(start, beside, below, pointer_to(of_input), pointer_to(of_product));
  });
}

// -- addr -----------------------------------------------------------------------------------------

// Of bools a number that is not 0 is true; fractions are no factors of integers.
static Scale factor_of_pairs(const char* name, const Tensor* pointer_to, Dtype dtype) {
  if (pointer_to && pointer_to->is_number() && dtype == Dtype::kBool && !pointer_to->is_complex() &&
      category(pointer_to->dtype()) < Category::kFloat) {
    const Tensor value = number(!is(*pointer_to, 0));
    return is(value, 1) ? Scale() : Scale(value);
  }
  if (pointer_to && pointer_to->is_number() && category(pointer_to->dtype()) > category(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, "addr", name,
                  std::string("is ") + name_of(pointer_to->dtype()),
                  std::string("a number that ") + name_of(dtype) + " holds");
  return factor("addr", name, pointer_to, dtype);
}

Tensor addr_impl(const Tensor& input, const Tensor& vec1, const Tensor& vec2, const Tensor* beta,
                 const Tensor* alpha) {
  require_shape("addr", "vec1", vec1, {-1});
  require_shape("addr", "vec2", vec2, {-1});
  const std::array<int64_t, 2> shape{vec1.size(0), vec2.size(0)};
  const Tensor start = broadcast("addr", input, shape), pairs = mul(unsqueeze(vec1, 1), vec2);
  const Dtype whole = promote(start.dtype(), pairs.dtype());
  const Scale of_input = factor_of_pairs("beta", beta, whole);
  const Scale of_pairs = factor_of_pairs("alpha", alpha, whole);
  const Tensor product = scaled(pairs, of_pairs);
  return added(of_input, start, product.dtype() == whole ? product : to(product, whole, {}));
}

}  // namespace libdl
