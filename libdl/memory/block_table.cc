// SPDX-License-Identifier: Apache-2.0

#include "memory/block_table.h"

#include <new>
#include <utility>

namespace libdl {

bool BlockTable::grow() {
  const size_t larger = size_ ? 2 * size_ : 1024;
  std::unique_ptr<Block*[]> slots(new (std::nothrow) Block*[larger]());
  if (!slots) return false;
  slots.swap(slots_);
  const size_t old = std::exchange(size_, larger);
  for (size_t i = 0; i < old; ++i) {
    if (slots[i]) slots_[slot(slots[i]->data)] = slots[i];
  }
  return true;
}

// Moves later entries of the run back, so that no tombstone is needed.
void BlockTable::erase(const Block* block) {
  size_t gap = slot(block->data);
  --count_;
  for (size_t i = gap;;) {
    i = (i + 1) & (size_ - 1);
    if (!slots_[i]) break;
    const size_t from_home = (i - home(slots_[i]->data)) & (size_ - 1);
    if (from_home < ((i - gap) & (size_ - 1))) continue;
    slots_[gap] = slots_[i];
    gap = i;
  }
  slots_[gap] = nullptr;
}

}  // namespace libdl
