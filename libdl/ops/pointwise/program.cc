// SPDX-License-Identifier: Apache-2.0

#include "ops/pointwise/program.h"

#include <complex>
#include <vector>

#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/primitive/form_plan.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/observe.h"
#include "ops/primitive/result.h"
#include "tensor/memory_order.h"
#include "tensor/packed.h"

namespace libdl {

// -- building -----------------------------------------------------------------------------------

namespace {
struct Item {
  enum { kSymbol, kConstant, kStep } kind;
  int symbol;
  double value;
  Expression expression;
  int in[kernels::kMaxInputs];
  int inputs;
  bool live;
};

struct Builder {
  std::vector<Item> items;
  int form;

  int add(Item item) {
    items.push_back(item);
    return static_cast<int>(items.size()) - 1;
  }
  void mark(int id) {
    if (items[id].live) return;
    items[id].live = true;
    for (int k = 0; k < items[id].inputs; ++k) mark(items[id].in[k]);
  }
};
thread_local Builder* builder = nullptr;  // while a Partial runs
}  // namespace

Expr apply(Expression f, std::initializer_list<Expr> arguments) {
  Item item{Item::kStep, 0, 0, f, {}, 0, false};
  for (const Expr a : arguments) item.in[item.inputs++] = a.id;
  return {builder->add(item)};
}
Expr constant(double value) {
  for (size_t id = 0; id < builder->items.size(); ++id)  // each value once
    if (builder->items[id].kind == Item::kConstant && builder->items[id].value == value)
      return {static_cast<int>(id)};
  return {builder->add({Item::kConstant, 0, value, Expression{}, {}, 0, false})};
}
Expr conj(Expr a) { return builder->form == kComplexVjp ? apply(Expression::conj, {a}) : a; }
Expr where(Expr condition, Expr a, Expr b) { return apply(Expression::where, {condition, a, b}); }
Expr softplus_derivative(Expr x, Expr beta, Expr threshold) {
  return apply(Expression::softplus_derivative, {x, beta, threshold});
}
Expr in_range(Expr x, Expr low, Expr high) {
  return apply(Expression::threshold_mask, {x, low, high});
}
Expr hardtanh(Expr x, Expr low, Expr high) { return apply(Expression::hardtanh, {x, low, high}); }
Expr hardtanh_derivative(Expr x, Expr low, Expr high) {
  return apply(Expression::hardtanh_derivative, {x, low, high});
}

static Program build(Partial partial, int form) {
  Builder scratch{{}, form};
  struct Scope {
    explicit Scope(Builder* b) { builder = b; }
    ~Scope() { builder = nullptr; }
  } scope(&scratch);
  Symbols s;
  Expr* const symbols[5] = {&s.dy, &s.x[0], &s.x[1], &s.x[2], &s.y};
  for (int k = 0; k < 5; ++k)
    *symbols[k] = {scratch.add({Item::kSymbol, k, 0, Expression{}, {}, 0, false})};
  s.complex = form != kRealForm;
  s.forward = form == kComplexJvp;
  const Expr result = partial(s);
  scratch.mark(result.id);

  Program p;
  std::vector<int> reg(scratch.items.size(), -1);
  const auto each = [&](int kind, auto&& f) {
    for (size_t id = 0; id < scratch.items.size(); ++id)
      if (scratch.items[id].live && scratch.items[id].kind == kind) f(id, scratch.items[id]);
  };
  each(Item::kSymbol, [&](size_t id, const Item& item) {
    p.uses |= 1u << item.symbol;
    p.symbol[p.inputs] = static_cast<int8_t>(item.symbol);
    reg[id] = p.inputs++;
  });
  each(Item::kConstant, [&](size_t id, const Item& item) {
    if (p.constants == std::ssize(p.constant))
      fail(LIBDL_ERROR_INTERNAL, "derivative", "has more constants than a program holds");
    p.constant[p.constants] = item.value;
    reg[id] = p.inputs + p.constants++;
  });
  each(Item::kStep, [&](size_t id, const Item& item) {
    if (p.length == std::ssize(p.code))
      fail(LIBDL_ERROR_INTERNAL, "derivative", "has more steps than a program holds");
    kernels::Instruction& step = p.code[p.length];
    step.expression = static_cast<int32_t>(item.expression);
    for (int k = 0; k < item.inputs; ++k) step.in[k] = reg[item.in[k]];
    reg[id] = p.inputs + p.constants + p.length++;
  });
  p.result = reg[result.id];
  return p;
}

const Program& program_of(const PointwiseOp& op, int i, int form) {
  std::atomic<const Program*>& place = op.programs[form][i];
  if (const Program* const ready = place.load(std::memory_order_acquire)) return *ready;
  const Program* const made = new Program(build(op.partials[i], form));
  const Program* expected = nullptr;
  if (place.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return *made;
  delete made;  // another thread was first
  return *expected;
}

// -- running ------------------------------------------------------------------------------------

// A step of numbers alone is computed in double precision and stays a number: the operator would
// make of it a tensor of the default dtype, and what has more digits would lose them.
static Tensor step_of_numbers(PointwiseCall step, const PointwiseOp& op, const Tensor* const* in,
                              Dtype dtype) {
  const ModeGuard off(kModeGrad | kModeForward);
  Tensor wide[kernels::kMaxInputs];
  const Tensor* operands[kernels::kMaxInputs];
  for (int j = 0; j < op.inputs(); ++j) {
    wide[j] = plain(*in[j], is_complex(dtype) ? Dtype::kComplex128 : Dtype::kFloat64);
    operands[j] = &wide[j];
  }
  const Tensor y = step(op, operands, {});
  if (!is_complex(dtype)) return number(item_f64(y));
  const auto [re, im] = item_c128(y);
  return number(std::complex<double>(re, im));
}

// Whether an operand of a step in 16 bits has no dimension, as others have, and more digits: the
// operator reads it as it is, and it may be beyond the range of 16 bits where the result is not.
static bool read_wide(const Tensor& x, const Tensor& other, Dtype dtype) {
  return is_floating(dtype) && size_of(dtype) == 2 && x.ndim() == 0 && is_floating(x.dtype()) &&
         size_of(x.dtype()) > 2 && !other.is_number() && other.ndim() > 0;
}

// A step's operands by register, each step an operator call that records itself and computes, as
// the fused form does, in the result's dtype.
static Tensor step_by_step(const Program& p, const Tensor* const* symbols, Dtype dtype,
                           PointwiseCall step) {
  std::vector<Tensor> reg(static_cast<size_t>(p.inputs + p.constants + p.length));
  for (int k = 0; k < p.inputs; ++k) reg[k] = *symbols[p.symbol[k]];
  for (int k = 0; k < p.constants; ++k) reg[p.inputs + k] = number(p.constant[k]);
  for (int k = 0; k < p.length; ++k) {
    const PointwiseOp& op = operator_of(static_cast<Expression>(p.code[k].expression));
    const Tensor* in[kernels::kMaxInputs];
    bool numbers = true;
    for (int j = 0; j < op.inputs(); ++j) {
      Tensor& x = reg[p.code[k].in[j]];
      const bool condition = op.promotion == Promotion::kSelect && j == 0;
      const bool two = op.inputs() == 2 && op.promotion != Promotion::kSelect;
      if (!x.is_number() && !condition && !(two && read_wide(x, reg[p.code[k].in[1 - j]], dtype)))
        x = cast(x, dtype);
      numbers &= x.is_number();
      in[j] = &x;
    }
    reg[p.inputs + p.constants + k] =
        numbers ? step_of_numbers(step, op, in, dtype) : step(op, in, {});
  }
  return reg[p.result];
}

static void broadcast(Shape& shape, Dims other) {
  while (shape.size() < other.size()) shape.insert(0, 1);
  for (size_t d = 0; d < other.size(); ++d) {
    int64_t& size = shape[shape.size() - other.size() + d];
    if (size == 1) size = other[d];
  }
}

// One launch: of the kernel of a single expression, or of the program.
template <class P>  // a Plan or a FormPlan
static inline void launch(const Program& p, Dtype dtype, const P& plan, const Tensor& out,
                          const Tensor* const* in) {
  if (p.length == 1 && p.constants == 0) {
    kernels::PointwiseArgs args;
    args.expression = p.code[0].expression;
    args.compute = static_cast<int32_t>(class_of(dtype));
    args.inputs = operator_of(static_cast<Expression>(p.code[0].expression)).inputs();
    for (int j = 0; j < args.inputs; ++j)
      args.host_inputs |= (plan.host_inputs() >> p.code[0].in[j] & 1) << j;
    args.out = plan.view(out, 0);
    for (int j = 0; j < args.inputs; ++j)
      args.in[j] = plan.view(*in[p.code[0].in[j]], p.code[0].in[j] + 1);
    return launch_pointwise(out.device(), args);
  }
  kernels::ProgramArgs args;
  args.compute = static_cast<int32_t>(class_of(dtype));
  args.inputs = p.inputs;
  args.host_inputs = plan.host_inputs();
  args.constants = p.constants;
  args.length = p.length;
  args.code = p.code;
  std::copy(std::begin(p.constant), std::end(p.constant), args.constant);
  args.out = plan.view(out, 0);
  for (int k = 0; k < p.inputs; ++k) args.in[k] = plan.view(*in[k], k + 1);
  launch_program(out.device(), args);
}

// The symbol of the gradient or tangent that a program is given. What is made of it takes the
// layout of the forward's values.
constexpr int kUpstream = 0;

// Whether memory of the gradient would be kept although the forward's values are in a form.
[[gnu::noinline]] static bool leaves_the_form(const Program& p, const Tensor* const* in,
                                              const Tensor& scratch) {
  if (scratch.storage().packed_only()) return false;
  for (int k = 0; k < p.inputs; ++k)
    if (p.symbol[k] != kUpstream && !in[k]->is_number() && in[k]->storage().packed_only())
      return true;
  return false;
}

[[gnu::noinline]] static bool ran_in_forms(const Program& p, Dtype dtype, const Tensor& out,
                                           std::span<const Tensor* const> in) {
  FormPlan plan;
  if (!plan.set(out, in, p.symbol[0] == kUpstream)) return false;
  launch(p, dtype, plan, out, in.data());
  return true;
}

// is_new: out lies as its operands do, else where it is given.
static void launch(const Program& p, Dtype dtype, const Tensor& out,
                   std::span<const Tensor* const> in, bool is_new) {
  Plan plan;
  const auto order = [&] {
    if (is_new) lie_as(out, in, dtype);
  };
  if (memory_is_special()) [[unlikely]] {
    order();
    if (ran_in_forms(p, dtype, out, in)) return;
    plan.make_ready(out, in);
  }
  plan.walk_new(out, in, order);
  launch(p, dtype, plan, out, in.data());
}

// Shown as a part of the operator that is differentiated.
[[gnu::cold]] static Tensor shown(const Program& p, const Tensor* const* symbols, Dtype dtype,
                                  PointwiseCall step, Tensor* scratch) {
  std::array<const Tensor*, 5> in{};
  for (int k = 0; k < p.inputs; ++k) in[k] = symbols[p.symbol[k]];
  return observe_detail::call(
      {"derivative", true}, [&] { return evaluate(p, symbols, dtype, step, scratch); }, in[0],
      in[1], in[2], in[3], in[4]);
}

Tensor evaluate(const Program& p, const Tensor* const* symbols, Dtype dtype, PointwiseCall step,
                Tensor* scratch) {
  if (p.length == 0 && p.inputs == 1) {
    const Tensor* const only = symbols[p.symbol[0]];
    if (only == scratch) return std::move(*scratch);
    return *only;
  }
  if (state().mode & (kModeGrad | kModeForward)) return step_by_step(p, symbols, dtype, step);
  if (observed()) [[unlikely]]
    return shown(p, symbols, dtype, step, scratch);

  const Tensor* in[5];
  bool equal = true;
  for (int k = 0; k < p.inputs; ++k) {
    in[k] = symbols[p.symbol[k]];
    equal &= same(in[k]->shape(), in[0]->shape());
  }
  Tensor out;
  bool is_new = false;
  if (equal && scratch && scratch->dtype() == dtype && is_dense(*scratch) &&
      same(scratch->shape(), in[0]->shape()) && sole_owner(*scratch) &&
      !(memory_is_special() && leaves_the_form(p, in, *scratch))) {
    out = std::move(*scratch);
    for (int k = 0; k < p.inputs; ++k)
      if (in[k] == scratch) in[k] = &out;
  } else if (equal) {
    is_new = true;
    out = empty(in[0]->shape(), dtype, result_device({in, static_cast<size_t>(p.inputs)}));
  } else {
    is_new = true;
    Shape shape(in[0]->shape());
    for (int k = 1; k < p.inputs; ++k) broadcast(shape, in[k]->shape());
    out = empty(shape, dtype, result_device({in, static_cast<size_t>(p.inputs)}));
  }
  if (out.numel() == 0) return out;

  launch(p, dtype, out, {in, static_cast<size_t>(p.inputs)}, is_new);
  // Of what was in scratch products may have kept panels: no version tells that they are stale.
  if (out.storage().packed.load(std::memory_order_relaxed)) drop_packed(out.storage());
  return out;
}

}  // namespace libdl
