// SPDX-License-Identifier: Apache-2.0

// Used blocks by address: open addressing, at most half full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/heap.h"

namespace libdl {

class BlockTable {
 public:
  bool ensure() { return 2 * count_ < size_ || grow(); }  // room for one more; false: no memory
  void insert(Block* block) {
    slots_[slot(block->data)] = block;
    ++count_;
  }
  Block* find(const void* data) const { return size_ ? slots_[slot(data)] : nullptr; }
  void erase(const Block* block);

 private:
  bool grow();
  size_t home(const void* data) const {
    return (reinterpret_cast<uintptr_t>(data) >> 6) * 0x9E3779B97F4A7C15u >> 20 & (size_ - 1);
  }

  // The block's slot, or the empty slot where it would go.
  size_t slot(const void* data) const {
    size_t i = home(data);
    while (slots_[i] && slots_[i]->data != data) i = (i + 1) & (size_ - 1);
    return i;
  }

  std::unique_ptr<Block*[]> slots_;
  size_t size_ = 0, count_ = 0;
};

}  // namespace libdl
