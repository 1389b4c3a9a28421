// SPDX-License-Identifier: Apache-2.0

// Complex numbers from their parts, angles, and numbers tested for what part they lack.

#include <cmath>
#include <limits>
#include <numbers>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/creation.h"
#include "entries/exponential.h"
#include "entries/join.h"
#include "entries/numbers.h"
#include "entries/special.h"
#include "entries/view.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/operand.h"

namespace libdl {

// -- angles ---------------------------------------------------------------------------------------

Tensor deg2rad_impl(const Tensor& input) { return input * (std::numbers::pi / 180); }

Tensor rad2deg_impl(const Tensor& input) { return input * (180 / std::numbers::pi); }

// 0 or pi, whose derivative is 0; NaN of NaN.
static Tensor real_angle(const Tensor& x) {
  const Tensor half_turn = number(std::numbers::pi), zero = number(0.0);
  const Tensor turned = where(lt(x, zero), full_like(x, half_turn, Dtype::kNone, {}), zero);
  return where(isnan(x), x * 0.0, turned);
}

Tensor angle_impl(const Tensor& input) {
  if (input.is_complex()) return atan2(imag(input), real(input));
  return real_angle(is_inexact(input.dtype()) ? input : input * 1.0);
}

// -- from parts -----------------------------------------------------------------------------------

// The parts of a complex number are of one dtype, float32 or float64.
static void check_parts(const char* op, const char* first, const char* second, const Tensor& a,
                        const Tensor& b) {
  require_tensor(op, {a, first});
  require_tensor(op, {b, second});
  const Dtype dtype = a.dtype();
  if (dtype != Dtype::kFloat32 && dtype != Dtype::kFloat64)
    fail_argument(LIBDL_ERROR_DTYPE, op, first, std::string("is ") + name_of(dtype),
                  "float32 or float64");
  if (b.dtype() != dtype)
    fail_argument(LIBDL_ERROR_DTYPE, op, second, std::string("is ") + name_of(b.dtype()),
                  std::string(name_of(dtype)) + ", as argument (" + first + ")");
}

Tensor complex_impl(const Tensor& real, const Tensor& imag) {
  check_parts("complex", "real", "imag", real, imag);
  const char* const names[] = {"real", "imag"};
  const Tensor* const parts[] = {&real, &imag};
  const Shape shape = broadcast_shape("complex", names, parts);
  const Tensor both[] = {expand(real, shape), expand(imag, shape)};
  return view_as_complex(stack(both, -1));
}

Tensor polar_impl(const Tensor& abs, const Tensor& angle) {
  check_parts("polar", "abs", "angle", abs, angle);
  const char* const names[] = {"abs", "angle"};
  const Tensor* const parts[] = {&abs, &angle};
  broadcast_shape("polar", names, parts);  // refuses what does not fit
  return complex(mul(abs, cos(angle)), mul(abs, sin(angle)));
}

// -- tests ----------------------------------------------------------------------------------------

static Tensor is_infinity(const char* op, const Tensor& input, double infinity) {
  if (input.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a real dtype");
  return eq(input, number(infinity));
}
Tensor isposinf_impl(const Tensor& input) {
  return is_infinity("isposinf", input, std::numeric_limits<double>::infinity());
}
Tensor isneginf_impl(const Tensor& input) {
  return is_infinity("isneginf", input, -std::numeric_limits<double>::infinity());
}

Tensor isreal_impl(const Tensor& input) {
  if (!input.is_complex()) return ones_like(input, Dtype::kBool, {});
  return eq(imag(input), number(int64_t{0}));
}

}  // namespace libdl
