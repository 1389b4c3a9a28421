// SPDX-License-Identifier: Apache-2.0

// The blocks of one stream, small or large: segments are cut into blocks, and free blocks are kept
// in lists by size class with a bitmap over them, so that finding, splitting and merging take
// constant time. A freed block that other streams have used waits in a queue until their work is
// done. All bookkeeping lies outside the memory itself, which may be a device's. No locks: the
// allocator has one.
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

enum class BlockState : uint8_t {
  kUsed,
  kFree,     // in a list, unless its segment is closed
  kWaiting,  // freed, but work of other streams may still use it
  kAside,    // about to be trimmed
};

struct Block {
  char* data;
  size_t bytes;
  Segment* segment;
  Block *before, *after;             // neighbours in the segment
  Block *next_free, *previous_free;  // in its list, or among those that wait
  Use* uses;
  BlockState state;
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
  // long enough (another segment may help), or, with `refused` set, if there is no memory. While
  // other streams still use freed blocks, memory beside them is taken, so that the streams overlap;
  // where that would be the third block of about this size, or there is no memory for it, the
  // heap's stream waits on the device for the first of them.
  Block* allocate(size_t bytes, bool& refused);
  void free(Block* block);

  // Takes over a reserved range. False if there is no memory to describe it.
  bool add(std::shared_ptr<Source> source, void* base, size_t bytes);

  // Nothing more is allocated from the current segments.
  void close();

  // In two steps, with a wait for all streams in between, during which nobody gets these blocks:
  // freed blocks are set aside; their memory is decommitted and they return to the lists. Segments
  // that are wholly free leave the heap and are put into `leaving`, for the caller to release
  // without its lock. trim returns the number of bytes freed.
  void set_aside();
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
  bool settled(Block* block);
  void poll();
  bool trim(Segment* segment, size_t& gone);
  Block* first_waiting(size_t bytes, size_t most, int count) const;
  void stop_waiting(Block* block);
  Block* settle(Block* block);
  void split(Block* block, size_t bytes);
  Block* merge(Block* block);

  BlockCells& cells_;
  const size_t rounding_;
  void* const stream_;
  const bool small_;
  Segment* segments_ = nullptr;
  size_t reserved_ = 0;
  Block *waiting_ = nullptr, *last_waiting_ = nullptr;  // in the order in which they were freed
  Block* lists_[kClasses] = {};
  uint64_t nonempty_[(kClasses + 63) / 64] = {};
};

}  // namespace libdl
