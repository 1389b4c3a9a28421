// SPDX-License-Identifier: Apache-2.0

#include "base/slab.h"

#include <malloc.h>
#include <pthread.h>

#include <cstdlib>
#include <unordered_map>

#include "base/lock.h"
#include "base/thread_end.h"

namespace libdl {
namespace slab {

constinit thread_local Cache cache{};
std::atomic<int64_t> fail_countdown{-1};
static std::atomic<bool> fail_persistently{false};

namespace {

// Chunks are aligned to this, so that a cell's address gives its chunk. The rest leaves room for
// the C library's header of each block.
constexpr size_t kChunk = 32768, kChunkBytes = kChunk - 64;
constexpr int32_t cells_in_chunk(size_t cells) {
  return static_cast<int32_t>(kChunkBytes / (cells * kCell));
}
// A list holds two chunks' worth at most; one goes when it is full.
constexpr int32_t batch_of(size_t cells) { return cells_in_chunk(cells); }
constexpr int32_t most_of(size_t cells) { return 2 * batch_of(cells); }

// Free cells in batches, counters that outlive their threads, and the list of living caches.
struct Central {
  Mutex mutex;
  Free* batches[kMaxCells + 1] = {};
  struct Member* members = nullptr;
  LiveCounts ended{};
};
// Never destroyed: threads may end after static destructors have run.
Central& central() {
  alignas(Central) static std::byte storage[sizeof(Central)];
  static Central* const instance = new (storage) Central;
  return *instance;
}

struct Member {
  Cache* owner;
  Member *previous, *next;
};
constinit thread_local Member member{};

void push_batch(Central& c, size_t cells, Free* batch) {
  batch->next_batch = c.batches[cells];
  c.batches[cells] = batch;
}

// A thread's cells and counters survive it.
void take_over(Central& c, Cache& from) {
  c.ended.tensors += from.live_tensors.exchange(0, std::memory_order_relaxed);
  c.ended.storages += from.live_storages.exchange(0, std::memory_order_relaxed);
  c.ended.nodes += from.live_nodes.exchange(0, std::memory_order_relaxed);
  c.ended.bytes += from.live_bytes.exchange(0, std::memory_order_relaxed);
  for (size_t cells = 1; cells <= kMaxCells; ++cells) {
    if (Free* const rest = std::exchange(from.free[cells], nullptr)) push_batch(c, cells, rest);
    from.left[cells] = 0;
  }
}

void leave() noexcept {
  Central& c = central();
  const std::lock_guard lock(c.mutex);
  (member.previous ? member.previous->next : c.members) = member.next;
  if (member.next) member.next->previous = member.previous;
  take_over(c, cache);
  member = {};
}
constinit thread_local ThreadEnd thread_end{EndOrder::kCells, leave};

bool join() noexcept {
  if (member.owner) return true;
  if (!at_thread_end(thread_end)) return false;
  Central& c = central();
  const std::lock_guard lock(c.mutex);
  member = {&cache, nullptr, c.members};
  if (member.next) member.next->previous = &member;
  c.members = &member;
  for (size_t cells = 1; cells <= kMaxCells; ++cells) cache.left[cells] = most_of(cells);
  return true;
}

// The other threads have ended without cleanup, and new threads' caches may reuse their addresses.
[[maybe_unused]] const int slab_fork_safe = pthread_atfork(nullptr, nullptr, [] {
  Central& c = central();
  Member* const all = std::exchange(c.members, nullptr);
  for (Member *m = all, *next; m; m = next) {
    next = m->next;
    if (m == &member) continue;
    take_over(c, *m->owner);
    *m = {};
  }
  if (!member.owner) return;
  member = {&cache, nullptr, nullptr};
  c.members = &member;
});

// Cuts the first `count` cells off the thread's list.
Free* cut(size_t cells, int32_t count) {
  Free *const first = cache.free[cells], *last = first;
  for (int32_t i = 1; i < count; ++i) last = last->next;
  cache.free[cells] = last->next;
  cache.left[cells] += count;
  last->next = nullptr;
  return first;
}

}  // namespace

void overflow(Free* cell, size_t cells) noexcept {
  ++cache.left[cells];
  cell->next = nullptr;
  Free* spilled = cell;
  if (join()) {
    if (cache.left[cells] <= 0)
      spilled = cut(cells, batch_of(cells));
    else
      spilled = nullptr;
    cell->next = cache.free[cells];
    cache.free[cells] = cell;
    --cache.left[cells];
  }
  if (!spilled) return;
  Central& c = central();
  const std::lock_guard lock(c.mutex);
  push_batch(c, cells, spilled);
}

void* refill(size_t cells) {
  if (!join()) throw std::bad_alloc();
  Central& c = central();
  Free* batch;
  {
    const std::lock_guard lock(c.mutex);
    batch = c.batches[cells];
    if (batch) c.batches[cells] = batch->next_batch;
  }
  if (!batch) {
    void* memory;  // aligned_alloc would want a whole number of alignments
    if (posix_memalign(&memory, kChunk, kChunkBytes)) throw std::bad_alloc();
    auto* const chunk = static_cast<std::byte*>(memory);
    for (int32_t i = cells_in_chunk(cells); i-- > 0;) {
      auto* const cell = reinterpret_cast<Free*>(chunk + static_cast<size_t>(i) * cells * kCell);
      cell->next = batch;
      batch = cell;
    }
  }
  cache.free[cells] = batch->next;
  for (const Free* cell = batch->next; cell; cell = cell->next) --cache.left[cells];
  return batch;
}

namespace {

using Chunks = std::unordered_map<uintptr_t, int32_t>;  // free cells of each
uintptr_t chunk_of(const Free* cell) {
  return reinterpret_cast<uintptr_t>(cell) & ~uintptr_t{kChunk - 1};
}

// The batches of one size without the cells of whole chunks, which go. Linked as they came.
size_t free_whole_chunks(size_t cells, Free*& batches) {
  Chunks chunks;
  for (const Free* batch = batches; batch; batch = batch->next_batch)
    for (const Free* cell = batch; cell; cell = cell->next) ++chunks[chunk_of(cell)];
  Free *left = nullptr, *kept = nullptr;
  int32_t in_batch = 0;
  while (Free* batch = batches) {
    batches = batch->next_batch;
    while (Free* const cell = batch) {
      batch = cell->next;
      if (chunks[chunk_of(cell)] == cells_in_chunk(cells)) continue;
      cell->next = kept;
      kept = cell;
      if (++in_batch < batch_of(cells) && (batch || batches)) continue;
      kept->next_batch = std::exchange(left, kept);
      kept = nullptr;
      in_batch = 0;
    }
  }
  if (kept) kept->next_batch = std::exchange(left, kept);
  batches = left;
  size_t freed = 0;
  for (const auto& [chunk, count] : chunks)
    if (count == cells_in_chunk(cells)) {
      std::free(reinterpret_cast<void*>(chunk));
      freed += kChunk;
    }
  return freed;
}

}  // namespace

size_t trim() {
  Central& c = central();
  size_t freed = 0;
  for (size_t cells = 1; cells <= kMaxCells; ++cells) {
    Free* batches;
    {
      const std::lock_guard lock(c.mutex);
      if (Free* const own = std::exchange(cache.free[cells], nullptr)) push_batch(c, cells, own);
      if (member.owner) cache.left[cells] = most_of(cells);
      batches = std::exchange(c.batches[cells], nullptr);
    }
    try {
      freed += free_whole_chunks(cells, batches);
    } catch (const std::bad_alloc&) {  // there was no memory to count in; all stays
    }
    const std::lock_guard lock(c.mutex);
    while (Free* const batch = batches) {
      batches = batch->next_batch;
      push_batch(c, cells, batch);
    }
  }
#if defined(__GLIBC__)
  if (freed) malloc_trim(0);  // else the C library keeps what it was given
#endif
  return freed;
}

void* large(size_t bytes) {
  if (!join()) throw std::bad_alloc();
  void* p = std::aligned_alloc(kCell, (bytes + kCell - 1) / kCell * kCell);
  if (!p) throw std::bad_alloc();
  return p;
}

void free_large(void* p) noexcept {
  join();
  std::free(p);
}

bool fails() {
  const int64_t left = fail_countdown.load();
  if (left < 0) return false;
  if (left == 0) {
    if (!fail_persistently) fail_countdown = -1;
    return true;
  }
  fail_countdown = left - 1;
  return false;
}

}  // namespace slab

LiveCounts live_counts() {
  slab::Central& c = slab::central();
  const std::lock_guard lock(c.mutex);
  LiveCounts sum = c.ended;
  for (const slab::Member* m = c.members; m; m = m->next) {
    sum.tensors += m->owner->live_tensors.load(std::memory_order_relaxed);
    sum.storages += m->owner->live_storages.load(std::memory_order_relaxed);
    sum.nodes += m->owner->live_nodes.load(std::memory_order_relaxed);
    sum.bytes += m->owner->live_bytes.load(std::memory_order_relaxed);
  }
  return sum;
}

void fail_allocation(int64_t n, bool persistent) {
  slab::fail_persistently = persistent;
  slab::fail_countdown = n;
}

}  // namespace libdl
