// SPDX-License-Identifier: Apache-2.0

// Tangents as operators read and set them: the root of a family of views owns the tangent, its
// views derive theirs, and a write to a view writes that part of the root's.
#pragma once

#include <utility>

#include "tape/meta.h"

namespace libdl {

// x's tangent in the level, or undefined.
Tensor tangent_of(const Tensor& x, DualLevel& level);
// In the innermost open level; undefined if there is none.
Tensor tangent_of(const Tensor& x);
// Whether x has a tangent in any level that is visible now.
bool has_tangent(const Tensor& x);

// The innermost level that operators currently see, or NULL.
inline DualLevel* visible_level() {
  const State& s = state();
  return s.mode & kModeForward ? s.dual_level : nullptr;
}

// Held while a forward-mode rule runs: operators see the levels from `level` outwards (NULL: none),
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
// The inputs' tangents in each visible level in which an input has one, outermost first: the rule
// in one level must see the tangents that it produced in the level outside it.
std::vector<DualInputs> dual_inputs(std::span<const Tensor* const> inputs);

// The tangents that x will have once it is written. The constructor does everything that may fail;
// commit() cannot fail.
class Retangent {
 public:
  Retangent() = default;  // does nothing
  // x gets the tangents of y, its new value, in each visible level; an undefined y: no tangent.
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

// Gives x this tangent in the level, converted to x's dtype.
void give_tangent(const Tensor& x, DualLevel& level, const Tensor& tangent);
// For y, a view of `input`; `replay` applies the same view to another tensor of input's shape.
template <class Replay>
void view_tangents(const Tensor& input, const Tensor& y, Replay&& replay);

// Gives the saved values of y's node the tangents of the inputs and results that they hold.
void save_tangents(const Tensor& y, std::span<const DualInputs> inputs);
// Gives saved value i the current tangents of `value`.
void save_tangents_of(Node& node, int i, const Tensor& value);

// -- the template -------------------------------------------------------------------------------

// Caches in y a tangent that was derived from its root's.
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
