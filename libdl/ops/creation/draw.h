// SPDX-License-Identifier: Apache-2.0

// Drawing random numbers inside of operators.
#pragma once

#include "ops/primitive/launch.h"
#include "tensor/generator.h"

namespace libdl {

using kernels::Distribution;

struct Draw {
  Distribution distribution;
  double a = 0, b = 1;
  int64_t low = 0;
  uint64_t range = 0;
  kernels::View chance = no_view();
};

struct Origin {  // of the words that were drawn
  uint64_t key, offset;
};

// Overwrites y, without recording. NULL: the default generator of y's device.
Origin draw_into(const Tensor& y, const Draw& draw, Generator* given);

// A call that fails after it drew puts the generator back, unless somebody else has drawn since.
class Refund {
 public:
  explicit Refund(Generator* g)
      : generator_(generator_or_default(g)), before_(generator_.offset), after_(before_) {}
  void drawn() { after_ = generator_.offset; }
  void spent() { after_ = before_; }
  ~Refund() {
    if (after_ != before_) generator_.offset.compare_exchange_strong(after_, before_);
  }

 private:
  Generator& generator_;
  uint64_t before_, after_;
};

void check_inexact(const char* op, const char* name, Dtype dtype);
void check_probability(const char* op, double p);

}  // namespace libdl
