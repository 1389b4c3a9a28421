// SPDX-License-Identifier: Apache-2.0

#include "ops/pointwise/pointwise.h"

#include <atomic>
#include <bit>
#include <vector>

#include "entries/copy.h"
#include "entries/view.h"
#include "kernels/pointwise.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/pointwise/absorbed.h"
#include "ops/pointwise/in_rows.h"
#include "ops/pointwise/program.h"
#include "ops/primitive/form_plan.h"
#include "ops/primitive/launch.h"
#include "tensor/forms.h"
#include "tensor/memory_order.h"

namespace libdl {

namespace {
// Bit c: the expression exists for kernels::Class c.
constexpr auto kComputes = [] {
  std::array<uint8_t, kernels::kExpressions> bits{};
  for (int e = 0; e < kernels::kExpressions; ++e)
    for (int c = 0; c < kernels::kClasses; ++c)
      bits[e] |=
          static_cast<uint8_t>(kernels::expression_exists(e, static_cast<kernels::Class>(c)) << c);
  return bits;
}();

// class_of as a table in memory: the function's own is made anew in every call.
constexpr auto kClassOf = [] {
  std::array<kernels::Class, kDtypes> classes{};
  for (int t = 0; t < kDtypes; ++t) classes[t] = class_of(static_cast<Dtype>(t));
  return classes;
}();
kernels::Class compute_class(Dtype t) { return kClassOf[static_cast<int>(t)]; }
}  // namespace

// -- dtypes -----------------------------------------------------------------------------------

LIBDL_NORETURN [[gnu::cold]] static void reject_dtype(const PointwiseOp& op,
                                                      const Tensor* const* in, Dtype compute) {
  int blame = 0;
  for (int i = 0; i < op.inputs(); ++i)
    if (in[i]->dtype() == compute || category(in[i]->dtype()) == category(compute)) {
      blame = i;
      break;
    }
  std::string wanted;
  const char* separator = "a dtype that is ";
  for (const char* c = op.info().classes; *c; ++c) {
    const char* const word = *c == 'B'   ? "bool"
                             : *c == 'I' ? "integer"
                             : *c == 'F' ? "floating"
                             : *c == 'C' ? "complex"
                                         : nullptr;
    if (!word) continue;
    wanted += std::string(separator) + word;
    separator = " or ";
  }
  fail_argument(LIBDL_ERROR_DTYPE, op.name, op.arguments[blame],
                std::string("is ") + name_of(in[blame]->dtype()), wanted);
}

static Dtype compute_dtype(const PointwiseOp& op, const Tensor* const* in) {
  const int n = op.inputs();
  Dtype compute;
  switch (op.promotion) {
    case Promotion::kTruth: compute = Dtype::kBool; break;
    case Promotion::kSelect: compute = result_dtype({in + 1, static_cast<size_t>(n - 1)}); break;
    default:
      compute = in[0]->dtype();
      bool alike = !in[0]->is_number();
      for (int i = 1; i < n; ++i) alike &= !in[i]->is_number() && in[i]->dtype() == compute;
      if (!alike) compute = result_dtype({in, static_cast<size_t>(n)});
      if (op.promotion == Promotion::kFloat && !is_inexact(compute)) compute = default_dtype();
  }
  const uint8_t exists = kComputes[static_cast<int>(op.expression)];
  if (!(exists >> static_cast<int>(compute_class(compute)) & 1)) reject_dtype(op, in, compute);
  return compute;
}

Tensor unit_number(const char* op, const char* name, double value, const Tensor& input) {
  if (!is_floating(input.dtype()))  // beside an integer the number would make a floating one of it
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a dtype that is floating");
  const bool wide = input.dtype() == Dtype::kFloat64;
  Tensor held = number(value);
  check_number(op, name, held, wide ? Dtype::kFloat64 : Dtype::kFloat32);
  return held;
}

// -- shapes -----------------------------------------------------------------------------------

static Shape common_shape(const PointwiseOp& op, const Tensor* const* in, int n) {
  return broadcast_shape(op.name, op.arguments.data(), {in, static_cast<size_t>(n)});
}

// Whether the operands have the first one's shape, or one that every shape broadcasts.
static bool share_shape(const Tensor* const* in, int n) {
  for (int i = 1; i < n; ++i)
    if (in[i]->ndim() && !libdl::same(in[i]->shape(), in[0]->shape())) return false;
  return true;
}

// -- the launch -------------------------------------------------------------------------------

template <class P>  // a Plan or a FormPlan
[[gnu::always_inline]] static inline void launch(const P& plan, const PointwiseOp& op,
                                                 const Tensor& out, const Tensor* const* in, int n,
                                                 kernels::Class compute) {
  kernels::PointwiseArgs args;
  args.expression = static_cast<int32_t>(op.expression);
  args.compute = static_cast<int32_t>(compute);
  args.inputs = n;
  args.host_inputs = plan.host_inputs();
  args.out = plan.view(out, 0);
  for (int i = 0; i < n; ++i) args.in[i] = plan.view(*in[i], i + 1);
  launch_pointwise(out.device(), args);
}

// Who defers results and computes operators together with them (absorbed.h); NULL: nobody yet.
static std::atomic<const Absorbing*> absorbing{nullptr};

void absorb_by(const Absorbing& by) { absorbing.store(&by, std::memory_order_release); }

[[gnu::noinline]] static bool ran_in_forms(const PointwiseOp& op, const Tensor& out,
                                           const Tensor* const* in, int n, kernels::Class compute) {
  const Absorbing* const deferred = absorbing.load(std::memory_order_acquire);
  if (deferred && deferred->run(op.expression, out, in)) return true;
  FormPlan plan;
  if (!plan.set(out, {in, static_cast<size_t>(n)})) return false;
  launch(plan, op, out, in, n, compute);
  return true;
}

// kNew: a result that nobody has seen, which takes its operands' order in memory.
enum class Destination { kExisting, kNew };

template <Destination destination>
static void run(const PointwiseOp& op, const Tensor& out, const Tensor* const* in, int n,
                Dtype compute) {
  if (out.numel() == 0) return;
  const std::span operands(in, static_cast<size_t>(n));
  const auto order = [&] {
    if (destination == Destination::kExisting || op.row_major) return;
    choose_memory_order(out, operands,
                        op.promotion == Promotion::kTruth ? result_dtype(operands) : compute,
                        op.promotion == Promotion::kSelect);
  };
  Plan plan;
  if (memory_is_special()) [[unlikely]] {
    order();
    if (ran_in_forms(op, out, in, n, compute_class(compute))) return;
    plan.make_ready(out, operands);
  }
  plan.walk_new(out, operands, order);
  launch(plan, op, out, in, n, compute_class(compute));
}

// -- recording --------------------------------------------------------------------------------

namespace {
struct Record {
  const PointwiseOp* op;
  Dtype compute;
  int8_t saved[4];                  // saved index of x0, x1, x2 and y, or -1
  uint8_t summed = 0;               // inputs that were broadcast
  std::unique_ptr<Shape[]> shapes;  // of the inputs, where any was broadcast
};
}  // namespace

// Constant in pieces. A condition is, too: a rule's own may be floating and have a history (relu's
// derivative depends on relu's result), and then the second derivative is 0 rather than absent.
static bool has_zero_gradient(const PointwiseOp& op, int i) {
  return op.zero_gradient || (op.promotion == Promotion::kSelect && i == 0);
}

static int form_of(Dtype compute) { return is_complex(compute) ? kComplexVjp : kRealProgram; }

static inline Tensor differentiable(const PointwiseOp& op, int i, const Tensor* const* symbols) {
  if (!op.differentiable || !(state().mode & (kModeGrad | kModeForward))) return {};
  return op.differentiable(i, *symbols[0], symbols + 1);
}

[[gnu::noinline]] static Tensor gradient_later(const PointwiseOp& op, const Tensor& dy,
                                               const Tensor& y) {
  const Absorbing* const deferred = absorbing.load(std::memory_order_acquire);
  return deferred ? deferred->gradient(op.expression, dy, y) : Tensor();
}

static void pointwise_vjp(Backward& b) {
  const Record& r = b.attr<Record>();
  Tensor unpacked[4];
  const Tensor* values[4] = {};
  const bool steps = r.op->steps && (state().mode & kModeGrad);
  int last = r.op->inputs() - 1;
  while (last >= 0 && !b.needs(last)) --last;
  Tensor owned;
  for (int i = 0; i <= last; ++i) {
    if (!b.needs(i)) continue;
    if (i == last) owned = b.take_dy();
    const Tensor& dy = i == last ? owned : b.dy();
    Tensor dx;
    if (has_zero_gradient(*r.op, i)) {
      dx = zeros(dy.shape(), dy.dtype(), dy.device());
    } else {
      const Program& program = program_of(*r.op, i, form_of(r.compute));
      const Tensor* symbols[5] = {&dy};
      for (int k = 0; k < 4; ++k) {
        if (!(program.uses & (2u << k))) continue;
        if (!values[k]) {
          values[k] = &b.saved(r.saved[k], unpacked[k]);
          if (steps) [[unlikely]]
            values[k] = &(unpacked[k] = detach(*values[k]));
        }
        symbols[k + 1] = values[k];
      }
      if (memory_is_special() && symbols[4] && !b.differentiated() && !b.batch()) [[unlikely]]
        dx = gradient_later(*r.op, dy, *symbols[4]);
      if (!dx.defined()) dx = differentiable(*r.op, i, symbols);
      if (!dx.defined())
        dx = evaluate(program, symbols, r.compute, pointwise, i == last ? &owned : nullptr);
    }
    if (r.summed & (1 << i)) dx = sum_to(dx, r.shapes[i], b.lead());
    b.set_grad(i, std::move(dx));
  }
}

// Every pointwise operator's rule has its own name, for errors and printed graphs.
static const Rule* rule_of(const PointwiseOp& op) {
  static const std::unique_ptr<Rule[]> rules = [] {
    auto table = std::make_unique<Rule[]>(kernels::kExpressions);
    for (int i = 0; i < kernels::kExpressions; ++i)
      table[i] = {.name = operator_of(static_cast<Expression>(i)).name,
                  .vjp = pointwise_vjp,
                  .takes_batch = true};
    return table;
  }();
  return &rules[static_cast<int>(op.expression)];
}

static void no_gradient(const PointwiseOp& op, int i) {
  fail_argument(LIBDL_ERROR_AUTOGRAD, op.name, op.arguments[i],
                "requires grad, but no gradient flows there", "detach() of it");
}

// `position` as in Record.
static void keep_numbers(Node& node, const PointwiseOp& op, const Tensor* const* in,
                         std::span<const int8_t, 4> position) {
  node.keeps_saved = position[3] < 0;
  for (int i = 0; i < node.inputs; ++i) {
    const bool condition = op.promotion == Promotion::kSelect && i == 0;
    node.keeps_saved &= position[i] < 0 || condition || in[i]->is_number();
  }
}

// The node for a call whose result is y; `old` is the former value of the operands written in
// place, which in_place has bits for.
static Ref<Node> record(const PointwiseOp& op, const Tensor* const* in, const Tensor& y,
                        Dtype compute, uint32_t in_place, const Tensor& old) {
  const int n = op.inputs();
  Edge edges[3];
  uint32_t uses = 0;
  struct Edges {  // releases what an exception leaves behind
    Edge* edges;
    ~Edges() {
      for (int i = 0; i < 3; ++i) Ref<Node>::take(edges[i].node);
    }
  } guard{edges};
  for (int i = 0; i < n; ++i) {
    if (!in[i]->meta()) continue;
    edges[i] = history_of(*in[i]);
    if (!edges[i].node || has_zero_gradient(op, i)) continue;
    if (!op.partials[i]) no_gradient(op, i);
    uses |= program_of(op, i, form_of(compute)).uses;
  }
  uses >>= 1;  // dy is never saved
  Record r{&op, compute, {-1, -1, -1, -1}, 0, nullptr};
  int saves = 0;
  for (int k = 0; uses >> k; ++k)
    if (uses & (1 << k)) r.saved[k] = static_cast<int8_t>(saves++);
  for (int i = 0; i < n; ++i)
    if (edges[i].node && !libdl::same(in[i]->shape(), y.shape())) {
      if (!r.shapes) r.shapes = std::make_unique<Shape[]>(n);
      r.shapes[i].assign(in[i]->shape());
      r.summed |= static_cast<uint8_t>(1 << i);
    }
  const auto position = std::to_array(r.saved);
  Ref<Node> node = Ref<Node>::take(make_node(*rule_of(op), n, 1, saves, std::move(r)));
  connect_inputs(*node, std::span(edges, static_cast<size_t>(n)));
  for (int i = 0; i < n; ++i)
    if (position[i] >= 0) save(*node, position[i], in_place >> i & 1 ? old : *in[i], i);
  if (position[3] >= 0) save(*node, position[3], y, saved_output(0));
  if (op.keeps_numbers) keep_numbers(*node, op, in, position);
  return node;
}

// Whether backward will read the value of the operands that an in-place call is about to overwrite.
static bool old_value_needed(const PointwiseOp& op, const Tensor* const* in, uint32_t in_place,
                             Dtype compute) {
  if (op.zero_gradient) return false;
  for (int k = 0; k < op.inputs(); ++k)
    if (op.partials[k] && in[k]->meta() &&
        (program_of(op, k, form_of(compute)).uses & (in_place << 1)))
      return true;
  return false;
}

// -- forward mode -----------------------------------------------------------------------------

static Tensor tangent(const PointwiseOp& op, const Tensor* const* in, const Tensor& y,
                      Dtype compute, const Tensor* tangents) {
  Tensor sum;
  // (da - y db) / b: where b is 0, da / b and y db / b may be infinities of opposite signs.
  if (op.expression == Expression::div && tangents[0].defined() && tangents[1].defined())
    return pointwise(k_div, pointwise(k_sub, tangents[0], pointwise(k_mul, tangents[1], y)),
                     *in[1]);
  for (int i = 0; i < op.inputs(); ++i) {
    if (!tangents[i].defined() || op.zero_gradient) continue;
    if (op.promotion == Promotion::kSelect && i == 0) continue;
    if (!op.partials[i]) no_gradient(op, i);
    const Program& program = program_of(op, i, is_complex(compute) ? kComplexJvp : kRealProgram);
    const Tensor* const symbols[5] = {&tangents[i], in[0], op.inputs() > 1 ? in[1] : nullptr,
                                      op.inputs() > 2 ? in[2] : nullptr, &y};
    Tensor t = differentiable(op, i, symbols);
    if (!t.defined()) t = evaluate(program, symbols, compute, pointwise);
    sum = sum.defined() ? pointwise(k_add, sum, t) : std::move(t);
  }
  if (!sum.defined()) return zeros(y.shape(), y.dtype(), y.device());
  if (!libdl::same(sum.shape(), y.shape()))  // the tangent of a broadcast operand grows with it
    sum = pointwise(k_add, sum, zeros(y.shape(), y.dtype(), y.device()));
  return sum;
}

// The same for operands that the result overwrites (a bit for each): what the tangent's own history
// saves of them is saved of a copy.
static Tensor tangent_of_written(const PointwiseOp& op, const Tensor* const* in, uint32_t in_place,
                                 const Tensor& y, Dtype compute, const Tensor* tangents) {
  if (!in_place || !(state().mode & kModeGrad)) return tangent(op, in, y, compute, tangents);
  const Tensor old = clone(*in[std::countr_zero(in_place)]);
  std::vector<const Tensor*> operands(in, in + op.inputs());
  for (int i = 0; i < op.inputs(); ++i)
    if (in_place >> i & 1) operands[static_cast<size_t>(i)] = &old;
  return tangent(op, operands.data(), y, compute, tangents);
}

[[gnu::noinline]] static void dual_result(const PointwiseOp& op, const Tensor* const* in,
                                          const Tensor& y, Dtype compute) {
  const auto inputs = dual_inputs({in, static_cast<size_t>(op.inputs())});
  for (const DualInputs& dual : inputs) {
    const LevelsFrom outside(dual.level->outer);
    give_tangent(y, *dual.level, tangent(op, in, y, compute, dual.tangents.data()));
  }
  save_tangents(y, inputs);
}

// -- the call ---------------------------------------------------------------------------------

[[gnu::noinline]] static Tensor pointwise_into(const PointwiseOp& op, const Tensor* const* in,
                                               const Tensor& dst);

// Of truth, which has no derivative: written into what has no history, it brings none along. In
// place a comparison is recorded for its operand's sake, as in PyTorch.
static bool brings_no_history(const PointwiseOp& op, const Tensor* const* in, const Tensor& dst) {
  if (has_history(dst)) return false;
  if (op.promotion == Promotion::kTruth) return true;
  for (int i = 0; i < op.inputs(); ++i)
    if (dst.is(*in[i])) return false;
  return true;
}

[[gnu::cold]] static Tensor shown(const PointwiseOp& op, const Tensor* const* in, Into into) {
  const observe_detail::Name name{op.name, false, op.arguments.data()};
  const auto again = [&] { return pointwise(op, in, into); };
  switch (op.inputs()) {
    case 1: return observe_detail::call(name, again, *in[0], into);
    case 2: return observe_detail::call(name, again, *in[0], *in[1], into);
    default: return observe_detail::call(name, again, *in[0], *in[1], *in[2], into);
  }
}

// The result by rows; undefined if there is none, or if the call is recorded.
[[gnu::noinline]] static Tensor sparse_result(const PointwiseOp& op, const Tensor* const* in,
                                              Dtype compute, bool meta) {
  const uint32_t mode = state().mode;
  for (int i = 0; meta && i < op.inputs(); ++i)
    if ((mode & kModeForward) || ((mode & kModeGrad) && has_history(*in[i]))) return {};
  return in_rows(op, in, compute, pointwise);
}

Tensor pointwise(const PointwiseOp& op, const Tensor* const* in, Into into) {
  if (observed()) [[unlikely]]
    return shown(op, in, into);
  if (into) return pointwise_into(op, in, into.tensor());
  const int n = op.inputs();
  const Dtype compute = compute_dtype(op, in);
  bool equal = true, meta = false;
  for (int i = 0; i < n; ++i) {
    meta |= in[i]->meta() != nullptr;
    equal &= libdl::same(in[i]->shape(), in[0]->shape());
  }
  if (memory_is_special()) [[unlikely]]
    if (Tensor y = sparse_result(op, in, compute, meta); y.defined()) return y;
  const Dtype out_dtype = op.truth() ? Dtype::kBool : compute;
  const Device device = result_device({in, static_cast<size_t>(n)});
  const Tensor y = equal ? empty(in[0]->shape(), out_dtype, device)
                         : empty(common_shape(op, in, n), out_dtype, device);
  run<Destination::kNew>(op, y, in, n, compute);
  born(y);
  if (!meta || op.truth() || !is_inexact(compute)) return y;

  const uint32_t mode = state().mode;
  if (mode & kModeGrad) {
    bool records = false;
    for (int i = 0; i < n; ++i) records |= has_history(*in[i]);
    if (records) {
      Meta& m = meta_of(y);
      set_maker(m, record(op, in, y, compute, 0, y));
    }
  }
  if (mode & kModeForward) dual_result(op, in, y, compute);
  return y;
}

Tensor pointwise_into(const PointwiseOp& op, const Tensor* const* in, const Tensor& dst) {
  const int n = op.inputs();
  if (op.truth() && (state().mode & kModeGrad) && brings_no_history(op, in, dst)) {
    const ModeGuard off(kModeGrad);
    return pointwise_into(op, in, dst);
  }
  Call call(op.name, Into(dst), std::span(in, static_cast<size_t>(n)));
  const Dtype compute = compute_dtype(op, in);
  // What optimizers write list by list must not fail half-way: no shape of its own is made here.
  call.check_result(share_shape(in, n) ? in[0]->shape() : Dims(common_shape(op, in, n)),
                    op.truth() ? Dtype::kBool : compute,
                    result_device({in, static_cast<size_t>(n)}));

  if (call.is_unrecorded()) {
    if (memory_is_special() && written_in_rows(op, in, compute, pointwise, dst)) [[unlikely]]
      return dst;
    run<Destination::kExisting>(op, dst, in, n, compute);
    written(dst, op.name);
    return dst;
  }
  uint32_t in_place = 0;  // a bit for each operand that dst is
  for (int i = 0; i < n; ++i)
    if (call.in_place() && overlap(dst, *in[i]) == Overlap::kFull) in_place |= 1u << i;
  // History first, then the write: a failed allocation must not leave dst written and unrecorded.
  // Tangents and the host's hooks on saved values want the result, so there it is made aside.
  const bool aside = call.forward() || saves_through_hooks();
  Tensor y = aside ? empty(dst.shape(), dst.dtype(), dst.device()) : alias(dst);
  if (aside) run<Destination::kExisting>(op, y, in, n, compute);
  Saved* result = nullptr;
  if (call.recording() && !op.truth()) {
    Tensor old;
    if (in_place && old_value_needed(op, in, in_place, compute))
      old = clone(*in[std::countr_zero(in_place)]);
    set_maker(y, record(op, in, y, compute, in_place, old));
    Node& node = *y.meta()->node;
    for (int k = 0; k < node.saves && !aside; ++k)
      if (node.saved()[k].source == saved_output(0)) result = &node.saved()[k];
  }
  if (call.forward() && !op.truth())
    call.ready_jvp(
        y, [&] { return tangent_of_written(op, in, in_place, y, compute, &call.tangent(0)); });
  call.ready(y);
  if (!aside) run<Destination::kExisting>(op, dst, in, n, compute);
  call.finish(y);
  if (result) result->version = saved_version(*dst.get());
  return dst;
}

}  // namespace libdl
