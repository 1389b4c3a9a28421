// SPDX-License-Identifier: Apache-2.0

// Tangents as operators read and give them: the root of a family of views owns the tangent, its
// views derive theirs, and a write into a view writes that part of the root's.
#pragma once

#include <utility>

#include "tape/meta.h"

namespace libdl {

// x's tangent in the level, or undefined.
Tensor tangent_of(const Tensor& x, DualLevel& level);
// In the innermost level that is open; undefined where none is.
Tensor tangent_of(const Tensor& x);
// Whether x has a tangent in any level that is visible now.
bool has_tangent(const Tensor& x);

// The innermost level that operators see now, or NULL.
inline DualLevel* visible_level() {
  const State& s = state();
  return s.mode & kModeForward ? s.dual_level : nullptr;
}

// While a rule of forward mode runs: operators see the levels from `level` outwards (NULL: none),
// and record as `mode` says.
class LevelsFrom {
 public:
  LevelsFrom(DualLevel* level, uint32_t mode)
      : state_(state()), mode_(state_.mode), level_(state_.dual_level) {
    state_.dual_level = level;
    state_.mode = level ? mode | kModeForward : mode & ~static_cast<uint32_t>(kModeForward);
  }
  explicit LevelsFrom(DualLevel* level) : LevelsFrom(level, state().mode) {}
  ~LevelsFrom() {
    state_.dual_level = level_;
    state_.mode = mode_;
  }
  LevelsFrom(const LevelsFrom&) = delete;
  LevelsFrom& operator=(const LevelsFrom&) = delete;

 private:
  State& state_;
  uint32_t mode_;
  DualLevel* level_;
};

// The tangents of a call's inputs in one level; an input without one has an undefined entry.
struct DualInputs {
  DualLevel* level;
  std::vector<Tensor> tangents;
};
// In each level that is visible and in which an input has a tangent, from the outermost in: what a
// rule makes of the tangents in one level has to be seen by the rule in the next.
std::vector<DualInputs> dual_inputs(std::span<const Tensor* const> inputs);

// What x will carry once it is written: nothing that may fail is left to commit().
class Retangent {
 public:
  Retangent() = default;  // nothing
  // x gets what y, its new value, carries in each visible level; an undefined y: no tangent.
  Retangent(const Tensor& x, const Tensor& y);
  void commit() noexcept;

 private:
  struct Change {
    Tensor root;
    TangentCell* cell;
    Tensor value;
  };
  std::vector<Change> changes_;
};

// x gets this tangent in the level, in its own dtype.
void give_tangent(const Tensor& x, DualLevel& level, const Tensor& tangent);
// y, a view of `input` by the call that `replay` makes on another tensor of its shape.
template <class Replay>
void view_tangents(const Tensor& input, const Tensor& y, Replay&& replay);

// The saved values of y's node carry what they stand for: inputs and results alike.
void save_tangents(const Tensor& y, std::span<const DualInputs> inputs);
// Saved value i carries what `value` does now.
void save_tangents_of(Node& node, int i, const Tensor& value);

// -- the template -------------------------------------------------------------------------------

// y remembers a tangent that it derived from its root's.
void keep_derived(const Tensor& y, DualLevel& level, Tensor tangent);

template <class Replay>
void view_tangents(const Tensor& input, const Tensor& y, Replay&& replay) {
  for (DualLevel* level = visible_level(); level; level = level->outer)
    if (const Tensor t = tangent_of(input, *level); t.defined()) {
      const LevelsFrom outside(level->outer);
      keep_derived(y, *level, replay(t));
    }
}

}  // namespace libdl
