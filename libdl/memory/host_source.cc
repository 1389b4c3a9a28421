// SPDX-License-Identifier: Apache-2.0

#include "memory/host_source.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "base/contained.h"
#include "runtime/host_limits.h"

namespace libdl {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;
constexpr size_t kHugePage = 2 * kMegabyte;

// Address space of a segment. It costs nothing until it is committed, except under sanitizers,
// which keep a shadow of it.
#if defined(LIBDL_SANITIZE)
constexpr size_t kSmallSegment = 16 * kMegabyte, kLargeSegment = 256 * kMegabyte;
#else
constexpr size_t kSmallSegment = 1024 * kMegabyte, kLargeSegment = 64 * 1024 * kMegabyte;
#endif

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// With overcommit the system grants too many pages and then kills the process, so the measurement
// must be recent, but need not be repeated for every 2 MB.
constexpr int64_t kFresh = 100'000'000;

}  // namespace

size_t parse_bytes(const char* text) {
  char* end;
  const double number = std::strtod(text, &end);
  if (end == text || !(number > 0)) return 0;
  const char* const units = "KMGT";
  double unit = 1;
  for (int i = 0; i < 4; ++i) {
    if ((*end & ~0x20) == units[i]) {
      unit = static_cast<double>(size_t{1} << (10 * (i + 1)));
      ++end;
      break;
    }
  }
  return *end == 0 && number * unit < 9e18 ? static_cast<size_t>(number * unit) : 0;
}

bool is_kept_at_most(const char* text) {
  return std::string_view(text) == "0" || parse_bytes(text) != 0;
}

size_t kept_at_most() {
  static const size_t most = [] {
    const char* const text = std::getenv("LIBDL_MEMORY_KEEP");
    return text && is_kept_at_most(text) ? parse_bytes(text) : SIZE_MAX;
  }();
  return most;
}

MemoryBudget& host_budget() {
  static MemoryBudget budget;
  return budget;
}

size_t MemoryBudget::limit() {
  size_t chosen = chosen_.load(std::memory_order_relaxed);
  if (chosen == SIZE_MAX) {
    const char* text = std::getenv("LIBDL_MEMORY_LIMIT");
    size_t expected = SIZE_MAX;
    chosen_.compare_exchange_strong(expected, text ? parse_bytes(text) : 0);
    chosen = chosen_.load(std::memory_order_relaxed);
  }
  if (chosen != 0) return chosen;
  const int64_t time = now();
  if (automatic_.load(std::memory_order_relaxed) == 0 ||
      time - measured_at_.load(std::memory_order_relaxed) > kFresh) {
    // What this library holds and has touched is no longer "available", yet counts against it.
    const size_t held = std::min(taken(), resident_memory());
    const size_t available = available_memory();
    const size_t most =
        std::min(cgroup_memory_limit(), available > SIZE_MAX - held ? SIZE_MAX : available + held);
    automatic_.store(most / 10 * 9, std::memory_order_relaxed);
    measured_at_.store(time, std::memory_order_relaxed);
  }
  return automatic_.load(std::memory_order_relaxed);
}

void MemoryBudget::set_limit(size_t bytes) {
  automatic_.store(0, std::memory_order_relaxed);
  chosen_.store(std::min(bytes, SIZE_MAX - 1), std::memory_order_relaxed);
}

bool MemoryBudget::take_below(size_t most, size_t bytes) {
  size_t taken = taken_.load(std::memory_order_relaxed);
  do {
    if (bytes > most || taken > most - bytes) return false;
  } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
  return true;
}

bool MemoryBudget::take(size_t bytes) {
  if (take_below(limit(), bytes)) return true;
  automatic_.store(0, std::memory_order_relaxed);  // memory may have come free since
  return take_below(limit(), bytes);
}

bool MemoryBudget::allows(size_t bytes) {
  if (bytes <= limit()) return true;
  automatic_.store(0, std::memory_order_relaxed);
  return bytes <= limit();
}

// Where address space is limited (ulimit -v) the host program needs it too.
static size_t segment_bytes(bool small) {
  const size_t usual = small ? kSmallSegment : kLargeSegment;
  rlimit addresses;
  const bool limited = getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  return limited ? std::min(usual, (small ? 16 : 256) * kMegabyte) : usual;
}

void* HostSource::reserve(size_t& bytes, bool small) {
  const size_t least = round_up(bytes, kHugePage);
  if (!budget_.allows(least)) return nullptr;  // commit would refuse it
  size_t requested = std::max(least, segment_bytes(small));
  for (;; requested = std::max(least, requested / 4)) {
    void* const mapped = mmap(nullptr, requested + kHugePage, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      if (requested == least) return nullptr;
      continue;
    }
    char* const first = static_cast<char*>(mapped);
    const size_t skip = round_up(reinterpret_cast<uintptr_t>(first), kHugePage) -
                        reinterpret_cast<uintptr_t>(first);
    if (skip > 0) munmap(first, skip);
    if (skip < kHugePage) munmap(first + skip + requested, kHugePage - skip);
    madvise(first + skip, requested, MADV_HUGEPAGE);
    bytes = requested;
    return first + skip;
  }
}

void HostSource::release(void* base, size_t bytes) { munmap(base, bytes); }

bool HostSource::commit(void* at, size_t bytes, bool) {
  if (!budget_.take(bytes)) return false;
  if (mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0) return true;
  budget_.give(bytes);
  return false;
}

void HostSource::decommit(void* at, size_t bytes) {
  // A new mapping over the old one: the pages go, and so does their charge where the system does
  // not overcommit. If that fails the pages at least go.
  if (mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
      MAP_FAILED) {
    madvise(at, bytes, MADV_DONTNEED);
  } else {
    madvise(at, bytes, MADV_HUGEPAGE);
  }
  budget_.give(bytes);
}

// Sizes as for a device without virtual memory: many small blocks share 2 MB, medium ones 20 MB.
// Near the limit just what is needed.
void* CallbackSource::reserve(size_t& bytes, bool small) {
  const size_t least = round_up(bytes, small ? 64 * 1024 : kHugePage);
  const size_t shared = small ? kHugePage : 20 * kMegabyte;
  for (size_t size : {least < shared / 2 ? shared : least, least}) {
    if (!budget_.take(size)) continue;
    void* base = nullptr;
    apart([&] { base = callbacks_.allocate(callbacks_.ctx, size, 64); });
    if (base) {
      bytes = size;
      return base;
    }
    budget_.give(size);
  }
  return nullptr;
}

void CallbackSource::release(void* base, size_t bytes) {
  contained([&] { callbacks_.deallocate(callbacks_.ctx, base, bytes, 64); });
  budget_.give(bytes);
}

}  // namespace libdl
