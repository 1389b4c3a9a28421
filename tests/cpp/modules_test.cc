// SPDX-License-Identifier: Apache-2.0
// examples/modules.hpp: the names of what networks hold, their modes, and files that do not fit.
#include "modules.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace {

using libdl::Tensor;
using modules::BatchNorm2d, modules::Conv2d, modules::Function, modules::Linear, modules::Module,
    modules::Sequential;

class Net : public Module {
 public:
  Net()
      : body_(child<Sequential>("body")),
        last_(child<Linear>("last", 4, 2)),
        scale_(parameter("scale", libdl::ones({2}))),
        shift_(buffer("shift", libdl::zeros({2}))) {
    body_.add<Conv2d>(1, 4, 3, 2).add<BatchNorm2d>(4);
    body_.add<Function>([](const Tensor& x) { return x.relu(); });
  }
  Tensor forward(const Tensor& x) override {
    return last_(body_(x).mean({2, 3})) * scale_ + shift_;
  }

 private:
  Sequential& body_;
  Linear& last_;
  Tensor scale_, shift_;
};

std::vector<std::string> names(const modules::Named& tensors) {
  std::vector<std::string> result;
  for (const auto& [name, tensor] : tensors) result.push_back(name);
  return result;
}

std::string message(Module& net, const std::vector<std::pair<std::string, Tensor>>& given) {
  const std::string path = testing::TempDir() + "modules_test.safetensors";
  libdl::save(path, given);
  try {
    net.load_state(libdl::File(path));
    return "";
  } catch (const libdl::Error& error) {
    return error.what();
  }
}

TEST(Modules, NamesAreThoseOfPyTorch) {
  const Net net;
  const std::vector<std::string> parameters = {"scale",       "body.0.weight", "body.1.weight",
                                               "body.1.bias", "last.weight",   "last.bias"};
  EXPECT_EQ(names(net.named_parameters()), parameters);
  EXPECT_EQ(names(net.named_buffers()),
            (std::vector<std::string>{"shift", "body.1.running_mean", "body.1.running_var",
                                      "body.1.num_batches_tracked"}));
  EXPECT_EQ(names(net.state()),
            (std::vector<std::string>{"scale", "shift", "body.0.weight", "body.1.weight",
                                      "body.1.bias", "body.1.running_mean", "body.1.running_var",
                                      "body.1.num_batches_tracked", "last.weight", "last.bias"}));
  EXPECT_EQ(net.parameters().size(), parameters.size());
  for (const Tensor& x : net.parameters()) EXPECT_TRUE(x.is_leaf() && x.requires_grad());
  for (const auto& [name, x] : net.named_buffers()) EXPECT_FALSE(x.requires_grad()) << name;
}

TEST(Modules, EvaluationReachesAllBelowAndLeavesTheStatisticsAlone) {
  Net net;
  const Tensor x = libdl::randn({3, 1, 6, 6}) + 5;
  const Tensor mean = net.named_buffers()[1].second, batches = net.named_buffers()[3].second;
  net(x);
  EXPECT_NE(mean.abs().sum().item_f64(), 0);
  EXPECT_EQ(batches.item_i64(), 1);
  net.eval();
  EXPECT_FALSE(net.children()[0].second->children()[1].second->training());
  const Tensor before = mean.clone(), y = net(x);
  EXPECT_TRUE(net(x).equal(y));
  EXPECT_TRUE(mean.equal(before));
  EXPECT_EQ(batches.item_i64(), 1);
  net.train();
  net(x);
  EXPECT_EQ(batches.item_i64(), 2);
}

TEST(Modules, EveryParameterIsTrained) {
  Net net;
  libdl::Sgd sgd(net.parameters(), 0.1);
  const Tensor x = libdl::randn({8, 1, 6, 6}), wanted = libdl::randn({8, 2});
  double first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    const Tensor loss = net(x).mse_loss(wanted);
    sgd.zero_grad();
    loss.backward();
    for (const auto& [name, parameter] : net.named_parameters())
      EXPECT_TRUE(parameter.grad()) << name;
    sgd.step();
    last = loss.item_f64();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, first);
}

TEST(Modules, AStateThatIsLoadedComputesTheSame) {
  Net net, other;
  const Tensor x = libdl::randn({3, 1, 6, 6});
  net(x);  // so that the statistics are not those of the beginning
  EXPECT_EQ(message(other, net.state()), "");
  net.eval(), other.eval();
  EXPECT_TRUE(other(x).equal(net(x)));
  for (const Tensor& parameter : other.parameters()) EXPECT_TRUE(parameter.requires_grad());
}

TEST(Modules, AFileThatDoesNotFitIsRefusedByNameAndChangesNothing) {
  Net net, other;
  const Tensor scale = net.named_parameters()[0].second;
  scale.set_requires_grad(false).mul_(3).set_requires_grad();
  modules::Named state = other.state();
  state.pop_back();
  EXPECT_EQ(message(net, state), "load_state: last.bias is not in the file");
  state.emplace_back("last.bias", libdl::zeros({3}));
  EXPECT_EQ(message(net, state), "load_state: last.bias has another shape in the file");
  state.back().second = libdl::zeros({2}, libdl::Dtype::float64);
  EXPECT_EQ(message(net, state), "load_state: last.bias has another dtype in the file");
  state.back().second = libdl::zeros({2});
  state.emplace_back("more", libdl::zeros({2}));
  EXPECT_EQ(message(net, state), "load_state: the network has no more");
  EXPECT_EQ(scale.sum().item_f64(), 6);
}

TEST(Modules, NothingStaysAlive) {
  int64_t before[4], after[4];
  libdl_memory_get_live(&before[0], &before[1], &before[2], &before[3]);
  {
    Net net;
    net(libdl::ones({2, 1, 6, 6})).sum().backward();
  }
  libdl_memory_get_live(&after[0], &after[1], &after[2], &after[3]);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(after[i], before[i]);
}

}  // namespace
