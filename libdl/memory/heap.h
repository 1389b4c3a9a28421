// SPDX-License-Identifier: Apache-2.0

// The blocks of one stream, small or large: segments are cut into blocks, and free blocks are kept
// in lists by size class with a bitmap over them, so that finding, splitting and merging take
// constant time. All bookkeeping lies outside the memory itself, which may be a device's. No locks:
// the allocator has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/source.h"

namespace libdl {

struct Segment;

// Another stream that used a block, and its event once the block is free.
struct Use {
  void* stream;
  void* event;
  Use* next;
};

struct Block {
  char* data;
  size_t bytes;
  Segment* segment;
  Block *before, *after;  // neighbours in the segment
  Block *next_free, *previous_free;
  Use* uses;
  bool free;
  bool may_have_holes;  // parts of it may not be committed
};

struct Segment {
  std::shared_ptr<Source> source;
  class Heap* heap;
  char* base;
  size_t bytes;
  size_t granule;                      // 0: all memory is committed
  size_t committed;                    // bytes
  std::unique_ptr<uint64_t[]> backed;  // one bit per granule: it is committed
  Block* first;
  bool closed;  // its free blocks are in no list
  Segment *next, *previous;
};

// Block descriptors are allocated in chunks and never freed: their number is bounded by the largest
// number of blocks that ever existed at once.
class BlockCells {
 public:
  BlockCells() = default;
  BlockCells(const BlockCells&) = delete;
  BlockCells& operator=(const BlockCells&) = delete;
  ~BlockCells();
  bool ensure(int count);  // false: no memory
  Block* take();           // after ensure
  void give(Block* block) {
    block->next_free = free_;
    free_ = block;
    ++count_;
  }

 private:
  struct Chunk;
  Chunk* chunks_ = nullptr;
  Block* free_ = nullptr;
  int64_t count_ = 0;
};

class Heap {
 public:
  Heap(BlockCells& cells, size_t rounding, void* stream, bool small)
      : cells_(cells), rounding_(rounding), stream_(stream), small_(small) {}
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Allocates a committed block of `bytes` (a multiple of the rounding). NULL if no free block is
  // long enough (another segment may help), or, with `refused` set, if there is no memory. On
  // success the heap's stream waits for the other streams that used the block.
  Block* allocate(size_t bytes, bool& refused);
  void free(Block* block);

  // Takes over a reserved range. False if there is no memory to describe it.
  bool add(std::shared_ptr<Source> source, void* base, size_t bytes);

  // Nothing more is allocated from the current segments.
  void close();

  // Decommits free blocks. Segments that are wholly free leave the heap and are put into `leaving`,
  // for the caller to release without its lock. Returns the number of bytes freed.
  size_t trim(Segment*& leaving);

  size_t reserved() const { return reserved_; }  // committed bytes
  void* stream() const { return stream_; }
  bool small() const { return small_; }
  const Segment* segments() const { return segments_; }

 private:
  static constexpr int kFirst = 16;  // classes of one unit each
  static constexpr int kSteps = 16;  // classes in each doubling above
  static constexpr int kClasses = kFirst + kSteps * 48;

  static int size_class(size_t units);
  Block* find(size_t bytes) const;
  void insert(Block* block);
  void remove(Block* block);
  bool back(Block* block, size_t bytes);
  void settle(Block* block);
  void split(Block* block, size_t bytes);
  Block* merge(Block* block);

  BlockCells& cells_;
  const size_t rounding_;
  void* const stream_;
  const bool small_;
  Segment* segments_ = nullptr;
  size_t reserved_ = 0;
  Block* lists_[kClasses] = {};
  uint64_t nonempty_[(kClasses + 63) / 64] = {};
};

}  // namespace libdl
