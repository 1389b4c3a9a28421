// SPDX-License-Identifier: Apache-2.0

// Forward mode: attaching tangents to values in a level of dual numbers, and detaching them.
#pragma once

#include "tape/tangent.h"

namespace libdl {

// The open level with this id; throws STATE if there is none.
DualLevel& level_of(uint64_t identity, const char* op);

// primal + tangent eps in the level: an alias of primal that keeps its history and its tangents in
// other levels. The tangent has primal's shape and dtype; primal must not yet have one there.
Tensor make_dual(const Tensor& primal, const Tensor& tangent, DualLevel& level, const char* op);

// Gives x itself the tangent, or none if it is undefined, and so for the values of x that its node
// saved.
void set_tangent(const Tensor& x, const Tensor& tangent, DualLevel& level);

// An alias without the tangent of the level, and that tangent, or undefined.
struct Unpacked {
  Tensor primal, tangent;
};
Unpacked unpack_dual(const Tensor& dual, DualLevel& level, const char* op);

// A level that is open as long as this object exists.
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
