// SPDX-License-Identifier: Apache-2.0

#include "tape/tangent.h"

#include <algorithm>

#include "device/state.h"
#include "tape/meta.h"

namespace libdl {

// -- levels ---------------------------------------------------------------------------------

DualLevel& open_level() {
  static std::atomic<uint64_t> last{0};
  State& s = state();
  auto* const level = new DualLevel;
  level->id = last.fetch_add(1, std::memory_order_relaxed) + 1;
  level->was_visible = s.mode & kModeForward;
  level->before = s.dual_level;
  level->outer = level->was_visible ? s.dual_level : nullptr;
  level->depth = s.dual_level ? s.dual_level->depth + 1 : 1;
  s.dual_level = level;
  s.mode |= kModeForward;
  return *level;
}

// Takes the first tangent out of the level, for the caller to release when the lock is gone.
static bool take_first(DualLevel& level, Tensor& value) {
  const std::lock_guard lock(level.mutex);
  TangentCell* const cell = level.first;
  if (!cell) return false;
  level.first = cell->next;
  if (cell->next) cell->next->previous = nullptr;
  cell->next = nullptr;
  cell->listed = false;
  std::swap(value, cell->value);
  return true;
}

void close_level(State& s) noexcept {
  const Ref<DualLevel> level = Ref<DualLevel>::take(s.dual_level);
  s.dual_level = level->before;
  s.mode =
      level->was_visible ? s.mode | kModeForward : s.mode & ~static_cast<uint32_t>(kModeForward);
  level->before = level->outer = nullptr;
  level->closed.store(true, std::memory_order_relaxed);
  for (Tensor value; take_first(*level, value); value = {}) {
  }
}

// -- roots ----------------------------------------------------------------------------------

const Tensor& tangent_root(const Tensor& x, const DualLevel& level) {
  const Tensor* at = &x;
  while (const Meta* const meta = at->meta()) {
    const Duality* const d = meta->duality.get();
    if (d && (d->apart || d->own_level == level.id)) break;
    const Tensor& source = d && d->root.defined() ? d->root : meta->base;
    if (!source.defined()) break;
    if (has_moved(source) && source.meta()->view == ViewKind::kNone && !holds(source, *at))
        [[unlikely]]
      fail_argument(
          LIBDL_ERROR_AUTOGRAD, "view", "input",
          "is a view of a tensor that was given other data since: its tangent is not known",
          "a view made after the data were given");
    at = &source;
  }
  return *at;
}

void own_tangent(const Tensor& x, const DualLevel& level) { duality_of(x).own_level = level.id; }

}  // namespace libdl
