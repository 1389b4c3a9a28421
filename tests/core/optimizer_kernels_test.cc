// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "kernels/cpu/kernels.h"
#include "tests/core/kernel_runs.h"

namespace libdl::kernels::test {
namespace {

// Tensors of odd sizes, some of them larger than a chunk, some empty.
template <class T>
struct Model {
  std::vector<Array<T>> param, grad, state1, state2, state3;

  explicit Model(std::vector<int64_t> sizes) {
    unsigned seed = 1;
    for (int64_t n : sizes) {
      param.push_back(normal<T>({n}, seed++));
      grad.push_back(normal<T>({n}, seed++));
      state1.push_back(normal<T>({n}, seed++, 0.1));
      state2.push_back(Array<T>({n}, T(0.01)));
      state3.push_back(Array<T>({n}, T(0.02)));
    }
  }
};

template <class T>
void step(bool adam, Model<T>& model, OptimizerArgs args, Context context = plain_context()) {
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
  if (adam || args.momentum != 0) args.state1 = state1.data();
  if (adam) args.state2 = state2.data();
  if (args.amsgrad) args.state3 = state3.data();
  adam ? cpu::adam(context, args) : cpu::sgd(context, args);
}

// The rules as PyTorch's documentation states them, for one number.
double sgd_rule(const OptimizerArgs& a, double p, double g, double& momentum) {
  if (a.maximize) g = -g;
  g += a.weight_decay * p;
  if (a.momentum != 0) {
    momentum = a.first ? g : a.momentum * momentum + (1 - a.dampening) * g;
    g = a.nesterov ? g + a.momentum * momentum : momentum;
  }
  return p - a.lr * g;
}
double adam_rule(const OptimizerArgs& a, double p, double g, double& m, double& v, double& top) {
  if (a.maximize) g = -g;
  if (a.decoupled) {
    p -= a.lr * a.weight_decay * p;
  } else {
    g += a.weight_decay * p;
  }
  m = a.beta1 * m + (1 - a.beta1) * g;
  v = a.beta2 * v + (1 - a.beta2) * g * g;
  top = std::max(top, v);
  const double second = (a.amsgrad ? top : v) / a.bias2;
  return p - a.lr * (m / a.bias1) / (std::sqrt(second) + a.eps);
}

template <class T>
void expect_step(bool adam, const OptimizerArgs& args, double eps) {
  const Model<T> before({7, 0, 1000, 40000, 1, 65});
  Model<T> after = before;
  step(adam, after, args);
  for (size_t t = 0; t < before.param.size(); ++t) {
    for (int64_t i = 0; i < before.param[t].numel(); ++i) {
      double m = static_cast<double>(before.state1[t][i]);
      double v = static_cast<double>(before.state2[t][i]);
      double top = static_cast<double>(before.state3[t][i]);
      const double p = static_cast<double>(before.param[t][i]);
      const double g = static_cast<double>(before.grad[t][i]);
      const double want = adam ? adam_rule(args, p, g, m, v, top) : sgd_rule(args, p, g, m);
      ASSERT_NEAR(static_cast<double>(after.param[t][i]), want,
                  8 * eps * (1 + std::abs(p) + std::abs(g)));
      if (adam || args.momentum != 0) {
        ASSERT_NEAR(static_cast<double>(after.state1[t][i]), m, 8 * eps * (1 + std::abs(g)));
      }
      if (adam) {
        ASSERT_NEAR(static_cast<double>(after.state2[t][i]), v, 8 * eps * (1 + g * g));
      }
      const double kept = adam && args.amsgrad ? top : static_cast<double>(before.state3[t][i]);
      ASSERT_NEAR(static_cast<double>(after.state3[t][i]), kept, 8 * eps * (1 + g * g));
    }
  }
}

OptimizerArgs sgd_args(double momentum, double dampening, bool nesterov, bool first) {
  OptimizerArgs a{};
  a.lr = 0.1;
  a.momentum = momentum;
  a.dampening = dampening;
  a.nesterov = nesterov;
  a.first = first;
  return a;
}
OptimizerArgs adam_args(double beta1 = 0.9) {
  OptimizerArgs a{};
  a.lr = 0.01;
  a.beta1 = beta1;
  a.beta2 = 0.999;
  a.eps = 1e-8;
  a.bias1 = 1 - std::pow(beta1, 3);
  a.bias2 = 1 - std::pow(0.999, 3);
  return a;
}

std::vector<std::pair<bool, OptimizerArgs>> all_rules() {
  std::vector<std::pair<bool, OptimizerArgs>> rules = {{false, sgd_args(0, 0, false, false)},
                                                       {false, sgd_args(0.9, 0, false, true)},
                                                       {false, sgd_args(0.9, 0, false, false)},
                                                       {false, sgd_args(0.9, 0.3, false, false)},
                                                       {false, sgd_args(0.9, 0, true, false)},
                                                       {true, adam_args()},
                                                       {true, adam_args(0.3)}};
  const size_t n = rules.size();
  for (size_t i = 0; i < n; ++i) {
    auto decayed = rules[i];
    decayed.second.weight_decay = 0.05;
    decayed.second.maximize = true;
    rules.push_back(decayed);
  }
  auto decoupled = rules.back();
  decoupled.second.decoupled = true;
  rules.push_back(decoupled);
  decoupled.second.amsgrad = true;
  rules.push_back(decoupled);
  return rules;
}

TEST(OptimizerKernel, EveryRuleEqualsDoubleReference) {
  for_isas([](cpu::Isa) {
    for (const auto& [adam, args] : all_rules()) {
      expect_step<float>(adam, args, 6e-8);
      expect_step<double>(adam, args, 1.2e-16);
    }
  });
}

TEST(OptimizerKernel, BitsDependNeitherOnThreadsNorOnTheInstructionSet) {
  for (const auto& [adam, args] : all_rules()) {
    Model<float> want({20000, 3, 30001});
    step(adam, want, args);
    for_isas([&](cpu::Isa) {
      for (const Context& c : contexts()) {
        Model<float> got({20000, 3, 30001});
        step(adam, got, args, c);
        for (size_t t = 0; t < 3; ++t) {
          EXPECT_TRUE(same_bits(want.param[t].data, got.param[t].data));
          EXPECT_TRUE(same_bits(want.state1[t].data, got.state1[t].data));
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
  OptimizerArgs args = sgd_args(0, 0, false, false);
  args.lr = 0.5;
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
