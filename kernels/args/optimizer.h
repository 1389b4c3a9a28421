// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace libdl::kernels {

// What the rules of kernels/optimizer_rules.h read; each reads some of it.
struct OptimizerOptions {
  double lr = 0, momentum = 0, dampening = 0, beta1 = 0, beta2 = 0, eps = 0, weight_decay = 0;
  double bias1 = 0, bias2 = 0;          // 1 - beta1^step, 1 - beta2^step
  double rectification = 0;             // RAdam; 0: the step is not adaptive yet
  double grad_rate = 0, mean_rate = 0;  // NAdam: learning rates of the gradient and of its mean
  double rho = 0;                       // Adadelta, RMSprop: the decay of the mean of squares
  double lambd = 0, mu = 0;             // ASGD: decay, and the weight of the average
  double etaminus = 0, etaplus = 0, step_size_min = 0, step_size_max = 0;  // Rprop
  bool nesterov = false, centered = false, maximize = false, first = false, amsgrad = false;
  bool decoupled = false;
};

// A gradient of which only some rows are held, `columns` long; the others are 0.
struct GradientRows {
  int64_t count;  // 0: the gradient is held whole
  int64_t columns;
  const int64_t* numbers;  // of the rows, ascending
};

// One optimizer step over a list of tensors, in one pass; arrays of `count` contiguous float
// pointers and lengths. state1 to state3 are those of Element in kernels/optimizer_rules.h, NULL
// where the rule needs none.
struct OptimizerArgs {
  int32_t count;
  const int32_t* dtype;
  const int64_t* numel;
  void* const* param;
  const void* const* grad;
  void* const* state1;
  void* const* state2;
  void* const* state3;
  const GradientRows* rows;  // one a tensor; NULL: all gradients are held whole. On the CPU only
  OptimizerOptions options;
};

}  // namespace libdl::kernels
