// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "tests/core/kernel_runs.h"

namespace libdl::kernels::test {
namespace {

// Tensors of odd sizes, some of them larger than a chunk, some empty.
template <class T>
struct Model {
  std::vector<Array<T>> param, grad, state1, state2, state3;

  // squares: the first state is 0 or more.
  explicit Model(std::vector<int64_t> sizes, bool squares = false) {
    unsigned seed = 1;
    for (int64_t n : sizes) {
      param.push_back(normal<T>({n}, seed++));
      grad.push_back(normal<T>({n}, seed++));
      state1.push_back(normal<T>({n}, seed++, 0.1));
      for (int64_t i = 0; squares && i < n; ++i) state1.back()[i] = std::abs(state1.back()[i]);
      state2.push_back(Array<T>({n}, T(0.01)));
      state3.push_back(Array<T>({n}, T(0.02)));
    }
  }
};

// A kernel, its rule as PyTorch's documentation states it, and which states it has.
using Kernel = void (*)(Context&, const OptimizerArgs&);
using Reference = double (*)(const OptimizerOptions&, double p, double g, double (&state)[3]);
struct UpdateRule {
  Kernel kernel;
  Reference reference;
  bool has[3];
  OptimizerOptions options;
  bool has_squares = false;  // as its first state
};

template <class T>
void step(const UpdateRule& rule, Model<T>& model, Context context = plain_context()) {
  OptimizerArgs args{};
  args.options = rule.options;
  std::vector<int32_t> dtype;
  std::vector<int64_t> numel;
  std::vector<void*> param, state1, state2, state3;
  std::vector<const void*> grad;
  for (size_t i = 0; i < model.param.size(); ++i) {
    dtype.push_back(dtype_of<T>());
    numel.push_back(model.param[i].numel());
    param.push_back(model.param[i].data.data());
    grad.push_back(model.grad[i].data.data());
    state1.push_back(model.state1[i].data.data());
    state2.push_back(model.state2[i].data.data());
    state3.push_back(model.state3[i].data.data());
  }
  args.count = static_cast<int32_t>(param.size());
  args.dtype = dtype.data();
  args.numel = numel.data();
  args.param = param.data();
  args.grad = grad.data();
  if (rule.has[0]) args.state1 = state1.data();
  if (rule.has[1]) args.state2 = state2.data();
  if (rule.has[2]) args.state3 = state3.data();
  rule.kernel(context, args);
}

double decayed(const OptimizerOptions& o, double& p, double g) {
  if (o.maximize) g = -g;
  if (!o.decoupled) return g + o.weight_decay * p;
  p -= o.lr * o.weight_decay * p;
  return g;
}
double mean(double beta, double& m, double x) { return m = beta * m + (1 - beta) * x; }

double sgd(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  g = decayed(o, p, g);
  if (o.momentum != 0) {
    s[0] = o.first ? g : o.momentum * s[0] + (1 - o.dampening) * g;
    g = o.nesterov ? g + o.momentum * s[0] : s[0];
  }
  return p - o.lr * g;
}
double asgd(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  g = decayed(o, p, g);
  p = p - o.lambd * o.lr * p - o.lr * g;
  s[0] += o.mu * (p - s[0]);
  return p;
}
double adam(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  g = decayed(o, p, g);
  mean(o.beta1, s[0], g);
  double v = mean(o.beta2, s[1], g * g);
  if (o.amsgrad) v = s[2] = std::max(s[2], v);
  return p - o.lr * (s[0] / o.bias1) / (std::sqrt(v / o.bias2) + o.eps);
}
double adamax(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  g = decayed(o, p, g);
  mean(o.beta1, s[0], g);
  s[1] = std::max(o.beta2 * s[1], std::abs(g) + o.eps);
  return p - o.lr * (s[0] / o.bias1) / s[1];
}
double nadam(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  g = decayed(o, p, g);
  mean(o.beta1, s[0], g);
  const double size = std::sqrt(mean(o.beta2, s[1], g * g) / o.bias2) + o.eps;
  return p - (o.grad_rate * g + o.mean_rate * s[0]) / size;
}
double radam(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  g = decayed(o, p, g);
  mean(o.beta1, s[0], g);
  const double size = (std::sqrt(mean(o.beta2, s[1], g * g)) + o.eps) / std::sqrt(o.bias2);
  return p - o.lr * (s[0] / o.bias1) * (o.rectification != 0 ? o.rectification / size : 1);
}
double adagrad(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  g = decayed(o, p, g);
  s[0] += g * g;
  return p - o.lr * g / (std::sqrt(s[0]) + o.eps);
}
double adadelta(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  g = decayed(o, p, g);
  mean(o.rho, s[0], g * g);
  const double d = std::sqrt(s[1] + o.eps) / std::sqrt(s[0] + o.eps) * g;
  mean(o.rho, s[1], d * d);
  return p - o.lr * d;
}
double rmsprop(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  g = decayed(o, p, g);
  double v = mean(o.rho, s[0], g * g);
  if (o.centered) v -= std::pow(mean(o.rho, s[2], g), 2);
  const double step = g / (std::sqrt(v) + o.eps);
  if (o.momentum == 0) return p - o.lr * step;
  s[1] = o.momentum * s[1] + step;
  return p - o.lr * s[1];
}
double rprop(const OptimizerOptions& o, double p, double g, double (&s)[3]) {
  if (o.maximize) g = -g;
  const double agreement = g * s[0];
  const double factor = agreement > 0 ? o.etaplus : agreement < 0 ? o.etaminus : 1;
  s[1] = std::clamp(s[1] * factor, o.step_size_min, o.step_size_max);
  s[0] = agreement < 0 ? 0 : g;
  return p - s[1] * (s[0] > 0 ? 1 : s[0] < 0 ? -1 : 0);
}

template <class T>
void expect_step(const UpdateRule& rule, double eps) {
  const Model<T> before({7, 0, 1000, 40000, 1, 65}, rule.has_squares);
  Model<T> after = before;
  step(rule, after);
  for (size_t t = 0; t < before.param.size(); ++t) {
    for (int64_t i = 0; i < before.param[t].numel(); ++i) {
      const auto number = [i](const std::vector<Array<T>>& of, size_t tensor) {
        return static_cast<double>(of[tensor][i]);
      };
      const double p = number(before.param, t), g = number(before.grad, t);
      double states[3] = {number(before.state1, t), number(before.state2, t),
                          number(before.state3, t)};
      const double want = rule.reference(rule.options, p, g, states);
      const double bound = eps * (1 + std::abs(p) + g * g) * 8;
      ASSERT_NEAR(number(after.param, t), want, bound);
      ASSERT_NEAR(number(after.state1, t), states[0], bound);
      ASSERT_NEAR(number(after.state2, t), states[1], bound);
      ASSERT_NEAR(number(after.state3, t), states[2], bound);
    }
  }
}

UpdateRule sgd_rule(double momentum, double dampening, bool nesterov, bool first) {
  return {cpu::sgd,
          sgd,
          {momentum != 0, false, false},
          {.lr = 0.1,
           .momentum = momentum,
           .dampening = dampening,
           .nesterov = nesterov,
           .first = first}};
}
UpdateRule adam_rule(Kernel kernel, Reference reference, double beta1 = 0.9) {
  return {kernel,
          reference,
          {true, true, false},
          {.lr = 0.01,
           .beta1 = beta1,
           .beta2 = 0.999,
           .eps = 1e-8,
           .bias1 = 1 - std::pow(beta1, 3),
           .bias2 = 1 - std::pow(0.999, 3),
           .grad_rate = 0.02,
           .mean_rate = 0.03}};
}

std::vector<UpdateRule> rules_of_moments() {
  UpdateRule adaptive = adam_rule(cpu::radam, radam);
  adaptive.options.rectification = 0.3;
  return {adam_rule(cpu::adam, adam),     adam_rule(cpu::adam, adam, 0.3),
          adam_rule(cpu::adamax, adamax), adam_rule(cpu::nadam, nadam),
          adam_rule(cpu::radam, radam),   adaptive};
}
std::vector<UpdateRule> rules_of_squares() {
  const OptimizerOptions common{.lr = 0.01, .eps = 1e-6, .rho = 0.9};
  std::vector<UpdateRule> update_rules = {
      {cpu::adagrad, adagrad, {true, false, false}, common, true},
      {cpu::adadelta, adadelta, {true, true, false}, common, true},
      {cpu::rmsprop, rmsprop, {true, false, false}, common, true}};
  OptimizerOptions momentum = common;
  momentum.momentum = 0.5;
  update_rules.push_back({cpu::rmsprop, rmsprop, {true, true, false}, momentum, true});
  return update_rules;
}
std::vector<UpdateRule> all_rules() {
  std::vector<UpdateRule> update_rules = {
      sgd_rule(0, 0, false, false), sgd_rule(0.9, 0, false, true), sgd_rule(0.9, 0, false, false),
      sgd_rule(0.9, 0.3, false, false), sgd_rule(0.9, 0, true, false)};
  for (const auto& more : {rules_of_moments(), rules_of_squares()})
    update_rules.insert(update_rules.end(), more.begin(), more.end());
  for (const double mu : {1.0, 0.25})
    update_rules.push_back(
        {cpu::asgd, asgd, {true, false, false}, {.lr = 0.1, .lambd = 0.5, .mu = mu}});
  const size_t n = update_rules.size();
  for (size_t i = 0; i < n; ++i) {
    UpdateRule more = update_rules[i];
    more.options.weight_decay = 0.05;
    more.options.maximize = true;
    update_rules.push_back(more);
    if (!more.has[1] || more.kernel == cpu::adamax || more.kernel == cpu::rmsprop) continue;
    more.options.decoupled = true;
    update_rules.push_back(more);
  }
  UpdateRule amsgrad = adam_rule(cpu::adam, adam);
  amsgrad.has[2] = amsgrad.options.amsgrad = true;
  update_rules.push_back(amsgrad);
  for (const bool maximize : {false, true})
    update_rules.push_back({cpu::rprop,
                            rprop,
                            {true, true, false},
                            {.etaminus = 0.5,
                             .etaplus = 1.2,
                             .step_size_min = 0.004,
                             .step_size_max = 0.0115,
                             .maximize = maximize}});
  return update_rules;
}

TEST(OptimizerKernel, EveryRuleEqualsDoubleReference) {
  for_isas([](cpu::Isa) {
    for (const UpdateRule& rule : all_rules()) {
      expect_step<float>(rule, 6e-8);
      expect_step<double>(rule, 1.2e-16);
    }
  });
}

TEST(OptimizerKernel, CenteredRmspropDividesByTheDeviation) {
  // States of a gradient that was 1 and 3 before: mean square 5, mean 2.
  float param[3] = {1, 2, 3}, grad[3] = {2, 0, 4}, squares[3] = {5, 5, 5}, means[3] = {2, 2, 2};
  const int32_t dtype = LIBDL_DTYPE_FLOAT32;
  const int64_t numel = 3;
  void* params[] = {param};
  const void* grads[] = {grad};
  void *first[] = {squares}, *third[] = {means};
  OptimizerArgs args{1, &dtype, &numel, params, grads, first, nullptr, third, nullptr, {}};
  args.options = {.lr = 0.5, .eps = 1e-3, .rho = 0.75, .centered = true};
  Context context = plain_context();
  cpu::rmsprop(context, args);
  for (int i = 0; i < 3; ++i) {
    double states[3] = {5, 0, 2};
    const float p = static_cast<float>(i + 1);
    const double want = rmsprop(args.options, p, grad[i], states);
    EXPECT_NEAR(param[i], want, 1e-6);
    EXPECT_FLOAT_EQ(squares[i], static_cast<float>(states[0]));
    EXPECT_FLOAT_EQ(means[i], static_cast<float>(states[2]));
  }
}

TEST(OptimizerKernel, BitsDependNeitherOnThreadsNorOnTheInstructionSet) {
  for (const UpdateRule& rule : all_rules()) {
    Model<float> want({20000, 3, 30001}, rule.has_squares);
    step(rule, want);
    for_isas([&](cpu::Isa) {
      for (const Context& c : contexts()) {
        Model<float> got({20000, 3, 30001}, rule.has_squares);
        step(rule, got, c);
        for (size_t t = 0; t < 3; ++t) {
          EXPECT_TRUE(same_bits(want.param[t].data, got.param[t].data));
          EXPECT_TRUE(same_bits(want.state1[t].data, got.state1[t].data));
          EXPECT_TRUE(same_bits(want.state2[t].data, got.state2[t].data));
        }
      }
    });
  }
}

TEST(OptimizerKernel, SixteenBitTensorsAreComputedInFloat32) {
  uint16_t param[3] = {0x3f80, 0x4000, 0}, grad[3] = {0x3f80, 0, 0x4000};  // 1, 2, 0; 1, 0, 2
  const int32_t dtype = LIBDL_DTYPE_BFLOAT16;
  const int64_t numel = 3;
  void* params[] = {param};
  const void* grads[] = {grad};
  OptimizerArgs args{};
  args.options.lr = 0.5;
  args.count = 1;
  args.dtype = &dtype;
  args.numel = &numel;
  args.param = params;
  args.grad = grads;
  Context context = plain_context();
  cpu::sgd(context, args);
  EXPECT_EQ(param[0], 0x3f00);
  EXPECT_EQ(param[1], 0x4000);
  EXPECT_EQ(param[2], 0xbf80);
}

}  // namespace
}  // namespace libdl::kernels::test
