// SPDX-License-Identifier: Apache-2.0

#include "tape/tangent.h"

#include <algorithm>

#include "device/state.h"
#include "tape/meta.h"

namespace libdl {

void destroy(DualLevel* level) { delete level; }

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

// -- cells ----------------------------------------------------------------------------------

TangentCell::TangentCell(DualLevel& l) : level(Ref<DualLevel>::share(&l)) {
  const std::lock_guard lock(l.mutex);
  next = l.first;
  if (next) next->previous = this;
  l.first = this;
}

TangentCell::~TangentCell() {
  const std::lock_guard lock(level->mutex);
  if (!listed) return;
  (previous ? previous->next : level->first) = next;
  if (next) next->previous = previous;
}

TangentCell* find_cell(const Tensor& x, const DualLevel& level) {
  const Meta* const meta = x.meta();
  if (!meta || !meta->duality) return nullptr;
  for (const auto& cell : meta->duality->cells)
    if (cell->level->id == level.id) return cell.get();
  return nullptr;
}

Duality::~Duality() = default;

static Duality& duality_of(const Tensor& x) {
  Meta& meta = meta_of(x);
  if (!meta.duality) meta.duality = std::make_unique<Duality>();
  return *meta.duality;
}

TangentCell& cell_of(const Tensor& x, DualLevel& level) {
  if (TangentCell* const found = find_cell(x, level)) return *found;
  auto& cells = duality_of(x).cells;
  std::erase_if(cells, [](const auto& cell) { return cell->level->closed.load(); });
  cells.push_back(std::make_unique<TangentCell>(level));
  return *cells.back();
}

void set_cell(TangentCell& cell, Tensor tangent) noexcept {
  static std::atomic<uint64_t> generations{0};
  cell.generation = generations.fetch_add(1, std::memory_order_relaxed) + 1;
  std::swap(cell.value, tangent);
}

void share_cells(const Tensor& from, const Tensor& to) {
  const Meta* const meta = from.meta();
  if (!meta || !meta->duality) return;
  for (const auto& cell : meta->duality->cells)
    if (cell->value.defined()) set_cell(cell_of(to, *cell->level), cell->value);
}

void detach_tangents(const Tensor& x) {
  const Meta* const meta = x.meta();
  if (!meta || (!meta->duality && !(state().mode & kModeForward))) return;
  Duality& d = duality_of(x);
  d.apart = true;
  for (const auto& cell : d.cells) set_cell(*cell, {});
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
          LIBDL_ERROR_AUTOGRAD, "view", 0, "input",
          "is a view of a tensor that was given other data since: its tangent is not known",
          "a view made after the data were given");
    at = &source;
  }
  return *at;
}

void own_tangent(const Tensor& x, const DualLevel& level) { duality_of(x).own_level = level.id; }

}  // namespace libdl
