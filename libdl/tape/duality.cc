// SPDX-License-Identifier: Apache-2.0

#include "tape/duality.h"

#include <utility>

namespace libdl {

void destroy(DualLevel* level) { delete level; }

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

Duality::~Duality() = default;

void set_cell(TangentCell& cell, Tensor tangent) noexcept {
  static std::atomic<uint64_t> generations{0};
  cell.generation = generations.fetch_add(1, std::memory_order_relaxed) + 1;
  std::swap(cell.value, tangent);
}

}  // namespace libdl
