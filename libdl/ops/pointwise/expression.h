// SPDX-License-Identifier: Apache-2.0

// A pointwise operator as data: a name, a scalar expression (kernels/expressions.h) and one partial
// derivative per argument.
#pragma once

#include <array>
#include <atomic>

#include "kernels/pointwise.h"
#include "ops/primitive/into.h"

namespace libdl {

using kernels::Expression;

// -- derivatives as programs ------------------------------------------------------------------
// A rule builds an expression from symbols; it becomes a short program over registers that runs
// fused, a tile at a time, or step by step through recorded operators under create_graph.

struct Expr {
  int id;
};

struct Symbols {  // what a partial derivative may use; using an x or y makes the operator save it
  Expr dy;
  Expr x[3];
  Expr y;
  bool complex = false;  // the rule for complex dtypes is being built
  bool forward = false;  // …and for forward mode
};

Expr apply(Expression f, std::initializer_list<Expr> arguments);
Expr constant(double value);
#define LIBDL_EXPR_UNARY(name) \
  inline Expr name(Expr a) { return apply(Expression::name, {a}); }
#define LIBDL_EXPR_BINARY(name) \
  inline Expr name(Expr a, Expr b) { return apply(Expression::name, {a, b}); }
LIBDL_EXPR_UNARY(neg)
LIBDL_EXPR_UNARY(exp)
LIBDL_EXPR_UNARY(log)
LIBDL_EXPR_UNARY(sin)
LIBDL_EXPR_UNARY(cos)
LIBDL_EXPR_UNARY(tanh)
LIBDL_EXPR_UNARY(square)
LIBDL_EXPR_UNARY(sqrt)
LIBDL_EXPR_UNARY(sign)
LIBDL_EXPR_UNARY(sgn)
LIBDL_EXPR_UNARY(sigmoid)
LIBDL_EXPR_UNARY(reciprocal)
LIBDL_EXPR_UNARY(positive)
LIBDL_EXPR_UNARY(log1p)
LIBDL_EXPR_UNARY(logsigmoid)
LIBDL_EXPR_UNARY(gelu_derivative)
LIBDL_EXPR_UNARY(gelu_tanh_derivative)
LIBDL_EXPR_BINARY(pow)
LIBDL_EXPR_BINARY(maximum)
LIBDL_EXPR_BINARY(minimum)
LIBDL_EXPR_BINARY(div_trunc)
LIBDL_EXPR_BINARY(div_floor)
LIBDL_EXPR_BINARY(elu_derivative)
LIBDL_EXPR_BINARY(elu_curve)
LIBDL_EXPR_BINARY(leaky_relu_derivative)
LIBDL_EXPR_BINARY(hardshrink_derivative)
#undef LIBDL_EXPR_UNARY
#undef LIBDL_EXPR_BINARY
Expr conj(Expr a);  // a itself if the result is real
inline Expr operator+(Expr a, Expr b) { return apply(Expression::add, {a, b}); }
inline Expr operator-(Expr a, Expr b) { return apply(Expression::sub, {a, b}); }
inline Expr operator*(Expr a, Expr b) { return apply(Expression::mul, {a, b}); }
inline Expr operator/(Expr a, Expr b) { return apply(Expression::div, {a, b}); }
inline Expr operator-(Expr a) { return neg(a); }
inline Expr operator+(Expr a, double b) { return a + constant(b); }
inline Expr operator-(Expr a, double b) { return a - constant(b); }
inline Expr operator*(Expr a, double b) { return a * constant(b); }
inline Expr operator+(double a, Expr b) { return constant(a) + b; }
inline Expr operator-(double a, Expr b) { return constant(a) - b; }
inline Expr operator*(double a, Expr b) { return constant(a) * b; }
inline Expr operator/(double a, Expr b) { return constant(a) / b; }
Expr where(Expr condition, Expr a, Expr b);
Expr softplus_derivative(Expr x, Expr beta, Expr threshold);
Expr in_range(Expr x, Expr low, Expr high);  // 1 where low <= x <= high, else 0
Expr hardtanh(Expr x, Expr low, Expr high);
Expr hardtanh_derivative(Expr x, Expr low, Expr high);

// dx_i as an expression; for complex dtypes dy * conj(df/dx), PyTorch's convention.
using Partial = Expr (*)(const Symbols& s);

// -- operators --------------------------------------------------------------------------------

enum class Promotion : uint8_t {
  kPromote,  // the operands' common dtype
  kFloat,    // likewise, with bool and integers lifted to the default dtype
  kTruth,    // operands are read as bool
  kSelect,   // operand 0 is a condition; the others are promoted
};

struct Program;

struct PointwiseOp {
  const char* name;
  Expression expression;
  std::array<const char*, 3> arguments;  // parameter names, for errors
  Promotion promotion = Promotion::kPromote;
  std::array<Partial, 3> partials = {};  // NULL: no gradient flows there
  bool zero_gradient = false;            // differentiable with derivative 0 (floor, sign, …)
  bool steps = false;          // the derivative is piecewise constant: its only history is dy's
  bool row_major = false;      // new results are, whatever the order of the operands
  bool keeps_numbers = false;  // if only numbers and conditions are saved, passes free nothing
  // dx_i where it is differentiated itself and the derivative of its expression would not do;
  // undefined for the other i.
  Tensor (*differentiable)(int i, const Tensor& dy, const Tensor* const* x) = nullptr;
  mutable std::atomic<const Program*> programs[3][3] = {};  // [form][input], built when first used

  const kernels::ExpressionInfo& info() const {
    return kernels::kExpressionInfo[static_cast<int>(expression)];
  }
  int inputs() const { return info().inputs; }
  bool truth() const { return info().truth; }  // the result is bool
};

// Each is defined once, next to its operator.
#define POINTWISE(name, inputs, classes, result) extern const PointwiseOp k_##name;
#include "kernels/pointwise.def"
#undef POINTWISE
// `where` with a row-major result, as in PyTorch's masked_fill; and the same with a mask that
// nobody else sees (tril, triu), so that a pass has nothing to free.
extern const PointwiseOp k_where_row_major, k_where_owned;

const PointwiseOp& operator_of(Expression expression);

// A call of an operator (pointwise.h), as what stands below calls is given it.
using PointwiseCall = Tensor (*)(const PointwiseOp& op, const Tensor* const* in, Into into);

}  // namespace libdl
