// SPDX-License-Identifier: Apache-2.0

#include "engine/backward.h"

#include <algorithm>

#include "device/meta.h"
#include "engine/accumulate.h"
#include "engine/pass.h"
#include "engine/streams.h"
#include "entries/copy.h"
#include "entries/join.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/observe.h"
#include "ops/view/fit.h"
#include "runtime/thread_pool.h"
#include "tape/output_meta.h"
#include "tape/unpacked_once.h"

namespace libdl {

namespace {

// Backward inside hooks and rules may nest; each level needs the stack of the one below.
constexpr int kMaxDepth = 64;

struct Target {
  Edge edge;  // borrowed node
  Tensor captured;
};

class Walk {
 public:
  Walk(const char* op, const BackwardOptions& options, bool accumulate, std::span<Target> targets)
      : op_(op), options_(options), accumulate_(accumulate), targets_(targets) {}

  // batch: how many gradients each of them holds, in front of the output's shape; 0: it is one.
  void run(std::span<const Edge> roots, std::span<const Tensor> gradients, int64_t batch);

 private:
  void push(Node* node);
  Node* pop();
  void arrive(const Edge& edge, Tensor gradient);
  void visit(Node& node);
  [[gnu::cold]] void visit_observed(State& current, Node& node);
  bool run_tensor_hooks(Node& node, std::span<Tensor> dy);
  bool run_pre_hooks(Node& node, std::span<Tensor> dy);
  void add_to_leaf(Node& node, std::span<Tensor> dy);
  bool capture(Node& node, std::span<const Tensor> dy);
  void differentiate(Node& node, std::span<Tensor> dy);
  void apply_rule(Node& node, std::span<Tensor> dy, std::span<Tensor> dx,
                  std::span<const bool> needed);
  void check_finite(Node& node, std::span<const Tensor> dx);

  const char* op_;
  const BackwardOptions& options_;
  int64_t batch_ = 0;  // as Backward::batch()
  bool accumulate_;
  std::span<Target> targets_;
  Pass pass_;
  PassStreams streams_;
  std::vector<Node*> ready_;  // a heap, highest sequence first
};

bool earlier(const Node* a, const Node* b) { return a->sequence < b->sequence; }

void Walk::push(Node* node) {
  ready_.push_back(node);
  std::push_heap(ready_.begin(), ready_.end(), earlier);
}

Node* Walk::pop() {
  std::pop_heap(ready_.begin(), ready_.end(), earlier);
  Node* const node = ready_.back();
  ready_.pop_back();
  return node;
}

void Walk::arrive(const Edge& edge, Tensor gradient) {
  if (!gradient.defined()) return;
  if (edge.dtype != Dtype::kNone && gradient.dtype() != edge.dtype)
    gradient = cast(gradient, edge.dtype);
  add_gradient(pass_.grad(*edge.node, edge.slot), std::move(gradient), options_.create_graph);
}

void Walk::run(std::span<const Edge> roots, std::span<const Tensor> gradients, int64_t batch) {
  batch_ = batch;
  std::vector<Node*> starts, ends;
  for (const Edge& root : roots) starts.push_back(root.node);
  for (const Target& target : targets_) ends.push_back(target.edge.node);
  pass_.prepare(starts, ends);
  for (size_t i = 0; i < roots.size(); ++i) arrive(roots[i], gradients[i]);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  for (Node* start : starts)
    if (pass_.waiting(*start) == 0) push(start);
  while (!ready_.empty()) {
    if (interrupted()) fail(LIBDL_ERROR_INTERRUPTED, op_, "interrupted by the host");
    Node* const next = pop();
    if (State& current = state(); current.interceptors) [[unlikely]]
      visit_observed(current, *next);
    else
      visit(*next);
  }
  streams_.leave();
}

void Walk::visit_observed(State& current, Node& node) {
  const FrameScope frame(current, differentiating(current, node.rule->name));
  visit(node);
}

void Walk::visit(Node& node) {
  if (!node.accumulator) streams_.enter(node);
  Tensor few[4];
  std::vector<Tensor> many;
  std::span<Tensor> dy(few, node.outputs);
  if (node.outputs > 4) {
    many.resize(node.outputs);
    dy = many;
  }
  bool any = false;
  for (int k = 0; k < node.outputs; ++k)
    any |= (dy[k] = std::exchange(pass_.grad(node, k), Tensor())).defined();
  if (any && node.extra) any = run_tensor_hooks(node, dy);
  const bool needed = targets_.empty() || (pass_.needed(node) && !capture(node, dy));
  const bool runs = any && needed && (accumulate_ || !node.accumulator);
  if (runs && node.extra) any = run_pre_hooks(node, dy);
  if (node.accumulator) {
    if (runs && any) add_to_leaf(node, dy);
    return;
  }
  if (needed && (any || node.rule->without_gradients)) {
    differentiate(node, dy);
  } else {
    for (int i = 0; i < node.inputs; ++i)
      if (Node* const next = node.edges()[i].node; next && --pass_.waiting(*next) == 0) push(next);
  }
}

void Walk::add_to_leaf(Node& node, std::span<Tensor> dy) {
  auto& leaf = static_cast<Accumulator&>(node);
  if (!node.extra) return accumulate(leaf, std::move(dy[0]), options_.create_graph);
  const auto after = node.hooks(&NodeExtra::post_hooks);
  const Tensor arrived = after.empty() ? Tensor() : dy[0];  // .grad then is a copy of it
  accumulate(leaf, std::move(dy[0]), options_.create_graph);
  for (const auto& hook : node.hooks(&NodeExtra::accumulate_hooks)) hook->run({}, {});
  for (const auto& hook : after) hook->run({}, {&arrived, 1});
}

// A hook may replace a gradient by another of the same shape, dtype and device, or by none.
static void run_hook(const Node& node, GradHook& hook, std::span<Tensor> gradients,
                     std::span<const Tensor> incoming) {
  std::vector<OutputMeta> before(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i)
    if (const Tensor& g = gradients[i]; g.defined()) before[i] = meta_for(g);
  hook.run(gradients, incoming);
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& g = gradients[i];
    const OutputMeta& was = before[i];
    if (!g.defined()) continue;
    const auto refuse = [&](libdl_error_code code, const std::string& found,
                            const std::string& wanted LIBDL_SOURCE_LOCATION) {
      fail(code, node.rule->name,
           "a hook put a gradient " + found + " in place " + std::to_string(i + 1) + ", wanted " +
               wanted LIBDL_SAME_SOURCE_LOCATION);
    };
    if (was.dtype == Dtype::kNone) refuse(LIBDL_ERROR_VALUE, "where there was none", "none");
    if (const auto wrong = mismatch(g, was))
      refuse(wrong->code, "of " + wrong->found, wrong->wanted);
  }
}

static bool any_defined(std::span<const Tensor> tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.defined(); });
}

// What `run` makes of each gradient of a batch, whether it replaces them or fills empty places,
// becomes a batch again.
template <class F>
[[gnu::noinline, gnu::cold]] static void run_for_each(int64_t batch, std::span<Tensor> incoming,
                                                      std::span<Tensor> gradients, F run) {
  const auto of = [](const Tensor& all, int64_t k) {
    return all.defined() ? select(all, 0, k) : Tensor();
  };
  const size_t n = static_cast<size_t>(batch);
  std::vector<std::vector<Tensor>> results(gradients.size(), std::vector<Tensor>(n));
  std::vector<Tensor> in(incoming.size()), out(gradients.size());
  for (size_t k = 0; k < n; ++k) {
    const auto row = static_cast<int64_t>(k);
    for (size_t i = 0; i < in.size(); ++i) in[i] = of(incoming[i], row);
    for (size_t i = 0; i < out.size(); ++i) out[i] = of(gradients[i], row);
    run(std::span<Tensor>(in), std::span<Tensor>(out));
    for (size_t i = 0; i < out.size(); ++i) results[i][k] = std::move(out[i]);
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    const auto first = std::find_if(results[i].begin(), results[i].end(),
                                    [](const Tensor& t) { return t.defined(); });
    if (first == results[i].end()) {
      gradients[i] = {};
      continue;
    }
    const Tensor& like = *first;
    for (Tensor& t : results[i])
      if (!t.defined()) t = zeros(like.shape(), like.dtype(), like.device());
    gradients[i] = stack(results[i], 0);
  }
}

// One gradient at a time, of a batch or the only one.
template <class F>
static void one_by_one(int64_t batch, std::span<Tensor> incoming, std::span<Tensor> gradients,
                       F run) {
  if (batch == 0) [[likely]]
    run(incoming, gradients);
  else
    run_for_each(batch, incoming, gradients, run);
}

// Tensor hooks in order of registration, then retained gradients. Whether a gradient is left. The
// lists are copied: a hook may remove itself.
bool Walk::run_tensor_hooks(Node& node, std::span<Tensor> dy) {
  for (const auto& hook : node.hooks(&NodeExtra::tensor_hooks))
    if (dy[hook->slot].defined())
      one_by_one(batch_, {}, dy.subspan(hook->slot, 1),
                 [&](auto, std::span<Tensor> gradients) { run_hook(node, *hook, gradients, {}); });
  for (const auto& [k, slot] : node.retained())
    if (dy[k].defined())
      one_by_one(batch_, dy.subspan(k, 1), {},
                 [&, slot = slot.get()](std::span<Tensor> arrived, auto) {
                   add_retained(*slot, arrived[0], options_.create_graph);
                 });
  return any_defined(dy);
}

// They belong to the node, not to its outputs: what is captured there has not seen them, and a node
// that goes no further does not run them.
bool Walk::run_pre_hooks(Node& node, std::span<Tensor> dy) {
  for (const auto& hook : node.hooks(&NodeExtra::pre_hooks))
    one_by_one(batch_, {}, dy,
               [&](auto, std::span<Tensor> gradients) { run_hook(node, *hook, gradients, {}); });
  return any_defined(dy);
}

// Hands dy to the targets that this node is. True if nothing beyond the node is asked for.
bool Walk::capture(Node& node, std::span<const Tensor> dy) {
  bool any = false;
  for (Target& target : targets_) {
    if (target_of(*target.edge.node) != target_of(node)) continue;
    any = true;
    const Tensor& here = dy[target.edge.slot];
    if (!accumulate_ && here.defined()) add_gradient(target.captured, here, options_.create_graph);
  }
  if (!any || node.accumulator) return false;
  for (int i = 0; i < node.inputs; ++i)
    if (Node* const next = node.edges()[i].node; next && pass_.needed(*next)) return false;
  return true;
}

inline void Walk::apply_rule(Node& node, std::span<Tensor> dy, std::span<Tensor> dx,
                             std::span<const bool> needed) {
  SavedReader saved(node, !options_.retain_graph);
  const auto apply = [&](std::span<Tensor> arrived, std::span<Tensor> gradients, int64_t batch) {
    Backward view(node, arrived, gradients, needed, saved, options_.create_graph, batch);
    node.rule->vjp(view);
  };
  if (!batch_ || node.rule->takes_batch) [[likely]] {
    apply(dy, dx, batch_);
  } else {
    const UnpackedOnce unpacked(node);
    run_for_each(batch_, dy, dx, [&](std::span<Tensor> arrived, std::span<Tensor> gradients) {
      apply(arrived, gradients, 0);
    });
  }
  saved.done();
}

void Walk::differentiate(Node& node, std::span<Tensor> dy) {
  Tensor few[8];
  bool few_needed[8];
  std::vector<Tensor> many;
  std::unique_ptr<bool[]> many_needed;
  std::span<Tensor> dx(few, std::min<size_t>(node.inputs, 8));
  std::span<bool> needed(few_needed, dx.size());
  if (node.inputs > 8) {
    many.resize(node.inputs);
    many_needed = std::make_unique<bool[]>(node.inputs);
    dx = many;
    needed = {many_needed.get(), dx.size()};
  }
  for (int i = 0; i < node.inputs; ++i) {
    Node* const next = node.edges()[i].node;
    needed[i] = next && (targets_.empty() || pass_.needed(*next));
  }
  apply_rule(node, dy, dx, needed);
  if ((state().mode & (kModeAnomaly | kModeAcceptNan)) == kModeAnomaly) check_finite(node, dx);
  if (node.extra)
    for (const auto& hook : node.hooks(&NodeExtra::post_hooks))
      one_by_one(batch_, dy, dx, [&](std::span<Tensor> arrived, std::span<Tensor> gradients) {
        run_hook(node, *hook, gradients, arrived);
      });
  for (Tensor& d : dy) d = {};
  for (int i = 0; i < node.inputs; ++i) {
    const Edge& edge = node.edges()[i];
    if (!edge.node) continue;
    if (needed[i]) arrive(edge, std::move(dx[i]));
    if (--pass_.waiting(*edge.node) == 0) push(edge.node);
  }
}

void Walk::check_finite(Node& node, std::span<const Tensor> dx) {
  const ModeGuard off(kModeGrad | kModeForward | kModeAnomaly);
  for (size_t i = 0; i < dx.size(); ++i) {
    if (!dx[i].defined() || dx[i].numel() == 0 || is_meta(dx[i].device())) continue;
    if (!item_bool(any(pointwise(k_isnan, dx[i])))) continue;
    std::string message = "the gradient of input " + std::to_string(i + 1) + " holds NaN";
    if (node.extra && !node.extra->site.empty())
      message += "; the forward call was made at " + node.extra->site;
    fail(LIBDL_ERROR_AUTOGRAD, node.rule->name, message);
  }
}

// -- entry ----------------------------------------------------------------------------------

struct Edges {                                           // retained edges
  explicit Edges(size_t count) { list.reserve(count); }  // so that none is lost on the way in
  std::vector<Edge> list;
  ~Edges() {
    for (Edge& edge : list) Ref<Node>::take(edge.node);
  }
};

// The number of gradients in a batch, which all of them have in front.
int64_t batch_of(const char* op, TensorSpan gradients) {
  int64_t batch = 0;
  for (const Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    if (gradient.ndim() == 0 || gradient.size(0) == 0 || (batch && gradient.size(0) != batch))
      fail_argument(LIBDL_ERROR_SHAPE, op, "gradients",
                    "has shape " + to_string(gradient.shape()) + ", and they are batches",
                    "a batch of " + (batch ? std::to_string(batch) : "at least 1") + " in front");
    batch = gradient.size(0);
  }
  if (batch == 0)
    fail_argument(LIBDL_ERROR_VALUE, op, "gradients", "is absent, and they are batches",
                  "a batch of at least 1");
  return batch;
}

// A gradient of the tensor has one more dimension, for the batch.
void check_batch_dimension(const char* op, const char* name, const Tensor& x) {
  if (x.ndim() == kMaxDims)
    fail_argument(LIBDL_ERROR_SHAPE, op, name,
                  "holds a tensor of " + std::to_string(kMaxDims) + " dimensions",
                  "at most " + std::to_string(kMaxDims - 1) + " beside the batch of gradients");
}

// The gradient to start output i with: the caller's, checked, or 1 for one element.
Tensor seed(const char* op, const Tensor& output, const Tensor& gradient, int64_t batch) {
  if (batch) check_batch_dimension(op, "outputs", output);
  Shape shape(output.shape());
  if (batch) shape.insert(0, batch);
  if (!gradient.defined()) {
    if (output.numel() != 1)
      fail_argument(
          LIBDL_ERROR_SHAPE, op, "gradients",
          "is absent for an output of shape " + to_string(output.shape()),
          "a gradient of that shape (only scalar outputs, of one element, have one implicitly)");
    if (output.is_complex())
      fail_argument(LIBDL_ERROR_DTYPE, op, "gradients", "is absent for a complex output",
                    "a gradient");
    return full(shape, number(1.0), output.dtype(), output.device());
  }
  if (!same(gradient.shape(), shape))
    fail_argument(LIBDL_ERROR_SHAPE, op, "gradients", "has shape " + to_string(gradient.shape()),
                  to_string(shape));
  if (gradient.is_complex() != output.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, op, "gradients",
                  std::string("is ") + name_of(gradient.dtype()), name_of(output.dtype()));
  if (!gradient.is_number() && gradient.device() != output.device())
    fail_argument(LIBDL_ERROR_DEVICE, op, "gradients", "is on " + device_name(gradient.device()),
                  device_name(output.device()));
  return gradient;
}

// What is wrong with one of them, or with the only one.
std::string of_one(TensorSpan list, size_t i, const std::string& what) {
  if (list.size() == 1) return what;
  return "holds a tensor at position " + std::to_string(i) + " that " + what;
}

void differentiate(const char* op, TensorSpan outputs, TensorSpan inputs, TensorSpan gradients,
                   std::span<Target> targets, const BackwardOptions& options, bool accumulate) {
  State& s = state();
  std::optional<FrameScope> frame;  // of what the pass itself computes
  if (s.interceptors) frame.emplace(s, differentiating(s, op));
  if (s.backward_depth >= kMaxDepth)
    fail(LIBDL_ERROR_DEPTH, op,
         "is nested " + std::to_string(kMaxDepth) + " deep inside hooks or rules");
  if (outputs.empty()) fail_argument(LIBDL_ERROR_VALUE, op, "outputs", "is empty", "a tensor");
  if (!gradients.empty() && gradients.size() != outputs.size())
    fail_argument(LIBDL_ERROR_VALUE, op, "gradients",
                  "has " + std::to_string(gradients.size()) + " tensors",
                  std::to_string(outputs.size()));
  const int64_t batch = options.batched && !accumulate ? batch_of(op, gradients) : 0;
  Edges roots(outputs.size());
  std::vector<Tensor> seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Edge edge = history_of(outputs[i]);
    if (!edge.node)
      fail_argument(LIBDL_ERROR_AUTOGRAD, op, "outputs",
                    of_one(outputs, i, "does not require grad and has no history (no grad_fn)"),
                    "a result of recorded operations on tensors that require grad");
    roots.list.push_back(edge);
    seeds.push_back(seed(op, outputs[i], gradients.empty() ? Tensor() : gradients[i], batch));
  }
  if (accumulate)  // the .grad of an input that is no leaf is asked for
    for (const Tensor& input : inputs) retain_grad(input);
  struct Depth {
    State& s;
    explicit Depth(State& t) : s(t) { ++s.backward_depth; }
    ~Depth() { --s.backward_depth; }
  } depth(s);
  const ModeGuard recording(kModeGrad | kModeInference | kModeAutocast,
                            options.create_graph ? kModeGrad : 0u);
  BackwardOptions pass = options;
  pass.retain_graph |= options.create_graph;
  Walk(op, pass, accumulate, targets).run(roots.list, seeds, batch);
}

}  // namespace

void backward(TensorSpan outputs, TensorSpan gradients, TensorSpan inputs,
              const BackwardOptions& options) {
  Edges held(inputs.size());
  std::vector<Target> targets;
  for (const Tensor& input : inputs) {
    Edge edge = maker_of(input);
    if (!edge.node)
      fail_argument(LIBDL_ERROR_AUTOGRAD, "backward", "inputs",
                    "holds a tensor that does not require grad", "tensors that require grad");
    held.list.push_back(edge);
    targets.push_back({edge, {}});
  }
  differentiate("backward", outputs, inputs, gradients, targets, options, true);
}

// The shape of the gradient by this input.
static Shape shape_of(const Tensor& input, TensorSpan gradients, const BackwardOptions& options) {
  Shape shape(input.shape());
  if (options.batched) shape.insert(0, batch_of("grad", gradients));
  return shape;
}

std::vector<Tensor> grad(TensorSpan outputs, TensorSpan inputs, TensorSpan gradients,
                         const BackwardOptions& options) {
  Edges held(inputs.size());
  std::vector<Target> targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Edge edge = maker_of(inputs[i]);
    if (!edge.node)
      fail_argument(LIBDL_ERROR_AUTOGRAD, "grad", "inputs",
                    of_one(inputs, i, "does not require grad"), "tensors that require grad");
    if (options.batched) check_batch_dimension("grad", "inputs", inputs[i]);
    held.list.push_back(edge);
    targets.push_back({edge, {}});
  }
  if (inputs.empty()) fail_argument(LIBDL_ERROR_VALUE, "grad", "inputs", "is empty", "a tensor");
  differentiate("grad", outputs, inputs, gradients, targets, options, false);
  std::vector<Tensor> result;
  for (size_t i = 0; i < targets.size(); ++i) {
    Tensor& g = targets[i].captured;
    if (!g.defined()) {
      if (options.materialize)
        g = zeros(shape_of(inputs[i], gradients, options), inputs[i].dtype(), inputs[i].device());
      else if (!options.allow_unused)
        fail_argument(LIBDL_ERROR_AUTOGRAD, "grad", "inputs",
                      of_one(inputs, i, "was not used in the graph"),
                      "allow_unused=True where that is intended");
    }
    result.push_back(std::move(g));
  }
  return result;
}

}  // namespace libdl
