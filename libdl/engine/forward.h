// SPDX-License-Identifier: Apache-2.0

// Forward mode: a level of dual numbers, and how a value gets its tangent there.
#pragma once

#include "tape/meta.h"

namespace libdl {

// primal + tangent eps in the open level: an alias of primal that keeps its history. The tangent
// has primal's shape and dtype.
Tensor make_dual(const Tensor& primal, const Tensor& tangent);

// An open level for as long as it lives; there is none yet.
class ForwardLevel {
 public:
  ForwardLevel() : state_(state()), mode_(0, kModeForward) { state_.forward_level = 1; }
  ~ForwardLevel() { state_.forward_level = 0; }

 private:
  State& state_;
  ModeGuard mode_;
};

}  // namespace libdl
