// SPDX-License-Identifier: Apache-2.0

// Common divisors and multiples of integers.

#include <optional>

#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/numbers.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/operand.h"

namespace libdl {

namespace {
struct Pair {
  Tensor x, y;  // of one dtype and shape
};
}  // namespace

static Tensor size_of_each(const Tensor& x) { return is_signed(x.dtype()) ? abs(x) : x; }

static Pair integers(const char* op, const Tensor& input, const Tensor& other) {
  for (const Operand& x : {Operand{input, "input"}, Operand{other, "other"}}) {
    require_tensor(op, x);
    if (const Dtype dtype = x.tensor.dtype(); is_inexact(dtype) || dtype == Dtype::kBool)
      fail_argument(LIBDL_ERROR_UNSUPPORTED, op, x.name, std::string("is ") + name_of(dtype),
                    "integers");
  }
  const Tensor* const operands[] = {&input, &other};
  const char* const names[] = {"input", "other"};
  const Dtype dtype = result_dtype(operands);
  const Shape shape = broadcast_shape(op, names, operands);
  return {expand(to(input, dtype, {}), shape), expand(to(other, dtype, {}), shape)};
}

// Euclid's algorithm, of all elements together until the last is through: the smaller number is
// halved at least in two steps.
static Tensor divisor(Tensor x, Tensor y) {
  x = size_of_each(x), y = size_of_each(y);
  const Tensor zero = number(int64_t{0}), one = number(int64_t{1});
  while (!is_meta(y.device())) {
    const Tensor left = ne(y, zero);
    if (!item_bool(any(left))) break;
    const Tensor rest = remainder(x, where(left, y, one));
    x = where(left, y, x);
    y = where(left, rest, zero);
  }
  return size_of_each(x);
}

Tensor gcd_impl(const Tensor& input, const Tensor& other, Into into) {
  const Pair p = integers("gcd", input, other);
  return write_result("gcd", clone(divisor(p.x, p.y)), into, {&input, &other});
}

Tensor lcm_impl(const Tensor& input, const Tensor& other, Into into) {
  Pair p = integers("lcm", input, other);
  const Dtype dtype = p.x.dtype();
  // The sign goes before the product is cut to 8 or 16 bits.
  if (size_of(dtype) < 4) p = {to(p.x, Dtype::kInt32, {}), to(p.y, Dtype::kInt32, {})};
  const Tensor common = divisor(p.x, p.y);
  const Tensor part =
      floor_divide(p.x, where(eq(common, number(int64_t{0})), number(int64_t{1}), common));
  const Tensor multiple = to(size_of_each(part * p.y), dtype, {});
  return write_result("lcm", multiple, into, {&input, &other});
}

}  // namespace libdl
