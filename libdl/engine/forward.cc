// SPDX-License-Identifier: Apache-2.0

#include "engine/forward.h"

#include <string>

#include "entries/copy.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/core/tangent.h"

namespace libdl {

DualLevel& level_of(uint64_t identity, const char* op) {
  for (DualLevel* level = state().dual_level; level; level = level->before)
    if (level->id == identity) return *level;
  fail_argument(LIBDL_ERROR_STATE, op, "level", "is " + std::to_string(identity), "an open level");
}

// A tangent of an inner level depends on what is asked for here.
static void refuse_inner(const Tensor& x, const DualLevel& level, const char* op,
                         const char* name) {
  for (DualLevel* inner = visible_level(); inner && inner != &level; inner = inner->outer)
    if (tangent_of(x, *inner).defined())
      fail_argument(LIBDL_ERROR_STATE, op, name, "has a tangent in a level that was opened later",
                    "that one to be unpacked first");
}

// An alias with a tangent of its own in the level.
static Tensor apart(const Tensor& x, DualLevel& level) {
  Tensor y;
  {
    const LevelsFrom others(nullptr);  // the level's tangent is not derived, the others' later
    y = view(x, x.shape());
  }
  own_tangent(y, level);
  return y;
}

Tensor make_dual(const Tensor& primal, const Tensor& tangent, DualLevel& level, const char* op) {
  refuse_inner(primal, level, op, "primal");
  if (tangent_of(primal, level).defined())
    fail_argument(LIBDL_ERROR_STATE, op, "primal", "has a tangent in the level",
                  "one without, or a level of its own");
  Tensor dual = apart(primal, level);
  set_cell(cell_of(dual, level), tangent);
  return dual;
}

void set_tangent(const Tensor& x, const Tensor& tangent, DualLevel& level) {
  if (!tangent.defined() && !tangent_of(x, level).defined()) return;
  give_tangent(x, level, tangent.defined() ? tangent : zeros(x.shape(), x.dtype(), x.device()));
  const DualInputs only{&level, {}};
  save_tangents(x, {&only, 1});
}

Unpacked unpack_dual(const Tensor& dual, DualLevel& level, const char* op) {
  refuse_inner(dual, level, op, "dual");
  return {apart(dual, level), tangent_of(dual, level)};
}

}  // namespace libdl
