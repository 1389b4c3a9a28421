// SPDX-License-Identifier: Apache-2.0

// The engine by itself: which nodes run, in what order, what arrives where, and what is left after
// an error. Most graphs here are made by hand of nodes that write down when they run.
#include <gtest/gtest.h>
#include <pthread.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "base/slab.h"
#include "engine/accumulate.h"
#include "engine/backward.h"
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/exponential.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "runtime/thread_pool.h"
#include "tape/saved.h"
#include "tests/core/planted.h"

namespace libdl {
namespace {

using planted::failures_of;
using Log = std::vector<std::string>;
using V = std::vector<double>;

Tensor of(const V& values) {
  const int64_t count[] = {static_cast<int64_t>(values.size())};
  const Tensor x = empty(count, Dtype::kFloat64);
  std::copy(values.begin(), values.end(), x.update_plain<double>());
  return x;
}
Tensor leaf(const V& values) {
  const Tensor x = of(values);
  set_requires_grad(x, true);
  return x;
}
V values(const Tensor& x) {
  if (!x.defined()) return {};
  const Tensor all = plain(x, Dtype::kFloat64);
  return {all.read_plain<double>(), all.read_plain<double>() + all.numel()};
}
V grad_of(const Tensor& x) { return values(get_grad(x)); }

// -- nodes that write down when they run ----------------------------------------------------------

struct Traced {
  Log* log;
  std::string name;
  double factor;
  std::function<void()> during;
};
void traced_vjp(Backward& b) {
  Traced& a = b.attr<Traced>();
  if (a.log) a.log->push_back(a.name);
  if (a.during) a.during();
  for (int k = 0; k < b.node().outputs; ++k)
    for (int i = 0; i < b.inputs(); ++i)
      if (b.needs(i) && b.dy(k).defined()) b.set_grad(i, mul(b.dy(k), number(a.factor)));
}
const Rule kTraced{"traced", traced_vjp};

// A tensor that claims to be factor * (the sum of the inputs).
Tensor traced(const std::vector<Tensor>& inputs, Log* log, std::string name, double factor = 1,
              std::function<void()> during = {}) {
  const ModeGuard unrecorded(kModeGrad);
  Tensor sum = zeros(inputs[0].shape(), inputs[0].dtype());
  for (const Tensor& x : inputs) sum = add(sum, x);
  const Tensor y = mul(sum, number(factor));
  Ref<Node> node = Ref<Node>::take(make_node(kTraced, static_cast<int>(inputs.size()), 1, 0,
                                             Traced{log, name, factor, std::move(during)}));
  for (size_t i = 0; i < inputs.size(); ++i) node->edges()[i] = history_of(inputs[i]);
  set_history(y, node.release(), 0);
  return y;
}

void run(const Tensor& y, const BackwardOptions& options = {}, const V& gradient = {1}) {
  const Tensor outputs[] = {y}, gradients[] = {of(gradient)};
  backward(outputs, gradients, {}, options);
}
std::vector<Tensor> gradients(const Tensor& y, const std::vector<Tensor>& inputs,
                              const BackwardOptions& options = {}, const V& gradient = {1}) {
  const Tensor outputs[] = {y}, weights[] = {of(gradient)};
  return grad(outputs, inputs, weights, options);
}
BackwardOptions retain() {
  BackwardOptions options;
  options.retain_graph = true;
  return options;
}
BackwardOptions create() {
  BackwardOptions options;
  options.create_graph = true;
  return options;
}

template <class F>
void expect_error(libdl_error_code code, const std::string& part, F&& f) {
  try {
    f();
    ADD_FAILURE() << "no error, wanted: " << part;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_NE(e.message().find(part), std::string::npos) << e.message();
  }
}

struct Hook : GradHook {
  using Body = std::function<void(std::span<Tensor>, std::span<const Tensor>)>;
  explicit Hook(Body b, int32_t s = 0) : body(std::move(b)) { slot = s; }
  Body body;
  void run(std::span<Tensor> gradients, std::span<const Tensor> incoming) override {
    body(gradients, incoming);
  }
};
Ref<GradHook> hook(Hook::Body body) { return Ref<GradHook>::take(new Hook(std::move(body))); }
Ref<GradHook> noting(Log& log, std::string name, double factor = 1) {
  return hook([&log, name, factor](std::span<Tensor> g, std::span<const Tensor>) {
    log.push_back(name);
    for (Tensor& x : g)
      if (x.defined()) x = mul(x, number(factor));
  });
}
NodeExtra& extra(const Tensor& x) { return x.meta()->node->more(); }

// -- order ----------------------------------------------------------------------------------------

TEST(Engine, TheLatestNodeThatIsReadyRunsFirst) {
  Log log;
  const Tensor x = leaf({1});
  const Tensor a = traced({x}, &log, "a");
  const Tensor b = traced({x}, &log, "b");
  const Tensor c = traced({a}, &log, "c");
  const Tensor d = traced({b, c}, &log, "d");
  run(d);
  EXPECT_EQ(log, (Log{"d", "c", "b", "a"}));
  EXPECT_EQ(grad_of(x), V{2});
}

TEST(Engine, ANodeWaitsForItsGradientsWhateverItsNumber) {
  // `early` is made on a fresh thread, whose numbers begin at 1, of tensors with higher numbers.
  Log log;
  const Tensor x = leaf({1});
  const Tensor a = traced({x}, &log, "a");
  const Tensor b = traced({a}, &log, "b");
  Tensor early;
  std::thread([&] { early = traced({a, b}, &log, "early"); }).join();
  ASSERT_LT(early.meta()->node->sequence, b.meta()->node->sequence);
  const Tensor top = traced({early, b}, &log, "top");
  run(top);
  EXPECT_EQ(log, (Log{"top", "early", "b", "a"}));
  EXPECT_EQ(grad_of(x), V{3});
}

TEST(Engine, NodesThatNoGradientReachesDoNotRun) {
  Log log;
  const Tensor x = leaf({1}), z = leaf({1});
  const Tensor a = traced({x}, &log, "a");
  const Tensor b = traced({z}, &log, "b");
  run(traced({a}, &log, "c"));
  EXPECT_EQ(log, (Log{"c", "a"}));
  EXPECT_FALSE(get_grad(z).defined());
  // A hook may end a path: the node behind it is passed by, and what waits for it is not stuck.
  log.clear();
  const Tensor both = traced({traced({x}, &log, "ended"), traced({z}, &log, "open")}, &log, "top");
  Node* const ended = both.meta()->node->edges()[0].node;
  ended->more().tensor_hooks.push_back(
      hook([](std::span<Tensor> g, std::span<const Tensor>) { g[0] = {}; }));
  set_grad(x, {});
  run(both);
  EXPECT_EQ(log, (Log{"top", "open"}));
  EXPECT_EQ(grad_of(z), V{1});
  EXPECT_FALSE(get_grad(x).defined());
}

// -- accumulation ---------------------------------------------------------------------------------

using Run = std::function<void(const Tensor&)>;

// x reaches y by four paths of the slopes 2*5, 3*5, 7 and 1: each is counted once.
void expect_each_path_once(double slope, const Run& pass) {
  const Tensor x = leaf({1, 2});
  const Tensor a = traced({x}, nullptr, "a", 2), b = traced({x}, nullptr, "b", 3);
  const Tensor c = traced({a, b}, nullptr, "c", slope);
  const Tensor d = traced({c, traced({x}, nullptr, "d", 7), x}, nullptr, "e");
  pass(d);
  EXPECT_EQ(grad_of(x), (V{33, 33 * 4}));  // small integers: sums of doubles are exact
}
const Run kPass = [](const Tensor& y) { run(y, {}, {1, 4}); };

TEST(Engine, EveryPathIsCountedOnce) { expect_each_path_once(5, kPass); }

TEST(EnginePlanted, AGradientWrongByAThousandthIsSeen) {
  EXPECT_EQ(failures_of([] { expect_each_path_once(5 * 1.001, kPass); }), 1);
}

TEST(EnginePlanted, ALeafAddedTwiceIsSeen) {
  EXPECT_EQ(failures_of([] {
              expect_each_path_once(5, [](const Tensor& y) {
                kPass(y);
                const Edge& edge = y.meta()->node->edges()[2];
                ASSERT_TRUE(edge.node->accumulator);
                accumulate(static_cast<Accumulator&>(*edge.node), of({1, 4}), false);
              });
            }),
            1);
}

TEST(EnginePlanted, AnAbsentPathIsSeen) {
  EXPECT_EQ(failures_of([] {
              expect_each_path_once(5, [](const Tensor& y) {
                Edge& edge = y.meta()->node->edges()[2];
                Ref<Node>::take(std::exchange(edge.node, nullptr));
                kPass(y);
              });
            }),
            1);
}

TEST(Engine, OutputsGivenTwiceCountTwice) {
  const Tensor x = leaf({1}), y = traced({x}, nullptr, "y", 3);
  const Tensor outputs[] = {y, y, x}, weights[] = {of({1}), of({10}), of({100})};
  backward(outputs, weights, {}, {});
  EXPECT_EQ(grad_of(x), V{133});
}

TEST(Engine, TheFirstGradientIsTakenOverAndLaterOnesAreAddedInPlace) {
  const Tensor x = leaf({1, 2});
  run(mul(x, number(2.0)), {}, {1, 1});
  const Tensor first = get_grad(x);
  const void* const bytes = first.read_plain();
  run(mul(x, number(3.0)), {}, {1, 1});
  EXPECT_TRUE(get_grad(x).is(first));
  EXPECT_EQ(first.read_plain(), bytes);
  EXPECT_EQ(values(first), (V{5, 5}));
  EXPECT_FALSE(requires_grad(first));
}

TEST(Engine, AGradientThatOthersHoldIsNotTakenOver) {
  const Tensor x = leaf({1, 2}), mine = of({3, 4});
  const Tensor outputs[] = {x}, weights[] = {mine};
  backward(outputs, weights, {}, {});
  EXPECT_NE(get_grad(x).read_plain(), mine.read_plain());
  backward(outputs, weights, {}, {});
  EXPECT_EQ(values(mine), (V{3, 4}));
  EXPECT_EQ(grad_of(x), (V{6, 8}));
  // One gradient for two leaves must not become the .grad of both.
  const Tensor a = leaf({1}), b = leaf({1});
  run(add(a, b));
  EXPECT_NE(get_grad(a).read_plain(), get_grad(b).read_plain());
}

TEST(Engine, UnderCreateGraphSumsAreNewTensorsWithAHistory) {
  const Tensor x = leaf({3});
  run(mul(x, mul(x, x)), create());
  const Tensor first = get_grad(x);
  EXPECT_TRUE(requires_grad(first));
  EXPECT_EQ(values(first), V{27});
  run(mul(x, x), create());
  EXPECT_FALSE(get_grad(x).is(first));
  EXPECT_EQ(values(first), V{27});
  EXPECT_EQ(grad_of(x), V{33});
  EXPECT_EQ(values(gradients(get_grad(x), {x})[0]), V{20});  // 6x + 2
  set_grad(x, {});  // .grad holds the history that holds the leaf's accumulator
}

TEST(Engine, GradientsTakeTheDtypeOfTheirTensor) {
  const Tensor wide = leaf({2}), narrow = cast(of({3}), Dtype::kFloat32);
  set_requires_grad(narrow, true);
  run(mul(wide, narrow));
  EXPECT_EQ(get_grad(narrow).dtype(), Dtype::kFloat32);
  EXPECT_EQ(get_grad(wide).dtype(), Dtype::kFloat64);
  EXPECT_EQ(grad_of(narrow), V{2});
}

// A .grad with history leads back to the node that fills it.
TEST(Engine, AGradientWithHistoryGoesWithItsTensor) {
  const LiveCounts before = live_counts();
  {
    const Tensor x = leaf({1, 2});
    run(mul(x, x), create(), {1, 1});
    EXPECT_TRUE(requires_grad(get_grad(x)));
  }
  EXPECT_EQ(live_counts().nodes, before.nodes);
  {
    const Tensor x = leaf({1, 2}), y = mul(x, x);
    retain_grad(y);
    run(mul(y, y), create(), {1, 1});
    EXPECT_TRUE(requires_grad(get_grad(y)));
  }
  EXPECT_EQ(live_counts().nodes, before.nodes);
  {
    Tensor y;
    {
      const Tensor x = leaf({1, 2}), z = mul(x, x);
      retain_grad(z);
      y = mul(z, z);
    }
    run(y, create(), {1, 1});  // for nobody
  }
  EXPECT_EQ(live_counts().nodes, before.nodes);
  EXPECT_EQ(live_counts().tensors, before.tensors);
  EXPECT_EQ(live_counts().bytes, before.bytes);
}

// -- one pass, several passes ---------------------------------------------------------------------

TEST(Engine, ASecondPassNeedsRetainGraph) {
  const Tensor x = leaf({3}), y = mul(x, x);
  run(y, retain());
  run(y, retain());
  EXPECT_EQ(grad_of(x), V{12});
  run(y);
  EXPECT_EQ(grad_of(x), V{18});
  expect_error(LIBDL_ERROR_STATE,
               "mul: its saved values were freed by an earlier backward; pass "
               "retain_graph=True",
               [&] { run(y); });
  EXPECT_EQ(grad_of(x), V{18});
}

TEST(Engine, APassFreesTheSavedValuesAndTheEndOfTheGraphTheRest) {
  const LiveCounts before = live_counts();
  {
    const Tensor x = leaf({3});
    Tensor y = exp(mul(x, x));
    run(y);
    y = {};
    EXPECT_EQ(live_counts().nodes, before.nodes + 1);  // the leaf's own
  }
  EXPECT_EQ(live_counts().nodes, before.nodes);
  EXPECT_EQ(live_counts().tensors, before.tensors);
  EXPECT_EQ(live_counts().storages, before.storages);
  EXPECT_EQ(live_counts().bytes, before.bytes);
}

TEST(Engine, HigherDerivativesFollowFromCreateGraph) {
  const Tensor x = leaf({2});
  Tensor y = mul(mul(x, x), mul(x, x));
  const double wanted[] = {4 * 8, 12 * 4, 24 * 2, 24, 0};
  for (const double w : wanted) {
    BackwardOptions options = create();
    options.materialize = true;
    y = gradients(y, {x}, options)[0];
    EXPECT_EQ(values(y), V{w});
    if (!requires_grad(y)) break;
  }
}

// -- targets --------------------------------------------------------------------------------------

TEST(Engine, OnlyTheInputsAskedForAreReached) {
  Log log;
  const Tensor x = leaf({1}), z = leaf({1});
  const Tensor a = traced({x}, &log, "a", 2), b = traced({z}, &log, "b", 3);
  const Tensor y = traced({a, b}, &log, "y");
  const Tensor outputs[] = {y}, inputs[] = {x};
  backward(outputs, {}, inputs, retain());
  EXPECT_EQ(log, (Log{"y", "a"}));
  EXPECT_EQ(grad_of(x), V{2});
  EXPECT_FALSE(get_grad(z).defined());
  log.clear();
  EXPECT_EQ(values(gradients(y, {b}, retain())[0]), V{1});  // b's own rule is not needed
  EXPECT_EQ(log, Log{"y"});
  log.clear();
  const std::vector<Tensor> found = gradients(y, {b, z, y, z}, retain());
  EXPECT_EQ(log, (Log{"y", "b"}));
  EXPECT_EQ(values(found[0]), V{1});
  EXPECT_EQ(values(found[1]), V{3});
  EXPECT_EQ(values(found[2]), V{1});
  EXPECT_EQ(values(found[3]), V{3});
  EXPECT_EQ(grad_of(x), V{2});
  EXPECT_FALSE(get_grad(z).defined());
}

TEST(Engine, UnusedInputsAreAnErrorOrAbsentOrZero) {
  const Tensor x = leaf({1}), unused = leaf({1, 2}), y = mul(x, x);
  expect_error(LIBDL_ERROR_AUTOGRAD, "holds a tensor at position 1 that was not used in the graph",
               [&] { gradients(y, {x, unused}, retain()); });
  BackwardOptions options = retain();
  options.allow_unused = true;
  EXPECT_FALSE(gradients(y, {x, unused}, options)[1].defined());
  options.materialize = true;
  EXPECT_EQ(values(gradients(y, {x, unused}, options)[1]), (V{0, 0}));
}

TEST(Engine, BadArgumentsAreNamed) {
  const Tensor x = leaf({1, 2}), y = mul(x, x), constant = of({1});
  const Tensor outputs[] = {y}, wrong[] = {of({1})}, constants[] = {constant};
  expect_error(LIBDL_ERROR_SHAPE,
               "backward: argument (gradients) is absent for an output of "
               "shape [2]",
               [&] { backward(outputs, {}, {}, {}); });
  expect_error(LIBDL_ERROR_SHAPE, "backward: argument (gradients) has shape [1], wanted [2]",
               [&] { backward(outputs, wrong, {}, {}); });
  expect_error(LIBDL_ERROR_AUTOGRAD,
               "backward: argument (outputs) does not require "
               "grad and has no history",
               [&] { backward(constants, {}, {}, {}); });
  expect_error(LIBDL_ERROR_AUTOGRAD,
               "backward: argument (inputs) holds a tensor that does not "
               "require grad",
               [&] { backward(outputs, {}, constants, {}); });
  expect_error(LIBDL_ERROR_VALUE, "backward: argument (outputs) is empty",
               [&] { backward({}, {}, {}, {}); });
  expect_error(LIBDL_ERROR_VALUE, "grad: argument (inputs) is empty",
               [&] { grad(outputs, {}, {}, {}); });
  EXPECT_FALSE(get_grad(x).defined());
}

// -- batches of gradients -------------------------------------------------------------------------

BackwardOptions batched() {
  BackwardOptions options = retain();
  options.batched = options.materialize = true;
  return options;
}
std::vector<Tensor> rows_of(const Tensor& y, const std::vector<Tensor>& inputs, const V& gradient,
                            Dims shape, const BackwardOptions& options = batched()) {
  const Tensor outputs[] = {y}, weights[] = {reshape(of(gradient), shape)};
  return grad(outputs, inputs, weights, options);
}

TEST(Engine, ABatchOfGradientsIsOnePass) {
  Log log;
  const int64_t rows[] = {3, 2};
  const Tensor x = leaf({1, 2}), unused = leaf({5}), y = mul(x, x);
  const auto found = rows_of(y, {x, unused}, {1, 0, 0, 1, 1, 1}, rows);
  EXPECT_EQ(values(found[0]), (V{2, 0, 0, 4, 2, 4}));
  EXPECT_EQ(values(found[1]), (V{0, 0, 0}));
  EXPECT_TRUE(same(found[1].shape(), std::to_array<int64_t>({3, 1})));

  // A rule of one gradient runs for one after another; nodes that no gradient reaches do not.
  const Tensor z = traced({y}, &log, "z", 3);
  EXPECT_EQ(values(rows_of(z, {x}, {1, 0, 0, 1, 1, 1}, rows)[0]), (V{6, 0, 0, 12, 6, 12}));
  EXPECT_EQ(log, (Log{"z", "z", "z"}));

  // backward() knows no batches.
  const Tensor outputs[] = {y}, weights[] = {reshape(of({1, 0, 0, 1, 1, 1}), rows)};
  expect_error(LIBDL_ERROR_SHAPE, "has shape [3, 2], wanted [2]",
               [&] { backward(outputs, weights, {}, batched()); });
}

TEST(Engine, HooksSeeTheGradientsOfABatchOneByOne) {
  Log log;
  const int64_t rows[] = {2, 1};
  const Tensor x = leaf({3}), y = mul(x, number(2.0)), z = mul(y, y);
  const auto each = [&](const char* name) {
    return hook([&log, name](std::span<Tensor> g, std::span<const Tensor> incoming) {
      log.push_back(name);
      EXPECT_EQ(g[0].numel(), 1);
      EXPECT_EQ(g[0].ndim(), 1);
      for (const Tensor& in : incoming) EXPECT_EQ(in.ndim(), 1);
      if (values(g[0])[0] > 13) g[0] = {};
    });
  };
  extra(y).tensor_hooks.push_back(each("tensor"));
  extra(y).pre_hooks.push_back(each("pre"));
  extra(z).post_hooks.push_back(each("post"));
  retain_grad(y);
  EXPECT_EQ(values(rows_of(z, {x}, {1, 2}, rows)[0]), (V{24, 0}));
  EXPECT_EQ(std::count(log.begin(), log.end(), "post"), 2);
  EXPECT_EQ(std::count(log.begin(), log.end(), "tensor"), 2);
  EXPECT_EQ(grad_of(y), V{12});
}

TEST(Engine, ABatchHasToBeOne) {
  const Tensor x = leaf({1, 2}), y = mul(x, x), s = sum(y);
  const int64_t none[] = {0, 2}, other[] = {3, 1}, two[] = {2, 2}, three[] = {3};
  expect_error(LIBDL_ERROR_SHAPE,
               "has shape [0, 2], and they are batches, wanted a batch of at least",
               [&] { rows_of(y, {x}, {}, none); });
  expect_error(LIBDL_ERROR_SHAPE, "has shape [], and they are batches",
               [&] { rows_of(s, {x}, {1}, {}); });
  expect_error(LIBDL_ERROR_SHAPE, "has shape [3, 1], wanted [3, 2]",
               [&] { rows_of(y, {x}, {1, 1, 1}, other); });
  const Tensor outputs[] = {y, s}, inputs[] = {x};
  const Tensor weights[] = {reshape(of({1, 1, 1, 1}), two), reshape(of({1, 1, 1}), three)};
  expect_error(LIBDL_ERROR_SHAPE, "has shape [3], and they are batches, wanted a batch of 2",
               [&] { grad(outputs, inputs, weights, batched()); });
  expect_error(LIBDL_ERROR_VALUE, "argument (gradients) is absent, and they are batches",
               [&] { grad(outputs, inputs, {}, batched()); });
  const Tensor some[] = {weights[0], Tensor()};  // 1 for each of the batch
  EXPECT_EQ(values(grad(outputs, inputs, some, batched())[0]), (V{4, 8, 4, 8}));
}

TEST(Engine, ABatchNeedsADimension) {
  const Shape most(64, 1);
  const Tensor x = leaf({3}), wide = reshape(leaf({2}), most), all = sum(wide);
  const Tensor outputs[] = {all}, wide_outputs[] = {wide}, inputs[] = {wide};
  const Tensor weights[] = {of({1, 2})};
  expect_error(LIBDL_ERROR_SHAPE,
               "grad: argument (inputs) holds a tensor of 64 dimensions, wanted at most 63",
               [&] { grad(outputs, inputs, weights, batched()); });
  expect_error(LIBDL_ERROR_SHAPE,
               "grad: argument (outputs) holds a tensor of 64 dimensions, wanted at most 63", [&] {
                 const Tensor some[] = {x};
                 grad(wide_outputs, some, weights, batched());
               });
}

TEST(Engine, AnInputThatIsNoLeafKeepsItsGradient) {
  const Tensor x = leaf({3}), y = mul(x, number(2.0)), z = mul(y, y);
  const Tensor outputs[] = {z}, inputs[] = {y}, wrong[] = {of({1, 1})};
  expect_error(LIBDL_ERROR_SHAPE, "argument (gradients)",
               [&] { backward(outputs, wrong, inputs, {}); });
  EXPECT_FALSE(y.meta()->retains_grad);  // a failed call changes nothing
  backward(outputs, {}, inputs, retain());
  EXPECT_EQ(grad_of(y), V{12});
  EXPECT_FALSE(get_grad(x).defined());
}

// -- tensors with other data ----------------------------------------------------------------------

TEST(Tape, SizesStayReadableWhateverDataATensorGets) {
  const auto of_dims = [](int ndim) {
    return zeros(Shape(static_cast<size_t>(ndim), 1), Dtype::kFloat32);
  };
  for (const int first : {0, 3, 4, 5, 9})
    for (const int second : {0, 4, 5, 6, 12, 64}) {
      const Tensor x = of_dims(first);
      std::vector<std::pair<const int64_t*, int>> told;
      for (const int ndim : {first, second, first, 64, second, 7}) {
        set_data(x, of_dims(ndim));
        EXPECT_EQ(x.ndim(), ndim);
        told.emplace_back(x.get()->dims, ndim);
        for (const auto& [sizes, count] : told)
          for (int d = 0; d < count; ++d) EXPECT_GE(sizes[d], 0);  // the sanitizer reads, too
        EXPECT_TRUE(same(x.shape(), Shape(static_cast<size_t>(ndim), 1)));
        EXPECT_TRUE(x.is_contiguous());
      }
    }
  const Tensor x = zeros(Shape{2, 3}, Dtype::kFloat32), y = zeros(Shape{3, 2}, Dtype::kFloat64);
  set_data(x, transpose(y, 0, 1));
  EXPECT_EQ(x.dtype(), Dtype::kFloat64);
  EXPECT_FALSE(x.is_contiguous());
  EXPECT_EQ(&x.storage(), &y.storage());
  set_data(x, x);
  EXPECT_EQ(x.numel(), 6);
}

// -- hooks ----------------------------------------------------------------------------------------

TEST(Engine, HooksRunInTheirOrder) {
  Log log;
  const Tensor x = leaf({1});
  const Tensor y = traced({x}, &log, "rule", 2);
  extra(y).post_hooks.push_back(noting(log, "post"));
  extra(y).pre_hooks.push_back(noting(log, "pre 1", 5));
  extra(y).pre_hooks.push_back(noting(log, "pre 2", 7));
  retain_grad(y);
  extra(y).tensor_hooks.push_back(noting(log, "tensor 1", 11));
  extra(y).tensor_hooks.push_back(noting(log, "tensor 2", 13));
  extra(x).tensor_hooks.push_back(noting(log, "leaf", 17));
  extra(x).accumulate_hooks.push_back(hook([&](std::span<Tensor>, std::span<const Tensor>) {
    log.push_back("accumulated");
    EXPECT_EQ(grad_of(x), V{11 * 13 * 5 * 7 * 2 * 17});
  }));
  run(y);
  EXPECT_EQ(log,
            (Log{"tensor 1", "tensor 2", "pre 1", "pre 2", "rule", "post", "leaf", "accumulated"}));
  EXPECT_EQ(grad_of(y), V{11 * 13});  // after the tensor's hooks, before the node's
}

TEST(Engine, WhatIsCapturedHasSeenTheTensorsHooksButNotTheNodes) {
  Log log;
  const Tensor x = leaf({1});
  const Tensor y = traced({x}, &log, "rule", 2);
  extra(y).pre_hooks.push_back(noting(log, "pre", 5));
  extra(y).tensor_hooks.push_back(noting(log, "tensor", 11));
  extra(x).accumulate_hooks.push_back(noting(log, "accumulated"));
  EXPECT_EQ(values(gradients(y, {y}, retain())[0]), V{11});
  EXPECT_EQ(log, Log{"tensor"});
  log.clear();
  const std::vector<Tensor> found = gradients(y, {x, y}, retain());
  EXPECT_EQ(log, (Log{"tensor", "pre", "rule"}));
  EXPECT_EQ(values(found[0]), V{2 * 5 * 11});
  EXPECT_EQ(values(found[1]), V{11});
}

TEST(Engine, AHookMayRemoveItself) {
  Log log;
  const Tensor x = leaf({1}), y = traced({x}, nullptr, "y");
  extra(y).tensor_hooks.push_back(hook([&](std::span<Tensor>, std::span<const Tensor>) {
    log.push_back("once");
    extra(y).tensor_hooks.remove(*extra(y).tensor_hooks.snapshot()[0]);
  }));
  run(y, retain());
  run(y, retain());
  EXPECT_EQ(log, Log{"once"});
}

TEST(Engine, AHookMayNotChangeWhatAGradientIs) {
  const Tensor x = leaf({1, 2}), y = softmax(x, 0, Dtype::kNone);
  Tensor given;
  extra(y).tensor_hooks.push_back(
      hook([&](std::span<Tensor> g, std::span<const Tensor>) { g[0] = given; }));
  const auto pass = [&] { run(y, retain(), {1, 1}); };
  given = of({1, 2, 3});
  expect_error(LIBDL_ERROR_SHAPE,
               "softmax: a hook put a gradient of shape [3] in place 1, wanted [2]", pass);
  given = cast(of({1, 2}), Dtype::kFloat32);
  expect_error(LIBDL_ERROR_DTYPE, "a gradient of float32 in place 1, wanted float64", pass);
  given = {};
  pass();  // none is allowed: the path ends
  EXPECT_FALSE(get_grad(x).defined());
  given = of({1, 2});
  extra(y).post_hooks.push_back(
      hook([&](std::span<Tensor> g, std::span<const Tensor>) { g[0] = of({1}); }));
  expect_error(LIBDL_ERROR_SHAPE, "of shape [1] in place 1, wanted [2]", pass);
  const Tensor z = leaf({1, 1}), sum = traced({z, x}, nullptr, "sum");
  extra(sum).post_hooks.push_back(
      hook([&](std::span<Tensor> g, std::span<const Tensor>) { g[1] = of({1}); }));
  expect_error(LIBDL_ERROR_VALUE, "traced: a hook put a gradient where there was none in place 2",
               [&] { gradients(sum, {z}, {}, {1, 1}); });
}

TEST(Engine, AnAccumulatedHookMayRemoveItself) {
  Log log;
  const Tensor x = leaf({1});
  for (int i = 0; i < 3; ++i)
    extra(x).accumulate_hooks.push_back(hook([&](std::span<Tensor>, std::span<const Tensor>) {
      log.push_back("once");
      extra(x).accumulate_hooks = {};
    }));
  run(x);
  run(x);
  EXPECT_EQ(log, Log(3, "once"));
}

// -- passes inside passes -------------------------------------------------------------------------

// Gradients of a graph with a node of two outputs, with and without targets; small integers.
V sample_gradients() {
  const ModeGuard recorded(0, kModeGrad);  // a pass has switched it off
  const Tensor x = leaf({1, 2, 3, 4});
  const std::vector<Tensor> parts = chunk(mul(x, number(2.0)), 2, 0);
  const Tensor y = add(mul(parts[0], parts[1]), parts[0]);
  run(y, retain(), {1, 1});
  V all = grad_of(x);
  for (const double g : values(gradients(y, {x}, retain(), {1, 10})[0])) all.push_back(g);
  return all;
}

TEST(Engine, APassInsideAHookUsesATableAndGivesTheSame) {
  const V wanted = sample_gradients();
  V found;
  const Tensor x = leaf({1});
  run(traced({x}, nullptr, "outer", 2, [&] { found = sample_gradients(); }));
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(wanted, (V{14, 18, 4, 8, 14, 180, 4, 80}));
  EXPECT_EQ(grad_of(x), V{2});
}

TEST(Engine, APassInsideAHookMayCrossTheGraphThatIsRunning) {
  const Tensor x = leaf({3}), y = mul(x, x), z = mul(y, number(5.0));
  V inner;
  extra(y).tensor_hooks.push_back(hook([&](std::span<Tensor>, std::span<const Tensor>) {
    if (inner.empty()) {
      inner = {0};
      inner = values(gradients(z, {x}, retain())[0]);
    }
  }));
  run(z, retain());
  EXPECT_EQ(inner, V{30});
  EXPECT_EQ(grad_of(x), V{30});
}

TEST(Engine, NestingHasALimitAndTheErrorComesOutOfAllLevels) {
  int deepest = 0;
  const Tensor x = leaf({1});
  std::function<void()> again = [&] {
    ++deepest;
    run(traced({x}, nullptr, "nested", 1, again));
  };
  expect_error(LIBDL_ERROR_DEPTH, "backward: is nested 64 deep inside hooks or rules", again);
  EXPECT_EQ(deepest, 65);
  EXPECT_EQ(state().backward_depth, 0);
  EXPECT_FALSE(get_grad(x).defined());
  run(traced({x}, nullptr, "after"));
  EXPECT_EQ(grad_of(x), V{1});
}

// -- errors ---------------------------------------------------------------------------------------

TEST(Engine, AFailedPassLeavesGradsWholeAndTheNodesClean) {
  const Tensor x = leaf({1}), z = leaf({1});
  bool fails = true;
  const Tensor a = traced({x}, nullptr, "a", 2);
  const Tensor b = traced({z, a}, nullptr, "b", 3, [&] {
    if (fails) fail(LIBDL_ERROR_VALUE, "b", "planted");
  });
  const Tensor c = traced({x}, nullptr, "c", 7);  // runs before b, so x gets nothing whole yet
  const Tensor y = traced({b, c, a}, nullptr, "y");
  for (int trial = 0; trial < 2; ++trial) {
    expect_error(LIBDL_ERROR_VALUE, "planted", [&] { run(y, retain()); });
    EXPECT_FALSE(get_grad(x).defined());
    EXPECT_FALSE(get_grad(z).defined());
  }
  fails = false;
  run(y, retain());
  EXPECT_EQ(grad_of(x), V{7 + 2 * 4});
  EXPECT_EQ(grad_of(z), V{3});
}

TEST(Engine, AnomalyModeNamesTheOperatorAndTheLine) {
  std::string (*const before)() = creation_site;
  creation_site = []() -> std::string { return "train.c:12"; };
  {
    const ModeGuard anomaly(0, kModeAnomaly);
    const Tensor x = leaf({-1});
    const Tensor y = sqrt(x);
    expect_error(LIBDL_ERROR_AUTOGRAD,
                 "sqrt: the gradient of input 1 holds NaN; the forward call was made at train.c:12",
                 [&] { run(y); });
    EXPECT_FALSE(get_grad(x).defined());
    const ModeGuard accepting(0, kModeAcceptNan);
    const Tensor accepted = sqrt(leaf({-1}));
    run(accepted);
    EXPECT_EQ(accepted.meta()->node->extra->site, "train.c:12");
  }
  creation_site = before;
  const Tensor x = leaf({-1});
  run(sqrt(x));
  EXPECT_TRUE(std::isnan(grad_of(x)[0]));
}

TEST(Engine, AnOverwrittenValueNamesBothOperators) {
  const Tensor x = leaf({1}), y = mul(x, number(1.0)), z = exp(y);
  const ModeGuard unrecorded(kModeGrad);
  fill(number(1.0), Into(z));
  expect_error(LIBDL_ERROR_VERSION,
               "exp: a value that exp saved for backward (float64 [1], saved value 0) was "
               "modified by an in-place operation: it was overwritten by fill_",
               [&] { run(z); });
}

// -- size -----------------------------------------------------------------------------------------

// Runs f on a thread with a stack of so many bytes.
void on_small_stack(size_t bytes, void (*f)()) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto start = [](void* f) -> void* {
    reinterpret_cast<void (*)()>(f)();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, reinterpret_cast<void*>(f)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}
#ifdef LIBDL_SANITIZE  // whose frames and thread data are larger, and whose cells are slower
constexpr size_t kStack = 512 << 10;
constexpr int kChain = 100'000;
#else
constexpr size_t kStack = 128 << 10;
constexpr int kChain = 1'000'000;
#endif

TEST(Engine, AChainOfAMillionNodesRunsAndIsFreedOnASmallStack) {
  const LiveCounts before = live_counts();
  on_small_stack(kStack, [] {
    const Tensor x = leaf({1});
    Tensor y = neg(x);
    for (int i = 1; i < kChain; ++i) y = neg(y);
    run(y, retain());
    EXPECT_EQ(grad_of(x), V{1});
    EXPECT_EQ(values(gradients(y, {x})[0]), V{1});  // with targets: another walk
  });
  EXPECT_EQ(live_counts().nodes, before.nodes);
}

TEST(Engine, AChainThatNeverRanIsFreedOnASmallStack) {
  const LiveCounts before = live_counts();
  on_small_stack(kStack, [] {
    const Tensor x = leaf({1});
    Tensor y = exp(x);
    for (int i = 1; i < kChain; ++i) y = mul(y, y);  // each holds what it saved, too
  });
  EXPECT_EQ(live_counts().nodes, before.nodes);
  EXPECT_EQ(live_counts().tensors, before.tensors);
}

// -- threads --------------------------------------------------------------------------------------

TEST(Engine, PassesOfSeveralThreadsAddUpInTheSameLeaves) {
  constexpr int kThreads = 4, kPasses = 200;
  const Tensor x = leaf({1, 2, 3}), w = leaf({1});
  const Tensor shared = mul(x, w);  // one graph under all
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPasses; ++i)
        run(mul(shared, number(static_cast<double>(t + 1))), retain(), {1, 1, 1});
    });
  for (std::thread& thread : threads) thread.join();
  const double sum = kPasses * (1 + 2 + 3 + 4);
  EXPECT_EQ(grad_of(x), (V{sum, sum, sum}));  // integers: exact in any order
  EXPECT_EQ(grad_of(w), V{6 * sum});
}

TEST(Engine, TwoPassesThatFreeOneGraphRunWhollyOrAreTold) {
  for (int trial = 0; trial < 200; ++trial) {
    const Tensor x = leaf({3});
    Tensor y = mul(x, x);
    for (int i = 0; i < 20; ++i) y = mul(y, exp(mul(y, number(0.0))));
    std::atomic<int> ran{0}, told{0}, ready{0};
    const auto body = [&] {
      ++ready;
      while (ready < 2) {
      }
      try {
        run(y);
        ++ran;
      } catch (const Error& e) {
        if (e.code() == LIBDL_ERROR_STATE) ++told;
      }
    };
    std::thread other(body);
    body();
    other.join();
    ASSERT_EQ(ran + told, 2);
    ASSERT_GE(ran, 1);
    ASSERT_EQ(grad_of(x), V{6.0 * ran});
  }
}

}  // namespace
}  // namespace libdl
