// SPDX-License-Identifier: Apache-2.0

#include "capi/registered.h"

#include <limits>
#include <map>
#include <memory>

#include "base/contained.h"
#include "base/lock.h"
#include "capi/arguments.h"
#include "capi/depth.h"
#include "capi/returned.h"
#include "capi/schema.h"
#include "capi/scope.h"
#include "capi/values.h"
#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"

using namespace libdl;
using namespace libdl::capi;

namespace libdl::capi {

template <class Function>
struct HostFunction {
  Function function = nullptr;
  void* ctx = nullptr;
};

struct Registered {
  Schema schema;
  std::string text;
  std::vector<OpArgument> arguments;
  std::vector<OpResult> results;
  OpEntry entry{};
  Rule rule{};
  // What follows is under the operator's stripe.
  std::map<int32_t, HostFunction<libdl_op_kernel>> kernels;  // by device type
  HostFunction<libdl_op_vjp> vjp;
  HostFunction<libdl_op_jvp> jvp;
};

namespace {

// Lives as long as the process: numbers and names that were given out stay good.
struct Registry {
  Mutex mutex;
  std::vector<std::unique_ptr<Registered>> operators;
};
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

// -- arguments kept for backward ----------------------------------------------------------------

// A call's arguments without the tensors, which the node saves; owns its arrays and text.
class KeptArguments {
 public:
  KeptArguments(const libdl_value* arguments, int32_t count)
      : values_(arguments, arguments + count), arrays_(count), texts_(count) {
    for (int32_t i = 0; i < count; ++i) keep(i);
  }
  KeptArguments(KeptArguments&& other) noexcept = default;

  const std::vector<libdl_value>& values() const { return values_; }

 private:
  void keep(int32_t i) {
    libdl_value& value = values_[i];
    if (value.type == LIBDL_VALUE_INTS) {
      arrays_[i].assign(value.held.integers.items,
                        value.held.integers.items + value.held.integers.count);
      value.held.integers.items = arrays_[i].data();  // vectors keep their memory when moved
    } else if (value.type == LIBDL_VALUE_STRING) {
      const std::string_view text =
          value.held.string.length < 0
              ? std::string_view(value.held.string.text)
              : std::string_view(value.held.string.text, value.held.string.length);
      texts_[i].assign(text.begin(), text.end());
      texts_[i].push_back('\0');
      value.held.string.text = texts_[i].data();
      value.held.string.length = static_cast<int64_t>(text.size());
    } else if (value.type == LIBDL_VALUE_GENERATOR) {
      value.held.generator = nullptr;  // its state has moved on
    }
  }

  std::vector<libdl_value> values_;
  std::vector<std::vector<int64_t>> arrays_;
  std::vector<std::vector<char>> texts_;
};

struct Attr {
  Registered* op;
  KeptArguments arguments;
};

int64_t tensors_in(const libdl_value& value) {
  if (value.type == LIBDL_VALUE_TENSORS) return value.held.tensors.count;
  return value.type == LIBDL_VALUE_TENSOR;
}

// The tensors of all arguments in order, NULL where a nullable one is absent.
std::vector<const libdl_tensor*> spread(const Registered& op, const libdl_value* values) {
  std::vector<const libdl_tensor*> tensors;
  for (size_t i = 0; i < op.arguments.size(); ++i) {
    const libdl_value& value = values[i];
    if (op.arguments[i].type == LIBDL_VALUE_TENSOR)
      tensors.push_back(value.type == LIBDL_VALUE_NONE ? nullptr : value.held.tensor);
    else if (value.type == LIBDL_VALUE_TENSORS)
      tensors.insert(tensors.end(), value.held.tensors.items,
                     value.held.tensors.items + value.held.tensors.count);
  }
  return tensors;
}

// -- backward -------------------------------------------------------------------------------------

HostFunction<libdl_op_vjp> vjp_of(Registered& op) {
  const StripeLock lock(&op);
  return op.vjp;
}

void run_vjp(Backward& backward) {
  const Attr& attr = backward.attr<Attr>();
  Registered& op = *attr.op;
  const HostFunction<libdl_op_vjp> vjp = vjp_of(op);
  if (!vjp.function)
    fail(LIBDL_ERROR_AUTOGRAD, op.entry.name, "has no gradient: libdl_op_set_vjp was not called");

  const int count = backward.inputs();
  const int result_count = op.entry.result_count;
  std::vector<Tensor> inputs(count), outputs(result_count);
  for (int i = 0; i < count; ++i) inputs[i] = backward.saved(i);
  for (int k = 0; k < result_count; ++k) outputs[k] = backward.saved(count + k);

  std::vector<libdl_value> values = attr.arguments.values();
  const auto* next = reinterpret_cast<const libdl_tensor* const*>(inputs.data());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].type == LIBDL_VALUE_TENSOR)
      values[i].held.tensor = const_cast<libdl_tensor*>(*next);
    if (values[i].type == LIBDL_VALUE_TENSORS) values[i].held.tensors.items = next;
    next += op.arguments[i].type == LIBDL_VALUE_TENSOR ? 1 : tensors_in(values[i]);
  }

  std::vector<const libdl_tensor*> grads(result_count), results(result_count);
  for (int k = 0; k < result_count; ++k) {
    grads[k] = backward.dy(k).get();
    results[k] = outputs[k].get();
  }
  std::vector<libdl_bool> needed(count);
  for (int i = 0; i < count; ++i) needed[i] = backward.needs(i);
  std::vector<libdl_tensor*> slots(count);
  const ScopePause outside;
  libdl_error* const error =
      vjp.function(vjp.ctx, values.data(), static_cast<int32_t>(values.size()), results.data(),
                   grads.data(), result_count, needed.data(), slots.data(), count);
  outside.returned(slots);
  check_returned(op.entry.name, error);
  Returned returned(slots);
  check_gradients(op.entry.name, returned);
  for (int i = 0; i < count; ++i) {
    Tensor& dx = returned.tensors[i];
    if (dx.defined() && backward.needs(i))
      backward.set_grad(i, fit_gradient(op.entry.name, i, meta_for(inputs[i]), std::move(dx)));
  }
}

// -- forward mode ---------------------------------------------------------------------------------

// The tangents of all results, asked for once a level.
class Jvp {
 public:
  Jvp(Registered& op, const Call& call, const libdl_value* arguments,
      std::span<const Tensor* const> inputs, std::span<const Tensor> outputs)
      : op_(op), call_(call), arguments_(arguments), inputs_(inputs), outputs_(outputs) {}

  // Of result k, in the next level that it is asked for.
  Tensor of(size_t k) {
    level_.resize(outputs_.size());
    const size_t level = level_[k]++;
    if (level == levels_.size()) levels_.push_back(run());
    return levels_[level][k];
  }

 private:
  std::vector<Tensor> run() const;

  Registered& op_;
  const Call& call_;
  const libdl_value* arguments_;
  std::span<const Tensor* const> inputs_;
  std::span<const Tensor> outputs_;
  std::vector<size_t> level_;
  std::vector<std::vector<Tensor>> levels_;
};

HostFunction<libdl_op_jvp> jvp_of(Registered& op) {
  const StripeLock lock(&op);
  if (!op.jvp.function)
    fail(LIBDL_ERROR_AUTOGRAD, op.entry.name,
         "has no rule for forward mode: libdl_op_set_jvp was not called");
  return op.jvp;
}

std::vector<Tensor> Jvp::run() const {
  const char* const name = op_.entry.name;
  const HostFunction<libdl_op_jvp> jvp = jvp_of(op_);
  std::vector<const libdl_tensor*> tangents, results;
  for (size_t i = 0; i < inputs_.size(); ++i)
    tangents.push_back(call_.tangent(static_cast<int>(i)).get());
  for (const Tensor& y : outputs_) results.push_back(y.get());
  std::vector<libdl_tensor*> slots(outputs_.size());
  const ScopePause outside;
  const HostDepth depth(name);
  libdl_error* const error = jvp.function(jvp.ctx, arguments_, op_.entry.argument_count,
                                          results.data(), op_.entry.result_count, tangents.data(),
                                          static_cast<int32_t>(tangents.size()), slots.data());
  outside.returned(slots);
  check_returned(name, error);
  Returned returned(slots);
  if (!returned.wrong.empty())
    fail(returned.code, name, "jvp left tangent " + returned.wrong + ", wanted a tensor");
  for (size_t k = 0; k < outputs_.size(); ++k) {
    Tensor& t = returned.tensors[k];
    const Tensor& y = outputs_[k];
    if (!is_inexact(y.dtype())) continue;
    if (!t.defined())
      t = zeros(y.shape(), y.dtype(), y.device());
    else if (const auto wrong = mismatch(t, meta_for(y)))
      fail(wrong->code, name,
           "jvp left tangent " + std::to_string(k + 1) + " of " + wrong->found + ", wanted " +
               wrong->wanted);
  }
  return std::move(returned.tensors);
}

// -- forward --------------------------------------------------------------------------------------

HostFunction<libdl_op_kernel> kernel_for(Registered& op, std::span<const Tensor* const> inputs) {
  int32_t device = LIBDL_DEVICE_CPU;
  for (const Tensor* x : inputs) {
    if (!x || x->is_number()) continue;
    device = x->device().type;
    break;
  }
  const StripeLock lock(&op);
  const auto at = op.kernels.find(device);
  if (at == op.kernels.end())
    fail(LIBDL_ERROR_UNSUPPORTED, op.entry.name,
         "has no kernel for devices of type " + std::to_string(device));
  return at->second;
}

// A kernel may hand an input through, one tensor twice, or one with a history of its own; recording
// must write none of theirs.
Tensor fresh(const Tensor& y, std::span<const Tensor* const> inputs,
             std::span<const Tensor> before) {
  bool known = y.meta() != nullptr;
  for (const Tensor* x : inputs) known |= x && x->is(y);
  for (const Tensor& x : before) known |= x.is(y);
  return known ? alias(y) : y;
}

std::vector<Tensor> run_kernel(Registered& op, std::span<const Tensor* const> inputs,
                               const libdl_value* arguments) {
  const HostFunction<libdl_op_kernel> kernel = kernel_for(op, inputs);
  std::vector<libdl_tensor*> slots(op.entry.result_count);
  const ScopePause outside;
  const HostDepth depth(op.entry.name);
  libdl_error* const error = kernel.function(kernel.ctx, arguments, op.entry.argument_count,
                                             slots.data(), op.entry.result_count);
  outside.returned(slots);
  check_returned(op.entry.name, error);
  Returned returned(slots);
  if (!returned.wrong.empty())
    fail(returned.code, op.entry.name,
         "the kernel left result " + returned.wrong + ", wanted a tensor");
  std::vector<Tensor>& outputs = returned.tensors;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k].defined() || outputs[k].is_number())
      fail(LIBDL_ERROR_CALLBACK, op.entry.name, "the kernel left a result without a tensor");
    outputs[k] = fresh(outputs[k], inputs, {outputs.data(), k});
  }
  return std::move(outputs);
}

// overwritten: the operand that an in-place call writes, of which its gradient wants the old value.
void record(Registered& op, const libdl_value* arguments, std::span<const Tensor* const> inputs,
            std::span<const Tensor> outputs, const Tensor* overwritten = nullptr) {
  const size_t saves = inputs.size() + outputs.size();
  if (saves > std::numeric_limits<int32_t>::max())
    fail(LIBDL_ERROR_LIMIT, op.entry.name, "has too many tensors to be recorded");
  const Ref<Node> owned = Ref<Node>::take(make_node(
      op.rule, static_cast<int>(inputs.size()), static_cast<int>(outputs.size()),
      static_cast<int>(saves), Attr{&op, KeptArguments(arguments, op.entry.argument_count)}));
  Node* const node = owned.get();
  connect_inputs(*node, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const bool goes = overwritten && overlap(*overwritten, *inputs[i]) != Overlap::kNone;
    save(*node, static_cast<int>(i), goes ? clone(*inputs[i]) : *inputs[i],
         static_cast<int32_t>(i));
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (is_inexact(outputs[k].dtype())) set_maker(outputs[k], owned, static_cast<int32_t>(k));
    save(*node, static_cast<int>(inputs.size() + k), outputs[k], saved_output(static_cast<int>(k)));
  }
}

}  // namespace

int32_t registered_count() {
  const std::lock_guard lock(registry().mutex);
  return static_cast<int32_t>(registry().operators.size());
}

static Registered* registered_at(int32_t number) {
  const std::lock_guard lock(registry().mutex);
  const auto& operators = registry().operators;
  const bool exists = number >= 0 && static_cast<size_t>(number) < operators.size();
  return exists ? operators[number].get() : nullptr;
}

const OpEntry* find_registered(int32_t number) {
  Registered* const op = registered_at(number);
  return op ? &op->entry : nullptr;
}

static int32_t find_locked(std::string_view name) {
  const auto& operators = registry().operators;
  for (size_t i = 0; i < operators.size(); ++i)
    if (operators[i]->schema.name == name) return static_cast<int32_t>(i);
  return -1;
}

int32_t find_registered(std::string_view name) {
  const std::lock_guard lock(registry().mutex);
  return find_locked(name);
}

// Past those who look on: `run` is the call once more. Results are new, or NONE where it fails.
template <class F>
static void show_registered(ObservedCall seen, F run) {
  try {
    observe_detail::observe(seen, run);
  } catch (...) {
    std::fill(seen.results.begin(), seen.results.end(), absent());
    throw;
  }
}
static ObservedCall seen_call(const OpEntry& entry, const libdl_value* arguments) {
  ObservedCall seen{entry.name};
  seen.arguments = {arguments, static_cast<size_t>(entry.argument_count)};
  return seen;
}

namespace {
// The tensors of a call as the operators take them.
struct Inputs {
  std::vector<const libdl_tensor*> handles;
  std::vector<const Tensor*> tensors;
  Inputs(const Registered& op, const libdl_value* arguments) : handles(spread(op, arguments)) {
    for (const libdl_tensor* const& handle : handles)
      tensors.push_back(handle ? &borrow(handle) : nullptr);
  }
  operator std::span<const Tensor* const>() const { return tensors; }
};
}  // namespace

void call_registered(const OpEntry& entry, const libdl_value* arguments, libdl_value* results) {
  Registered& op = *entry.registered;
  check_handles(entry, arguments);
  if (observed()) {
    const auto count = static_cast<size_t>(entry.result_count);
    std::fill_n(results, count, typed(LIBDL_VALUE_TENSOR));
    ObservedCall seen = seen_call(entry, arguments);
    seen.results = {results, count};
    return show_registered(seen, [&] { call_registered(entry, arguments, results); });
  }
  const Inputs inputs(op, arguments);
  std::vector<Tensor> outputs;
  {
    Call call(entry.name, Into(), std::span<const Tensor* const>(inputs));
    if (call.forward()) jvp_of(op);  // before the work
    outputs = run_kernel(op, inputs, arguments);
    if (call.recording()) record(op, arguments, inputs, outputs);
    if (call.forward()) {
      Jvp jvp(op, call, arguments, inputs, outputs);
      for (size_t k = 0; k < outputs.size(); ++k)
        if (is_inexact(outputs[k].dtype())) call.jvp(outputs[k], [&] { return jvp.of(k); });
    }
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    born(outputs[k]);
    put(results[k], outputs[k].release());
  }
}

static Into destination(const OpEntry& entry, libdl_tensor* const* dsts, int k) {
  check_tensor(entry.name, entry.results[k].name, dsts[k]);
  return Into(borrow(dsts[k]), entry.results[k].name);
}

// As an operator's into form: in place where dst is an operand.
static void one_into(Registered& op, const libdl_value* arguments, const Inputs& inputs,
                     Into into) {
  Call call(op.entry.name, into, std::span<const Tensor* const>(inputs));
  if (call.forward()) jvp_of(op);
  std::vector<Tensor> outputs = run_kernel(op, inputs, arguments);
  Tensor& y = outputs[0];
  call.check_result(y.shape(), y.dtype(), y.device());
  if (call.recording()) record(op, arguments, inputs, outputs, &into.tensor());
  if (call.forward()) {
    Jvp jvp(op, call, arguments, inputs, outputs);
    call.ready_jvp(y, [&] { return jvp.of(0); });
  }
  call.write_into(y);
}

// Several destinations are buffers for results that nobody records. All checks come before the
// first write.
static void all_into(Registered& op, const libdl_value* arguments, const Inputs& inputs,
                     std::span<const Into> intos) {
  const OpEntry& entry = op.entry;
  for (size_t k = 0; k < intos.size(); ++k) {
    const Call check(entry.name, intos[k], std::span<const Tensor* const>(inputs));
    if (check.in_place())
      fail_argument(LIBDL_ERROR_OVERLAP, entry.name, intos[k].name, "is an operand",
                    "memory of its own: the operator has several results");
    for (size_t j = 0; j < k; ++j)
      if (overlap(intos[j].tensor(), intos[k].tensor()) != Overlap::kNone)
        fail_argument(LIBDL_ERROR_OVERLAP, entry.name, intos[k].name,
                      std::string("shares memory with ") + intos[j].name, "memory of its own");
  }
  std::vector<Tensor> outputs;
  {
    const Call call(entry.name, Into(), std::span<const Tensor* const>(inputs));
    if (call.forward()) fail(LIBDL_ERROR_AUTOGRAD, entry.name, "has no into form in forward mode");
    outputs = run_kernel(op, inputs, arguments);
  }
  for (size_t k = 0; k < intos.size(); ++k)
    Call(entry.name, intos[k], {})
        .check_result(outputs[k].shape(), outputs[k].dtype(), outputs[k].device());
  for (size_t k = 0; k < intos.size(); ++k) write_result(entry.name, outputs[k], intos[k], {});
}

void call_registered_into(const OpEntry& entry, const libdl_value* arguments,
                          libdl_tensor* const* dsts) {
  Registered& op = *entry.registered;
  check_handles(entry, arguments);
  std::vector<Into> intos;
  intos.reserve(static_cast<size_t>(entry.result_count));
  for (int k = 0; k < entry.result_count; ++k) intos.push_back(destination(entry, dsts, k));
  if (observed()) {
    ObservedCall seen = seen_call(entry, arguments);
    seen.dsts = {dsts, intos.size()};
    return show_registered(seen, [&] { call_registered_into(entry, arguments, dsts); });
  }
  const Inputs inputs(op, arguments);
  if (intos.size() == 1) return one_into(op, arguments, inputs, intos[0]);
  all_into(op, arguments, inputs, intos);
}

// -- registration ---------------------------------------------------------------------------------

static std::unique_ptr<Registered> parse_operator(std::string_view text) {
  auto op = std::make_unique<Registered>();
  op->text = text;
  op->schema = read_schema(text);
  for (const Schema::Argument& a : op->schema.arguments)
    op->arguments.push_back({a.name.c_str(), a.default_text.c_str(), a.type, a.nullable});
  for (const std::string& name : op->schema.results)
    op->results.push_back({name.c_str(), LIBDL_VALUE_TENSOR});
  op->entry.name = op->schema.name.c_str();
  op->entry.schema = op->text.c_str();
  op->entry.arguments = op->arguments.data();
  op->entry.results = op->results.data();
  op->entry.argument_count = static_cast<int32_t>(op->arguments.size());
  op->entry.result_count = static_cast<int32_t>(op->results.size());
  op->entry.differentiable = true;
  op->entry.registered = op.get();
  op->rule = {op->entry.name, run_vjp};
  return op;
}

static Registered& registered_for(const char* function, libdl_op op) {
  Registered* const registered = registered_at(op < kOperatorCount ? -1 : op - kOperatorCount);
  if (!registered)
    fail_argument(LIBDL_ERROR_VALUE, function, "op", "is " + std::to_string(op),
                  "the number of a registered operator");
  return *registered;
}

}  // namespace libdl::capi

libdl_error* libdl_op_register(const char* schema, int64_t schema_length, libdl_op* out) {
  constexpr const char* function = "op_register";
  return door(function, [&] {
    const std::string_view text = in_text(function, "schema", schema, schema_length);
    if (!out) fail_argument(LIBDL_ERROR_NULL, function, "out", "is NULL", "a place for the result");
    auto op = parse_operator(text);
    const std::lock_guard lock(registry().mutex);
    if (find_locked(op->schema.name) >= 0)
      fail_argument(LIBDL_ERROR_VALUE, function, "schema", "names " + op->schema.name,
                    "a name that is not taken");
    auto& operators = registry().operators;
    operators.push_back(std::move(op));
    *out = kOperatorCount + static_cast<int32_t>(operators.size()) - 1;
  });
}

// Runs destroy(ctx) where the call fails: the caller has handed ctx over.
template <class Body>
static libdl_error* door_with_context(const char* function, void* ctx, void (*destroy)(void* ctx),
                                      Body&& body) {
  libdl_error* const error = door(function, body);
  if (error) run_destroy(destroy, ctx);
  return error;
}

libdl_error* libdl_op_set_kernel(libdl_op op, int32_t device_type, libdl_op_kernel kernel,
                                 void* ctx, void (*destroy)(void* ctx)) {
  constexpr const char* function = "op_set_kernel";
  return door_with_context(function, ctx, destroy, [&] {
    Registered& registered = registered_for(function, op);
    const bool known = device_type >= LIBDL_DEVICE_CPU && device_type <= LIBDL_DEVICE_CUDA_HOST;
    if (!known && device_type != LIBDL_DEVICE_META)
      fail_argument(LIBDL_ERROR_VALUE, function, "device_type", "is " + std::to_string(device_type),
                    "a LIBDL_DEVICE_ constant");
    if (!kernel) fail_argument(LIBDL_ERROR_NULL, function, "kernel", "is NULL", "a function");
    const StripeLock lock(&registered);
    if (!registered.kernels.try_emplace(device_type, HostFunction<libdl_op_kernel>{kernel, ctx})
             .second)
      fail(LIBDL_ERROR_STATE, function,
           std::string(registered.entry.name) + " has a kernel for this device already");
  });
}

// A rule of an operator's own, given once.
template <class Function>
static libdl_error* set_rule(const char* function, libdl_op op, const char* name, Function callback,
                             void* ctx, void (*destroy)(void* ctx),
                             HostFunction<Function> Registered::* rule, const char* what) {
  return door_with_context(function, ctx, destroy, [&] {
    Registered& registered = registered_for(function, op);
    if (!callback) fail_argument(LIBDL_ERROR_NULL, function, name, "is NULL", "a function");
    const StripeLock lock(&registered);
    if ((registered.*rule).function)
      fail(LIBDL_ERROR_STATE, function,
           std::string(registered.entry.name) + " has a " + what + " already");
    registered.*rule = {callback, ctx};
  });
}

libdl_error* libdl_op_set_vjp(libdl_op op, libdl_op_vjp vjp, void* ctx,
                              void (*destroy)(void* ctx)) {
  return set_rule("op_set_vjp", op, "vjp", vjp, ctx, destroy, &Registered::vjp, "gradient");
}

libdl_error* libdl_op_set_jvp(libdl_op op, libdl_op_jvp jvp, void* ctx,
                              void (*destroy)(void* ctx)) {
  return set_rule("op_set_jvp", op, "jvp", jvp, ctx, destroy, &Registered::jvp,
                  "rule for forward mode");
}
