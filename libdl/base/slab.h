// SPDX-License-Identifier: Apache-2.0

// Cells for small objects (tensors, storages, nodes) from thread-local free lists: 1-2 ns for an
// allocation and its free. A cell freed on another thread joins that thread's list; when a list is
// full, cells overflow to a central pool that all threads refill from. In sanitizer builds every
// cell is an allocation of its own, so that the sanitizer sees each use after free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace libdl {

constexpr size_t kCell = 64;      // cells are multiples of this and aligned to it
constexpr size_t kMaxCells = 16;  // larger objects come from operator new

namespace slab {

struct Free {
  Free* next;
  Free* next_batch;  // in the first cell of a batch in the central pool
};

// One thread's free lists and counters. Only its thread writes; live_counts() reads the counters
// from other threads.
struct Cache {
  Free* free[kMaxCells + 1];
  int32_t
      left[kMaxCells + 1];  // cells that each list may still take; 0 before the thread has joined
  std::atomic<int64_t> live_tensors, live_storages, live_nodes, live_bytes;
};

extern constinit thread_local Cache cache;
extern std::atomic<int64_t> fail_countdown;  // < 0: off

void* refill(size_t cells);
void* large(size_t bytes);
void free_large(void* p) noexcept;
void overflow(Free* cell, size_t cells) noexcept;  // frees a cell whose list is full
size_t trim();  // gives whole chunks of free cells back to the system; returns the bytes
bool fails();   // counts one allocation; true where the test hook wants it to fail

}  // namespace slab

// 64-byte aligned memory for one object. Throws std::bad_alloc.
inline void* slab_allocate(size_t bytes) {
  if (slab::fail_countdown.load(std::memory_order_relaxed) >= 0 && slab::fails())
    throw std::bad_alloc();
#if defined(LIBDL_SANITIZE)
  return slab::large(bytes);
#else
  const size_t cells = (bytes + kCell - 1) / kCell;
  if (cells > kMaxCells) return slab::large(bytes);
  slab::Free* cell = slab::cache.free[cells];
  if (!cell) return slab::refill(cells);
  slab::cache.free[cells] = cell->next;
  ++slab::cache.left[cells];
  return cell;
#endif
}

inline void slab_free(void* p, size_t bytes) noexcept {
#if defined(LIBDL_SANITIZE)
  (void)bytes;
  slab::free_large(p);
#else
  const size_t cells = (bytes + kCell - 1) / kCell;
  if (cells > kMaxCells) return slab::free_large(p);
  auto* cell = static_cast<slab::Free*>(p);
  if (--slab::cache.left[cells] < 0) [[unlikely]]
    return slab::overflow(cell, cells);
  cell->next = slab::cache.free[cells];
  slab::cache.free[cells] = cell;
#endif
}

template <class T, class... Args>
T* slab_new(Args&&... args) {
  void* p = slab_allocate(sizeof(T));
  try {
    return new (p) T(std::forward<Args>(args)...);
  } catch (...) {
    slab_free(p, sizeof(T));
    throw;
  }
}

template <class T>
void slab_delete(T* object) noexcept {
  object->~T();
  slab_free(object, sizeof(T));
}

// Counters of one thread, without an atomic read-modify-write.
inline void count(std::atomic<int64_t>& counter, int64_t change) {
  counter.store(counter.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}

struct LiveCounts {
  int64_t tensors, storages, nodes, bytes;
};
// Sums over all threads, including ended ones. Exact while no thread allocates.
LiveCounts live_counts();

// Test hook: the n-th allocation from now fails (counted from 0), and every later one if
// `persistent`; n < 0 switches it off.
void fail_allocation(int64_t n, bool persistent);

}  // namespace libdl
