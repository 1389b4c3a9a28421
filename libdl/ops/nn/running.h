// SPDX-License-Identifier: Apache-2.0

// What normalisations of channels have in common: vectors with a number a channel, and the running
// statistics, which a call in training changes.
#pragma once

#include <initializer_list>

#include "ops/core/call.h"

namespace libdl {

// In which normalisations compute: float32 for the 16-bit types.
Dtype normalised_as(Dtype dtype);

// Throws DTYPE or SHAPE unless x, the argument `name`, is absent or has a number for each of
// input's channels, in input's dtype or in that of the computation.
void check_channels(const char* op, const Tensor& input, const char* name, const Tensor* x);

// Throws DTYPE or SHAPE, and blames the input, if the vectors agree with each other and not with
// it. NULL: there is no such vector.
void check_input_of(const char* op, const Tensor& input,
                    std::initializer_list<const Tensor*> vectors);

// Arguments 2 and 3 of a normalisation, either of them NULL.
struct Running {
  const Tensor *mean, *var;
};
// written: whether they are updated; else both must be there.
void check_running(const char* op, const Tensor& input, Running running, bool written);

// Moves the running statistics by (1 - momentum) running + momentum value.
class RunningUpdate {
 public:
  RunningUpdate(const char* op, Running running) : op_(op), running_(running) {}
  // Computes what write() writes. Everything that may fail is here.
  void prepare(const Tensor& mean, const Tensor& var, double momentum);
  void write() const;

 private:
  const char* op_;
  Running running_;
  Tensor mean_, var_;
};

}  // namespace libdl
