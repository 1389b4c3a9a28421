// SPDX-License-Identifier: Apache-2.0

#include "ops/pointwise/arithmetic.h"

#include <cmath>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/copy/item.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/plan.h"
#include "tensor/memory_order.h"

namespace libdl {

// -- sums -------------------------------------------------------------------------------------

const PointwiseOp k_add{
    .name = "add",
    .expression = Expression::add,
    .arguments = {"input", "other"},
    .partials = {[](const Symbols& s) { return s.dy; }, [](const Symbols& s) { return s.dy; }}};
const PointwiseOp k_sub{
    .name = "sub",
    .expression = Expression::sub,
    .arguments = {"input", "other"},
    .partials = {[](const Symbols& s) { return s.dy; }, [](const Symbols& s) { return -s.dy; }}};
// x + alpha * y; alpha is a number, hence without a gradient of its own.
const PointwiseOp k_add_scaled{.name = "add",
                               .expression = Expression::add_scaled,
                               .arguments = {"input", "other", "alpha"},
                               .partials = {[](const Symbols& s) { return s.dy; },
                                            [](const Symbols& s) { return s.dy * conj(s.x[2]); },
                                            [](const Symbols& s) { return s.dy * conj(s.x[1]); }},
                               .keeps_numbers = true};
static const PointwiseOp k_sub_scaled{.name = "sub",
                                      .expression = Expression::add_scaled,
                                      .arguments = k_add_scaled.arguments,
                                      .partials = k_add_scaled.partials,
                                      .keeps_numbers = true};
// The sum of truths.
static const PointwiseOp k_add_truth{.name = "add",
                                     .expression = Expression::logical_or,
                                     .arguments = {"input", "other"},
                                     .promotion = Promotion::kTruth};

// A factor that changes nothing. 1.0 beside integers is refused as every floating number is.
static bool is_one(const Tensor& alpha, const Tensor& input, const Tensor& other) {
  if (!alpha.is_number()) return false;
  if (alpha.dtype() == Dtype::kInt64) return alpha.get()->as_int == 1;
  return alpha.dtype() == Dtype::kFloat64 && alpha.get()->as_double == 1.0 &&
         (is_inexact(input.dtype()) || is_inexact(other.dtype()));
}

static void check_alpha(const char* op, const Tensor& input, const Tensor& other,
                        const Tensor& alpha) {
  const Tensor* const operands[] = {&input, &other};
  const Dtype type = result_dtype(operands);
  if (alpha.ndim() != 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "alpha", "has shape " + to_string(alpha.shape()),
                  "a number");
  const bool lost = alpha.dtype() == Dtype::kBool && type != Dtype::kBool;
  if (category(alpha.dtype()) > category(type) || lost)
    fail_argument(LIBDL_ERROR_DTYPE, op, "alpha", std::string("is ") + name_of(alpha.dtype()),
                  std::string("a number that ") + name_of(type) + " holds");
  check_number(op, "alpha", alpha, type);
}

Tensor add_impl(const Tensor& input, const Tensor& other, const Tensor* alpha, Into into) {
  const bool truth = input.dtype() == Dtype::kBool && other.dtype() == Dtype::kBool;
  if (!alpha || is_one(*alpha, input, other))
    return pointwise(truth ? k_add_truth : k_add, input, other, into);
  const bool as_truth = truth && alpha->ndim() == 0 && !is_inexact(alpha->dtype());
  if (!as_truth) check_alpha("add", input, other, *alpha);
  if (as_truth) return pointwise(k_add_truth, input, logical_and(other, *alpha), into);
  return pointwise(k_add_scaled, input, other, *alpha, into);
}

// A host number stays one, which is weaker in promotion than a tensor.
static Tensor negated(const Tensor& alpha) {
  if (!alpha.is_number()) return neg(alpha);
  if (alpha.is_complex()) {
    const auto [re, im] = item_c128(alpha);
    return number(std::complex<double>(-re, -im));
  }
  if (alpha.dtype() == Dtype::kFloat64) return number(-alpha.get()->as_double);
  return number(static_cast<int64_t>(-static_cast<uint64_t>(integer_bits(alpha))));
}

Tensor sub_impl(const Tensor& input, const Tensor& other, const Tensor* alpha, Into into) {
  for (const Tensor* x : {&input, &other})
    if (x->dtype() == Dtype::kBool && !x->is_number())
      fail_argument(LIBDL_ERROR_DTYPE, "sub", x == &input ? "input" : "other", "is bool",
                    "numbers (logical_xor() tells where truths differ)");
  if (!alpha || is_one(*alpha, input, other)) return pointwise(k_sub, input, other, into);
  check_alpha("sub", input, other, *alpha);
  const Tensor factor = rename_error("sub", {{"input", "alpha"}}, [&] { return negated(*alpha); });
  return pointwise(k_sub_scaled, input, other, factor, into);
}

// -- products ---------------------------------------------------------------------------------

const PointwiseOp k_mul{.name = "mul",
                        .expression = Expression::mul,
                        .arguments = {"input", "other"},
                        .partials = {[](const Symbols& s) { return s.dy * conj(s.x[1]); },
                                     [](const Symbols& s) { return s.dy * conj(s.x[0]); }}};
const PointwiseOp k_div{
    .name = "div",
    .expression = Expression::div,
    .arguments = {"input", "other"},
    .promotion = Promotion::kFloat,
    .partials = {[](const Symbols& s) { return s.dy / conj(s.x[1]); },
                 [](const Symbols& s) { return -s.dy * conj(s.x[0] / s.x[1] / s.x[1]); }}};
const PointwiseOp k_div_trunc{.name = "div",
                              .expression = Expression::div_trunc,
                              .arguments = {"input", "other"},
                              .zero_gradient = true};
const PointwiseOp k_div_floor{.name = "div",
                              .expression = Expression::div_floor,
                              .arguments = {"input", "other"},
                              .zero_gradient = true};
static const PointwiseOp kFloorDivide{.name = "floor_divide",
                                      .expression = Expression::div_floor,
                                      .arguments = {"input", "other"},
                                      .zero_gradient = true};
const PointwiseOp k_remainder{
    .name = "remainder",
    .expression = Expression::remainder,
    .arguments = {"input", "other"},
    .partials = {[](const Symbols& s) { return s.dy; },
                 [](const Symbols& s) { return -s.dy * div_floor(s.x[0], s.x[1]); }}};
const PointwiseOp k_fmod{
    .name = "fmod",
    .expression = Expression::fmod,
    .arguments = {"input", "other"},
    .partials = {[](const Symbols& s) { return s.dy; },
                 [](const Symbols& s) { return -s.dy * div_trunc(s.x[0], s.x[1]); }}};
const PointwiseOp k_reciprocal{
    .name = "reciprocal",
    .expression = Expression::reciprocal,
    .arguments = {"input"},
    .promotion = Promotion::kFloat,
    // Not the square, which may overflow or vanish.
    .partials = {[](const Symbols& s) { return -s.dy * conj(s.y) * conj(s.y); }}};

// Integers have no infinity to answer a division by zero with.
static void check_divisor(const char* op, const Tensor& input, const Tensor& other) {
  if (is_inexact(input.dtype()) || is_inexact(other.dtype())) return;
  const ModeGuard off(kModeGrad | kModeForward);
  if (!input.numel() || !other.numel()) return;
  // A device tells it when it is next waited for; the quotient is 0 there.
  if (!other.device().is_cpu()) {
    const Tensor zeros = cast(logical_not(all(other)), Dtype::kInt64);
    int64_t bad = -1;
    return launch_check_index(other.device(),
                              {.index = reads(zeros),
                               .size = 1,
                               .bad = &bad,
                               .op = op,
                               .finding = "argument (other) holds 0, and the operands are "
                                          "integers, wanted divisors that are not 0"});
  }
  if (!item_bool(all(other)))
    fail_argument(LIBDL_ERROR_VALUE, op, "other", "holds 0, and the operands are integers",
                  "divisors that are not 0");
}

Tensor div_impl(const Tensor& input, const Tensor& other,
                std::optional<std::string_view> rounding_mode, Into into) {
  if (!rounding_mode) return pointwise(k_div, input, other, into);
  if (*rounding_mode != "trunc" && *rounding_mode != "floor")
    fail_argument(LIBDL_ERROR_VALUE, "div", "rounding_mode",
                  "is \"" + std::string(*rounding_mode) + "\"", "\"trunc\" or \"floor\"");
  check_divisor("div", input, other);
  return pointwise(*rounding_mode == "trunc" ? k_div_trunc : k_div_floor, input, other, into);
}
Tensor floor_divide_impl(const Tensor& input, const Tensor& other, Into into) {
  check_divisor("floor_divide", input, other);
  return pointwise(kFloorDivide, input, other, into);
}
Tensor remainder_impl(const Tensor& input, const Tensor& other, Into into) {
  check_divisor("remainder", input, other);
  return pointwise(k_remainder, input, other, into);
}
Tensor fmod_impl(const Tensor& input, const Tensor& other, Into into) {
  check_divisor("fmod", input, other);
  return pointwise(k_fmod, input, other, into);
}

// -- powers -----------------------------------------------------------------------------------

// x^p; at p = 0 the derivative is 0 also where x = 0, and at x = 0 the logarithm's infinity is left
// out.
const PointwiseOp k_pow{
    .name = "pow",
    .expression = Expression::pow,
    .arguments = {"input", "exponent"},
    .partials = {
        [](const Symbols& s) {
          const Expr derivative = s.x[1] * pow(s.x[0], s.x[1] - 1.0);
          return where(s.x[1], s.dy * conj(derivative), constant(0));
        },
        // y log x: at x = 0 that is 0 where y is 0 or 1, and infinite where y is. A NaN goes on.
        [](const Symbols& s) {
          const Expr derivative = s.dy * conj(s.y * log(s.x[0]));
          if (s.complex) return where(s.x[0], derivative, s.dy * (s.y * 0.0));
          const Expr finite = in_range(s.y, constant(-1), constant(1));
          const Expr at_zero = where(finite, s.dy * 0.0, derivative);
          return where(s.x[0], derivative, at_zero);
        }}};
const PointwiseOp k_square{
    .name = "square",
    .expression = Expression::square,
    .arguments = {"input"},
    .partials = {[](const Symbols& s) { return s.dy * conj(s.x[0]) * 2.0; }}};
const PointwiseOp k_sqrt{.name = "sqrt",
                         .expression = Expression::sqrt,
                         .arguments = {"input"},
                         .promotion = Promotion::kFloat,
                         .partials = {[](const Symbols& s) { return s.dy / conj(s.y * 2.0); }}};
// (x^-1/2)' = -1/2 y^3
const PointwiseOp k_rsqrt{.name = "rsqrt",
                          .expression = Expression::rsqrt,
                          .arguments = {"input"},
                          .promotion = Promotion::kFloat,
                          .partials = {[](const Symbols& s) {
                            // Not the cube, which may overflow or vanish.
                            const Expr y = conj(s.y);
                            return s.dy * (y * -0.5) * y * y;
                          }}};

static const PointwiseOp kSecondPower{.name = "pow",
                                      .expression = Expression::square,
                                      .arguments = {"input"},
                                      .partials = k_square.partials};

// A number to the powers of a tensor, of which PyTorch makes a row-major one.
static const PointwiseOp kPowersOfNumber{.name = "pow",
                                         .expression = Expression::pow,
                                         .arguments = {"input", "exponent"},
                                         .partials = k_pow.partials,
                                         .row_major = true};

// x to the power of 0, whose derivative is 0 also where that of x^(p - 1) is infinite.
static const PointwiseOp kNoPower{.name = "pow",
                                  .expression = Expression::pow,
                                  .arguments = {"input", "exponent"},
                                  .zero_gradient = true};

Tensor pow_impl(const Tensor& input, const Tensor& exponent, Into into) {
  if (exponent.is_number()) {
    const bool integers = !is_inexact(input.dtype()) && exponent.dtype() == Dtype::kInt64;
    if (input.dtype() == Dtype::kBool && exponent.dtype() == Dtype::kBool) {
      const bool kept = item_bool(exponent);  // x to the first is x, and to the power of 0 true
      return write_result("pow", kept ? clone(input) : logical_or(input, number(true)), into,
                          {&input});
    }
    if (integers && exponent.get()->as_int < 0)
      fail_argument(LIBDL_ERROR_VALUE, "pow", "exponent",
                    "is " + std::to_string(exponent.get()->as_int) + " and the base is integer",
                    "0 or more");
    if (integers) check_number("pow", "exponent", exponent, input.dtype());
    const bool two = exponent.dtype() == Dtype::kInt64     ? exponent.get()->as_int == 2
                     : exponent.dtype() == Dtype::kFloat64 ? exponent.get()->as_double == 2.0
                                                           : false;
    if (two && is_inexact(input.dtype())) return pointwise(kSecondPower, input, into);
    const bool zero = exponent.dtype() == Dtype::kInt64     ? exponent.get()->as_int == 0
                      : exponent.dtype() == Dtype::kFloat64 ? exponent.get()->as_double == 0
                                                            : false;
    if (zero) return pointwise(kNoPower, input, exponent, into);
  }
  return pointwise(input.is_number() ? kPowersOfNumber : k_pow, input, exponent, into);
}
Tensor square_impl(const Tensor& input, Into into) {
  if (input.dtype() == Dtype::kBool)
    return write_result("square", cast(input, Dtype::kInt64), into, {&input});
  return pointwise(k_square, input, into);
}

// -- signs ------------------------------------------------------------------------------------

const PointwiseOp k_neg{.name = "neg",
                        .expression = Expression::neg,
                        .arguments = {"input"},
                        .partials = {[](const Symbols& s) { return -s.dy; }}};
// |z| is not holomorphic: reverse dz = Re(dy) sgn(z), forward Re(conj(sgn z) dz). The kernel gives
// (|z|, 0) for complex z, of which abs() below takes the real part.
const PointwiseOp k_abs{.name = "abs",
                        .expression = Expression::abs,
                        .arguments = {"input"},
                        .partials = {[](const Symbols& s) {
                          if (!s.complex) return s.dy * sign(s.x[0]);
                          // As a step of others' derivatives it may get a dy that is not real.
                          const Expr unit = sgn(s.x[0]);
                          const Expr along =
                              s.forward ? s.dy * apply(Expression::conj, {unit}) : s.dy;
                          const Expr real = (along + apply(Expression::conj, {along})) * 0.5;
                          return s.forward ? real : real * unit;
                        }}};
const PointwiseOp k_sign{
    .name = "sign", .expression = Expression::sign, .arguments = {"input"}, .zero_gradient = true};
// z / |z|: dz = (dy - Re(conj(dy) y) y) / |z|, written with y conj(y) = 1.
const PointwiseOp k_sgn{.name = "sgn",
                        .expression = Expression::sgn,
                        .arguments = {"input"},
                        .partials = {[](const Symbols& s) {
                          const Expr magnitude = apply(Expression::abs, {s.x[0]});
                          const Expr mirrored = apply(Expression::conj, {s.dy}) * s.y * s.y;
                          return where(s.x[0], (s.dy - mirrored) / (magnitude * 2.0), constant(0));
                        }}};
const PointwiseOp k_conj{
    .name = "conj",
    .expression = Expression::conj,
    .arguments = {"input"},
    .partials = {[](const Symbols& s) { return apply(Expression::conj, {s.dy}); }}};

Tensor abs_impl(const Tensor& input, Into into) {
  if (input.dtype() == Dtype::kBool) return write_result("abs", clone(input), into, {&input});
  if (!input.is_complex()) return pointwise(k_abs, input, into);
  return write_result("abs", clone(real(pointwise(k_abs, input))), into, {&input});
}
static const PointwiseOp kRealSgn{
    .name = "sgn", .expression = Expression::sign, .arguments = {"input"}, .zero_gradient = true};
Tensor sgn_impl(const Tensor& input, Into into) {
  return pointwise(input.is_complex() ? k_sgn : kRealSgn, input, into);
}
Tensor conj_impl(const Tensor& input) {
  return input.is_complex() ? pointwise(k_conj, input) : input;
}

// -- combinations -----------------------------------------------------------------------------

const PointwiseOp k_lerp{
    .name = "lerp",
    .expression = Expression::lerp,
    .arguments = {"input", "end", "weight"},
    .partials = {[](const Symbols& s) { return s.dy * conj(1.0 - s.x[2]); },
                 [](const Symbols& s) { return s.dy * conj(s.x[2]); },
                 [](const Symbols& s) { return s.dy * conj(s.x[1] - s.x[0]); }},
    .keeps_numbers = true};

Tensor lerp_impl(const Tensor& input, const Tensor& end, const Tensor& weight, Into into) {
  if (end.dtype() != input.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, "lerp", "end", std::string("is ") + name_of(end.dtype()),
                  name_of(input.dtype()));
  check_number("lerp", "weight", weight, input.dtype());
  return pointwise(k_lerp, input, end, weight, into);
}

static bool is_exact_double(const Tensor& x) {
  if (!x.is_number()) return false;
  return x.dtype() == Dtype::kFloat64 ||
         (x.dtype() == Dtype::kInt64 && std::abs(static_cast<double>(item_i64(x))) <= 0x1p53);
}

// y = x[0] + x[1] * x[2], an expression of its own: x + alpha y.
static void add_product(const Tensor& y, const Tensor* const (&in)[3]) {
  Plan plan;
  plan.set(y, in);
  kernels::PointwiseArgs args;
  args.expression = static_cast<int32_t>(Expression::add_scaled);
  args.compute = static_cast<int32_t>(class_of(y.dtype()));
  args.inputs = 3;
  args.host_inputs = plan.host_inputs();
  args.out = plan.view(y, 0);
  for (int k = 0; k < 3; ++k) args.in[k] = plan.view(*in[k], k + 1);
  launch_pointwise(y.device(), args);
}

// input + value * inner(tensor1, tensor2) in one pass, with the bits of its steps; undefined where
// shapes or dtypes differ or somebody wants the steps recorded.
static Tensor combined_at_once(const char* op, const Tensor& input, const Tensor& tensor1,
                               const Tensor& tensor2, const Tensor* value, Into into,
                               Expression inner) {
  const Tensor* const in[] = {&input, &tensor1, &tensor2};
  const auto alike = [&](const Tensor& x) {
    return !x.is_number() && x.dtype() == input.dtype() && same(x.shape(), input.shape()) &&
           x.device() == input.device();
  };
  // complex64 in programs is computed in double precision: two steps of its own take less.
  const bool complex = input.dtype() == Dtype::kComplex128;
  if (!(is_floating(input.dtype()) || complex)) return {};
  if (!alike(input) || !alike(tensor1) || !alike(tensor2)) return {};
  if ((value && !is_exact_double(*value)) || (into && !alike(into.tensor()))) return {};
  const Call call(op, into, std::span(in));
  if (!call.plain()) return {};
  if (value)  // against the dtype of the steps
    check_number(op, "value", *value,
                 size_of(input.dtype()) == 2 ? Dtype::kFloat32 : input.dtype());
  const Tensor y = into ? into.tensor() : empty(input.shape(), input.dtype(), input.device());
  if (!into) lie_as(y, in, input.dtype());
  const bool scaled = value && !is_one(*value, input, tensor1);
  if (inner == Expression::mul && !scaled && !complex) {
    add_product(y, in);
    if (into) written(y, op);
    return y;
  }
  // input + value * tensor1 * tensor2 from left to right: a product that overflows alone does not.
  constexpr auto kMul = static_cast<int32_t>(Expression::mul);
  constexpr auto kAdd = static_cast<int32_t>(Expression::add);
  const auto kInner = static_cast<int32_t>(inner);
  const kernels::Instruction plain_code[] = {{kInner, {1, 2}}, {kAdd, {0, 3}}};
  const kernels::Instruction scaled_code[] = {{kMul, {1, 3}}, {kInner, {4, 2}}, {kAdd, {0, 5}}};
  Plan plan;
  plan.set(y, in);
  kernels::ProgramArgs args;
  args.compute = static_cast<int32_t>(class_of(input.dtype()));
  args.inputs = 3;
  args.host_inputs = plan.host_inputs();
  args.constants = scaled;
  args.length = scaled ? 3 : 2;
  args.code = scaled ? scaled_code : plain_code;
  if (scaled) args.constant[0] = item_f64(*value);
  args.out = plan.view(y, 0);
  for (int k = 0; k < 3; ++k) args.in[k] = plan.view(*in[k], k + 1);
  launch_program(y.device(), args);
  if (into) written(y, op);
  return y;
}

// input + value * inner(tensor1, tensor2), rounded once in the 16-bit types.
template <class F>
static Tensor combined(const char* op, const Tensor& input, const Tensor& tensor1,
                       const Tensor& tensor2, const Tensor* value, Into into, Expression expression,
                       F inner) {
  static constexpr const char* kNames[] = {"input", "tensor1", "tensor2"};
  const Tensor* const operands[] = {&input, &tensor1, &tensor2};
  broadcast_shape(op, kNames, operands);
  refuse_overlap(op, into, operands);
  if (Tensor y = combined_at_once(op, input, tensor1, tensor2, value, into, expression);
      y.defined())
    return y;
  const Dtype type = result_dtype(operands);
  const bool lift = is_floating(type) && size_of(type) == 2;
  // A product of narrower integers would wrap, and one with a 0-d operand may have another dtype.
  // The quotient of integers is none.
  const bool quotient = expression == Expression::div && is_integral(type);
  const Dtype computed = lift ? Dtype::kFloat32 : quotient ? default_dtype() : type;
  const auto wide = [=](const Tensor& x) { return x.is_number() ? x : cast(x, computed); };
  const Named named(op);
  return named(rename_error(op, {{"input", "input"}, {"alpha", "value"}}, [&] {
    // As a factor a truth is 0 or 1.
    const Tensor factor = !value                           ? number(int64_t{1})
                          : value->dtype() == Dtype::kBool ? number(item_i64(*value))
                                                           : *value;
    const bool first = is_inexact(computed) && value && !tensor1.is_number();
    if (first) check_alpha("add", wide(input), wide(tensor2), factor);
    const Tensor one = number(int64_t{1}), &rest = first ? one : factor;
    const Tensor scaled = first ? mul(wide(tensor1), detach(factor)) : wide(tensor1);
    const Tensor product = inner(scaled, wide(tensor2));
    if (!lift) return add(into ? input : wide(input), product, &rest, into);  // it may be dst
    const Tensor y = cast(add(wide(input), product, &rest), type);
    return write_result(op, y, into, {&input, &tensor1, &tensor2});
  }));
}

Tensor addcmul_impl(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2,
                    const Tensor* value, Into into) {
  const Tensor* const operands[] = {&input, &tensor1, &tensor2};
  const std::optional<Tensor> whole =
      value ? whole_factor(value, result_dtype(operands)) : std::nullopt;
  if (whole) value = &*whole;
  return combined("addcmul", input, tensor1, tensor2, value, into, Expression::mul,
                  [](const Tensor& a, const Tensor& b) { return mul(a, b); });
}
Tensor addcdiv_impl(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2,
                    const Tensor* value, Into into) {
  return combined("addcdiv", input, tensor1, tensor2, value, into, Expression::div,
                  [](const Tensor& a, const Tensor& b) { return div(a, b); });
}

}  // namespace libdl
