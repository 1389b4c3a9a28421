// SPDX-License-Identifier: Apache-2.0

// What a training step costs the system once it has run a few times: nothing.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/core/handle.h"
#include "tests/core/whole.h"

namespace {

// A network of two layers, its loss, its gradients and the optimizer's step.
class Training {
 public:
  Training() {
    x_ = random({64, 784});
    for (const int64_t inputs : {784, 256}) {
      const int64_t outputs = inputs == 784 ? 256 : 10;
      parameters_.push_back(random({outputs, inputs}));
      parameters_.push_back(random({outputs}));
    }
    for (const T& p : parameters_) good(libdl_tensor_set_requires_grad(p.get(), 1));
    for (const T& p : parameters_) {
      T buffer;
      good(libdl_zeros_like(p.get(), LIBDL_DTYPE_NONE, nullptr, buffer.out()));
      momenta_.push_back(buffer);
    }
    const int64_t rows = 64;
    good(libdl_zeros(&rows, 1, LIBDL_DTYPE_INT64, nullptr, targets_.out()));
  }

  void step() {
    T hidden, active, logits, loss;
    good(libdl_linear(x_.get(), parameters_[0].get(), parameters_[1].get(), hidden.out()));
    good(libdl_relu(hidden.get(), active.out()));
    good(libdl_linear(active.get(), parameters_[2].get(), parameters_[3].get(), logits.out()));
    good(libdl_cross_entropy(logits.get(), targets_.get(), nullptr, -100, nullptr, 0, 0,
                             loss.out()));
    const libdl_tensor* const outputs[] = {loss.get()};
    good(libdl_backward(outputs, 1, nullptr, 0, nullptr, 0, nullptr));
    libdl_tensor *parameters[4], *gradients[4], *momenta[4];
    std::vector<T> held;
    for (size_t i = 0; i < 4; ++i) {
      parameters[i] = parameters_[i].get();
      momenta[i] = momenta_[i].get();
      held.emplace_back(libdl_tensor_grad(parameters[i]));
      gradients[i] = held.back().get();
    }
    libdl_sgd_options options = {};
    options.struct_size = sizeof options;
    options.lr = 1e-3, options.momentum = 0.9;
    good(libdl_sgd_step(&options, parameters, 4, gradients, 4, momenta, 4));
    for (libdl_tensor* p : parameters) good(libdl_tensor_set_grad(p, nullptr));
  }

 private:
  static T random(std::initializer_list<int64_t> shape) {
    T x;
    good(libdl_randn(shape.begin(), static_cast<int32_t>(shape.size()), nullptr,
                     LIBDL_DTYPE_FLOAT32, nullptr, x.out()));
    return x;
  }

  T x_, targets_;
  std::vector<T> parameters_, momenta_;
};

int64_t page_faults() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

// The system itself may take pages away (under pressure, to merge or to move them), so one quiet
// round of five is enough; steps that needed pages would need them in every round.
TEST(SteadyStep, TakesNoPageFault) {
#ifdef LIBDL_SANITIZE
  GTEST_SKIP() << "the sanitizer's shadow takes pages of its own";
#endif
  constexpr int kSteps = 100;
  Training training;
  for (int i = 0; i < 20; ++i) training.step();
  int64_t least = INT64_MAX;
  for (int round = 0; round < 5 && least > 0; ++round) {
    const int64_t before = page_faults();
    for (int i = 0; i < kSteps; ++i) training.step();
    least = std::min(least, page_faults() - before);
  }
  EXPECT_EQ(least, 0);
  libdl::test::figure("page faults of 100 steady training steps", std::to_string(least));
}

}  // namespace
