// SPDX-License-Identifier: Apache-2.0

#include "memory/heap.h"

#include <algorithm>
#include <bit>
#include <new>

namespace libdl {

struct BlockCells::Chunk {
  Chunk* next;
  Block blocks[256];
};

BlockCells::~BlockCells() {
  while (Chunk* chunk = chunks_) {
    chunks_ = chunk->next;
    delete chunk;
  }
}

bool BlockCells::ensure(int count) {
  if (count_ >= count) return true;
  Chunk* chunk = new (std::nothrow) Chunk;
  if (!chunk) return false;
  chunk->next = chunks_;
  chunks_ = chunk;
  for (Block& block : chunk->blocks) give(&block);
  return true;
}

Block* BlockCells::take() {
  Block* block = free_;
  free_ = block->next_free;
  --count_;
  *block = {};
  return block;
}

Heap::~Heap() {
  while (Segment* segment = segments_) {
    segments_ = segment->next;
    for (Block* block = segment->first; block;) {
      Block* after = block->after;
      settled(block);
      cells_.give(block);
      block = after;
    }
    segment->source->release(segment->base, segment->bytes);
    delete segment;
  }
}

// Sizes below 16 units have a class each; above, each doubling has 16.
int Heap::size_class(size_t units) {
  if (units < kFirst) return static_cast<int>(units);
  const int doubling = static_cast<int>(std::bit_width(units)) - 1;  // >= 4
  const int step = static_cast<int>(units >> (doubling - 4)) & (kSteps - 1);
  return std::min(kClasses - 1, kFirst + (doubling - 4) * kSteps + step);
}

// Best among the first few of the own class, whose blocks may be too short; else any block of the
// next class that has one, where all are long enough.
Block* Heap::find(size_t bytes) const {
  const int own = size_class(bytes / rounding_);
  constexpr int kLook = 8;
  Block* best = nullptr;
  int seen = 0;
  for (Block* block = lists_[own]; block && seen < kLook; block = block->next_free, ++seen) {
    if (block->bytes >= bytes && (!best || block->bytes < best->bytes)) best = block;
  }
  if (best || own + 1 >= kClasses) return best;
  size_t word = static_cast<size_t>(own + 1) / 64;
  uint64_t bits = nonempty_[word] & (~uint64_t{0} << (own + 1) % 64);
  while (bits == 0) {
    if (++word == std::size(nonempty_)) return nullptr;
    bits = nonempty_[word];
  }
  return lists_[word * 64 + static_cast<size_t>(std::countr_zero(bits))];
}

void Heap::insert(Block* block) {
  block->state = BlockState::kFree;
  if (block->segment->closed) return;
  const int list = size_class(block->bytes / rounding_);
  block->previous_free = nullptr;
  block->next_free = lists_[list];
  if (block->next_free) block->next_free->previous_free = block;
  lists_[list] = block;
  nonempty_[list / 64] |= uint64_t{1} << list % 64;
}

void Heap::remove(Block* block) {
  block->state = BlockState::kUsed;
  if (block->segment->closed) return;
  const int list = size_class(block->bytes / rounding_);
  (block->previous_free ? block->previous_free->next_free : lists_[list]) = block->next_free;
  if (block->next_free) block->next_free->previous_free = block->previous_free;
  if (!lists_[list]) nonempty_[list / 64] &= ~(uint64_t{1} << list % 64);
}

// Puts memory behind the block's first `bytes`. What was got before a refusal stays, and counts as
// reserved.
bool Heap::back(Block* block, size_t bytes) {
  Segment& s = *block->segment;
  if (!block->may_have_holes) return true;
  const auto is_backed = [&](size_t i) { return s.backed[i / 64] >> i % 64 & 1; };
  const size_t offset = static_cast<size_t>(block->data - s.base);
  const size_t end = (offset + bytes + s.granule - 1) / s.granule;
  for (size_t i = offset / s.granule; i < end;) {
    if (is_backed(i)) {
      ++i;
      continue;
    }
    size_t last = i;
    while (last < end && !is_backed(last)) ++last;
    const size_t run = (last - i) * s.granule;
    if (!s.source->commit(s.base + i * s.granule, run, small_)) return false;
    s.committed += run;
    reserved_ += run;
    for (; i < last; ++i) s.backed[i / 64] |= uint64_t{1} << i % 64;
  }
  return true;
}

// Whether no other stream uses the freed block any more.
bool Heap::settled(Block* block) {
  while (Use* use = block->uses) {
    if (use->event && !block->segment->source->done(use->event)) return false;
    block->uses = use->next;
    delete use;
  }
  return true;
}

void Heap::stop_waiting(Block* block) {
  (block->previous_free ? block->previous_free->next_free : waiting_) = block->next_free;
  (block->next_free ? block->next_free->previous_free : last_waiting_) = block->previous_free;
  block->next_free = block->previous_free = nullptr;
  block->state = BlockState::kUsed;
}

// Asking costs a call of the driver: where the first is in use, so are most of the others.
void Heap::poll() {
  while (Block* block = waiting_) {
    if (!settled(block)) return;
    stop_waiting(block);
    insert(merge(block));
  }
}

// The first of those from `bytes` to `most` that wait, if there are `count` of them early in the
// queue.
Block* Heap::first_waiting(size_t bytes, size_t most, int count) const {
  Block* first = nullptr;
  int looks = 64;
  for (Block* block = waiting_; block && count > 0 && looks > 0;
       block = block->next_free, --looks) {
    if (block->bytes < bytes || block->bytes > most) continue;
    if (!first) first = block;
    --count;
  }
  return count > 0 ? nullptr : first;
}

// The heap's stream waits on the device for all others that use the block.
Block* Heap::settle(Block* block) {
  if (!block) return nullptr;
  stop_waiting(block);
  while (Use* use = block->uses) {
    block->uses = use->next;
    if (use->event) block->segment->source->wait(stream_, use->event);
    delete use;
  }
  return block;
}

// Leaves `bytes` in the block and makes the rest a free one.
void Heap::split(Block* block, size_t bytes) {
  Block* rest = cells_.take();
  rest->data = block->data + bytes;
  rest->bytes = block->bytes - bytes;
  rest->segment = block->segment;
  rest->may_have_holes = block->may_have_holes;
  rest->before = block;
  rest->after = block->after;
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  insert(rest);
}

Block* Heap::allocate(size_t bytes, bool& refused) {
  refused = !cells_.ensure(1);
  if (refused) return nullptr;
  poll();
  Block* block =
      waiting_ ? settle(first_waiting(bytes, 2 * bytes, segments_->source->spare())) : nullptr;
  if (!block) {
    block = find(bytes);
    if (!block) return nullptr;
    if (back(block, bytes)) {
      remove(block);
    } else if (!(block = settle(first_waiting(bytes, SIZE_MAX, 1)))) {
      refused = true;
      return nullptr;
    }
  }
  if (block->bytes > bytes) split(block, bytes);
  block->may_have_holes = false;
  return block;
}

// Joins the block with its successor.
static void absorb(Block* block, BlockCells& cells) {
  Block* gone = block->after;
  block->bytes += gone->bytes;
  block->may_have_holes |= gone->may_have_holes;
  block->after = gone->after;
  if (block->after) block->after->before = block;
  cells.give(gone);
}

static bool is_free(const Block* block) { return block && block->state == BlockState::kFree; }

Block* Heap::merge(Block* block) {
  if (is_free(block->after)) {
    remove(block->after);
    absorb(block, cells_);
  }
  if (is_free(block->before)) {
    block = block->before;
    remove(block);
    absorb(block, cells_);
  }
  return block;
}

void Heap::free(Block* block) {
  for (Use* use = block->uses; use; use = use->next) {
    use->event = block->segment->source->record(use->stream);
  }
  while (block->uses && !block->uses->event) {
    Use* const over = block->uses;
    block->uses = over->next;
    delete over;
  }
  if (!block->uses) return insert(merge(block));
  block->state = BlockState::kWaiting;
  block->next_free = nullptr;
  block->previous_free = last_waiting_;
  (last_waiting_ ? last_waiting_->next_free : waiting_) = block;
  last_waiting_ = block;
}

bool Heap::add(std::shared_ptr<Source> source, void* base, size_t bytes) {
  std::unique_ptr<Segment> segment(new (std::nothrow) Segment{});
  if (!segment || !cells_.ensure(1)) return false;
  segment->granule = source->granule(small_);
  if (segment->granule) {
    const size_t granules = bytes / segment->granule;
    segment->backed.reset(new (std::nothrow) uint64_t[(granules + 63) / 64]());
    if (!segment->backed) return false;
  } else {
    segment->committed = bytes;
    reserved_ += bytes;
  }
  Block* block = cells_.take();
  block->data = static_cast<char*>(base);
  block->bytes = bytes / rounding_ * rounding_;
  block->segment = segment.get();
  block->may_have_holes = segment->granule != 0;
  segment->source = std::move(source);
  segment->heap = this;
  segment->base = block->data;
  segment->bytes = bytes;
  segment->first = block;
  segment->next = segments_;
  if (segments_) segments_->previous = segment.get();
  segments_ = segment.release();
  insert(block);
  return true;
}

void Heap::close() {
  for (Segment* segment = segments_; segment; segment = segment->next) {
    for (Block* block = segment->first; block && !segment->closed; block = block->after) {
      if (!is_free(block)) continue;
      remove(block);
      block->state = BlockState::kFree;
    }
    segment->closed = true;
  }
}

// Decommits whole granules of one free block.
static size_t take_memory(Block* block) {
  Segment& s = *block->segment;
  const size_t offset = static_cast<size_t>(block->data - s.base);
  const size_t end = (offset + block->bytes) / s.granule;
  size_t gone = 0;
  for (size_t i = (offset + s.granule - 1) / s.granule; i < end; ++i) {
    const size_t first = i;
    for (; i < end && s.backed[i / 64] >> i % 64 & 1; ++i) {
      s.backed[i / 64] &= ~(uint64_t{1} << i % 64);
    }
    if (i == first) continue;
    s.source->decommit(s.base + first * s.granule, (i - first) * s.granule);
    gone += (i - first) * s.granule;
  }
  if (gone) block->may_have_holes = true;
  s.committed -= gone;
  return gone;
}

void Heap::set_aside() {
  while (waiting_) {
    Block* const block = waiting_;
    stop_waiting(block);
    block->state = BlockState::kAside;
  }
  for (Segment* segment = segments_; segment; segment = segment->next) {
    for (Block* block = segment->first; block; block = block->after) {
      if (!is_free(block)) continue;
      remove(block);
      block->state = BlockState::kAside;
    }
  }
}

// What was freed since the blocks were set aside stays: its work may still be queued. Returns
// whether nothing is left of the segment; else its blocks return to the lists.
bool Heap::trim(Segment* segment, size_t& gone) {
  const auto is_aside = [](const Block* block) {
    return block && block->state == BlockState::kAside;
  };
  for (Block* block = segment->first; block; block = block->after) {
    if (!is_aside(block)) continue;
    settled(block);
    for (; is_aside(block->after); absorb(block, cells_)) settled(block->after);
    if (segment->granule) gone += take_memory(block);
    if (!block->before && !block->after) {
      gone += segment->committed;
      cells_.give(block);
      return true;
    }
    block = merge(block);
    insert(block);
  }
  return false;
}

size_t Heap::trim(Segment*& leaving) {
  size_t gone = 0;
  for (Segment *segment = segments_, *next; segment; segment = next) {
    next = segment->next;
    if (!trim(segment, gone)) continue;
    (segment->previous ? segment->previous->next : segments_) = next;
    if (next) next->previous = segment->previous;
    segment->next = leaving;
    leaving = segment;
  }
  reserved_ -= gone;
  return gone;
}

}  // namespace libdl
