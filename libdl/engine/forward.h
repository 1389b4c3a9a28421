// SPDX-License-Identifier: Apache-2.0

// Forward mode: how a value gets its tangent in a level of dual numbers, and loses it.
#pragma once

#include "tape/tangent.h"

namespace libdl {

// The open level with this identity, from the innermost out; throws STATE.
DualLevel& level_of(uint64_t identity, const char* op, int argument);

// primal + tangent eps in the level: an alias of primal that keeps its history and its tangents in
// other levels. The tangent has primal's shape and dtype; primal must not have one there.
Tensor make_dual(const Tensor& primal, const Tensor& tangent, DualLevel& level, const char* op);

// x itself carries the tangent, or none if it is undefined; so does what its node saved of it.
void set_tangent(const Tensor& x, const Tensor& tangent, DualLevel& level);

// An alias without the tangent of the level, and that tangent, or undefined.
struct Unpacked {
  Tensor primal, tangent;
};
Unpacked unpack_dual(const Tensor& dual, DualLevel& level, const char* op);

// A level that is open for as long as this lives.
class ForwardLevel {
 public:
  ForwardLevel() : level_(open_level()) {}
  ~ForwardLevel() { close_level(); }
  ForwardLevel(const ForwardLevel&) = delete;
  ForwardLevel& operator=(const ForwardLevel&) = delete;
  DualLevel& level() const { return level_; }

 private:
  DualLevel& level_;
};

}  // namespace libdl
