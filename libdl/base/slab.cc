// SPDX-License-Identifier: Apache-2.0

#include "base/slab.h"

#include <pthread.h>

#include <cstdlib>
#include <mutex>

namespace libdl {
namespace slab {

constinit thread_local Cache cache{};
std::atomic<int64_t> fail_countdown{-1};
static std::atomic<bool> fail_persistently{false};

// Cells and counters that outlive their threads, and the list of living caches.
namespace {
struct Central {
  std::mutex mutex;
  Free* free[kMaxCells + 1] = {};
  struct Member* members = nullptr;
  LiveCounts ended{};
};
// Never destroyed: threads may end after static destructors have run.
Central& central() {
  static Central* const instance = new Central;
  return *instance;
}

// Registers the thread's cache, and hands its cells and counters over when the thread ends.
struct Member {
  Cache* owner = nullptr;
  Member *previous = nullptr, *next = nullptr;

  Member() {
    Central& c = central();
    const std::lock_guard lock(c.mutex);
    owner = &cache;
    next = c.members;
    if (next) next->previous = this;
    c.members = this;
  }
  ~Member() {
    Central& c = central();
    const std::lock_guard lock(c.mutex);
    (previous ? previous->next : c.members) = next;
    if (next) next->previous = previous;
    c.ended.tensors += owner->live_tensors.load(std::memory_order_relaxed);
    c.ended.storages += owner->live_storages.load(std::memory_order_relaxed);
    c.ended.nodes += owner->live_nodes.load(std::memory_order_relaxed);
    c.ended.bytes += owner->live_bytes.load(std::memory_order_relaxed);
    owner->live_tensors = owner->live_storages = owner->live_nodes = owner->live_bytes = 0;
    for (size_t cells = 1; cells <= kMaxCells; ++cells)
      while (Free* cell = owner->free[cells]) {
        owner->free[cells] = cell->next;
        cell->next = c.free[cells];
        c.free[cells] = cell;
      }
  }
};

// A fork while another thread holds the mutex must not lock the child out.
[[maybe_unused]] const int fork_safe =
    pthread_atfork([] { central().mutex.lock(); }, [] { central().mutex.unlock(); },
                   [] { central().mutex.unlock(); });
}  // namespace

void join() noexcept {
  static thread_local Member member;
  (void)member;
}

void* refill(size_t cells) {
  join();
  const size_t bytes = cells * kCell;
  Central& c = central();
  {
    const std::lock_guard lock(c.mutex);
    if (Free* taken = c.free[cells]) {  // what ended threads left, up to 64 cells at a time
      Free* last = taken;
      for (int i = 0; i < 64 && last->next; ++i) last = last->next;
      c.free[cells] = last->next;
      last->next = nullptr;
      cache.free[cells] = taken->next;
      return taken;
    }
  }
  constexpr size_t kChunk = 32768;
  char* chunk = static_cast<char*>(std::aligned_alloc(kCell, kChunk));
  if (!chunk) throw std::bad_alloc();
  const size_t count = kChunk / bytes;
  for (size_t i = count; i-- > 1;) {
    auto* cell = reinterpret_cast<Free*>(chunk + i * bytes);
    cell->next = cache.free[cells];
    cache.free[cells] = cell;
  }
  return chunk;
}

void* large(size_t bytes) {
  join();
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
