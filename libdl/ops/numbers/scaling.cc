// SPDX-License-Identifier: Apache-2.0

// Floating numbers as fraction and exponent, and their neighbours.

#include <cmath>
#include <limits>
#include <optional>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/numbers.h"
#include "entries/rounding.h"
#include "entries/view.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/operand.h"

namespace libdl {

static Tensor power_of_two(const Tensor& exponent) { return pow(number(2.0), exponent); }

// -- powers in double precision -------------------------------------------------------------------

static Dtype doubled(const Tensor& x) {
  return x.is_complex() ? Dtype::kComplex128 : Dtype::kFloat64;
}

Tensor float_power_impl(const Tensor& input, const Tensor& exponent) {
  if (exponent.is_number()) require_tensor("float_power", {input, "input"});
  const Dtype whole = exponent.is_complex() ? Dtype::kComplex128 : doubled(input);
  const Tensor base =
      input.is_number() ? full({}, input, whole, exponent.device()) : to(input, doubled(input), {});
  return pow(base, exponent.is_number() ? exponent : to(exponent, doubled(exponent), {}));
}

// -- ldexp ----------------------------------------------------------------------------------------

// x 2^n in double precision, rounded once: 2^n itself need not be a number of x's dtype. Two thirds
// of a large n are factors of their own, whose products are exact unless the result is 0 or
// infinite. No number needs a larger n than 2098.
static Tensor scaled(const Tensor& x, const Tensor& n) {
  const Tensor fixed = detach(n), most = number(3000.0), least = number(-3000.0);
  const Tensor third = trunc(clamp(fixed, &least, &most) * (1.0 / 3));
  const Tensor part = where(gt(abs(fixed), number(1000.0)), third, number(0.0));
  const Tensor rest = n - part * 2.0;
  const Tensor low = number(-1022.0), high = number(1023.0);
  const Tensor moved = rest - detach(rest);  // 0: the derivative is that of all of n
  const Tensor finite = clamp(detach(rest), &low, &high) + moved;
  const Tensor factor = power_of_two(part);
  return x * factor * factor * power_of_two(where(isinf(fixed), n, finite));
}

Tensor ldexp_impl(const Tensor& input, const Tensor& other) {
  require_tensor("ldexp", {other, "other"});
  const Tensor* const operands[] = {&input, &other};
  const Dtype common = result_dtype(operands);
  if (other.is_complex()) return to(input * power_of_two(other), common, {});
  const Dtype dtype = is_inexact(common) ? common : default_dtype();
  return to(scaled(to(input, doubled(input), {}), to(other, Dtype::kFloat64, {})), dtype, {});
}

// -- bits -----------------------------------------------------------------------------------------

namespace {
// How a floating dtype lies in an integer of as many bits.
struct Bits {
  Dtype whole;
  int digits;       // of the fraction
  int64_t width;    // of the exponent
  double smallest;  // that is normal
};
}  // namespace

static Bits bits_of(const char* op, const char* name, Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16: return {Dtype::kInt16, 10, 5, 0x1p-14};
    case Dtype::kBfloat16: return {Dtype::kInt16, 7, 8, 0x1p-126};
    case Dtype::kFloat32: return {Dtype::kInt32, 23, 8, 0x1p-126};
    case Dtype::kFloat64: return {Dtype::kInt64, 52, 11, 0x1p-1022};
    default:
      fail_argument(LIBDL_ERROR_UNSUPPORTED, op, name, std::string("is ") + name_of(dtype),
                    "a floating dtype");
  }
}

// mantissa 2^exponent, with 1/2 <= |mantissa| < 1.
std::tuple<Tensor, Tensor> frexp_impl(const Tensor& input) {
  const Bits format = bits_of("frexp", "input", input.dtype());
  const Tensor given = detach(input), zero = number(int64_t{0});
  const Tensor tiny = logical_and(ne(given, zero), lt(abs(given), number(format.smallest)));
  const Tensor normal = where(tiny, given * std::ldexp(1.0, format.digits), given);
  const int64_t all = (int64_t{1} << format.width) - 1;
  const Tensor bits = view_dtype(contiguous(normal), format.whole);
  const Tensor field =
      bitwise_and(bitwise_right_shift(bits, number(int64_t{format.digits})), number(all));
  const Tensor regular = logical_and(ne(field, zero), ne(field, number(all)));
  Tensor exponent = where(regular, sub(field, number(all / 2 - 1)), zero);
  exponent = to(exponent, Dtype::kInt32, {});
  exponent = where(tiny, sub(exponent, number(int64_t{format.digits})), exponent);
  // Two factors, for 2^-exponent itself may be infinite.
  const Tensor half = floor_divide(exponent, number(int64_t{2}));
  const auto factor = [&](const Tensor& n) {
    return to(power_of_two(to(n, Dtype::kFloat64, {})), input.dtype(), {});
  };
  const Tensor mantissa = input * factor(neg(half)) * factor(half - exponent);
  return {mantissa, exponent};
}

Tensor nextafter_impl(const Tensor& input, const Tensor& other) {
  require_tensor("nextafter", {other, "other"});
  const Tensor* const operands[] = {&input, &other};
  const char* const names[] = {"input", "other"};
  const Dtype dtype = result_dtype(operands);
  const Bits format = bits_of("nextafter", "input", dtype);
  const Shape shape = broadcast_shape("nextafter", names, operands);
  const Tensor given = expand(to(input, dtype, {}), shape),
               towards = expand(to(other, dtype, {}), shape);
  const Tensor x = detach(given), end = detach(towards), zero = number(0.0);

  // Neighbours have neighbouring bits; away from 0 these grow.
  const Tensor bits = view_dtype(contiguous(x), format.whole), one = number(int64_t{1});
  const Tensor away = eq(gt(end, x), gt(x, zero));
  const Tensor beside = view_dtype(where(away, add(bits, one), sub(bits, one)), dtype);
  const Tensor least = copysign(view_dtype(ones_like(bits, Dtype::kNone, {}), dtype), end);
  const Tensor same = eq(x, end);
  Tensor next = where(eq(x, zero), least, beside);
  next = where(logical_or(isnan(x), isnan(end)), x + end, where(same, end, next));

  // The derivative is input's, but 0 where nothing moves. x - next is exact.
  const Tensor still = logical_or(same, isinf(x));
  next = where(still, next, given - (x - next));
  return where(zeros_like(still, Dtype::kNone, {}), towards, next);
}

}  // namespace libdl
