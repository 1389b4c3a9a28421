// SPDX-License-Identifier: Apache-2.0

#include "memory/allocator.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/slab.h"
#include "memory/poison.h"
#include "memory/pressure.h"
#include "memory/thread_bins.h"
#include "tests/core/in_child.h"
#include "tests/core/whole.h"

namespace libdl {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

// Allocates, writes every byte, checks it, frees. False if the bytes changed in between.
bool usable(Allocator& allocator, size_t bytes, unsigned char mark = 0x5A) {
  auto* data = static_cast<unsigned char*>(allocator.allocate(bytes));
  std::memset(data, mark, bytes);
  bool same = true;
  for (size_t i = 0; i < bytes; i += 61) same = same && data[i] == mark;
  allocator.deallocate(data, bytes);
  return same;
}

// A source that counts, remembers, and refuses beyond a limit.
class CountingSource : public Source {
 public:
  explicit CountingSource(size_t granule = 0, size_t most = SIZE_MAX)
      : most_(most), granule_(granule) {}
  ~CountingSource() override { EXPECT_EQ(held, 0u); }

  void* reserve(size_t& bytes, bool small) override {
    bytes = granule_ ? 64 * kMegabyte
                     : (bytes + (small ? 0xFFFF : 2 * kMegabyte - 1)) &
                           ~(small ? 0xFFFF : 2 * kMegabyte - 1);
    if (!granule_ && held + bytes > most_) return nullptr;
    void* data = std::aligned_alloc(64, bytes);
    if (!granule_) held += bytes;
    ++segments;
    return data;
  }
  void release(void* base, size_t bytes) override {
    if (!granule_) held -= bytes;
    --segments;
    std::free(base);
  }
  size_t granule(bool) const override { return granule_; }
  bool commit(void* at, size_t bytes, bool) override {
    if (held + bytes > most_) return false;
    for (size_t i = 0; i < bytes; i += granule_) {
      EXPECT_FALSE(backed[static_cast<char*>(at) + i]);
      backed[static_cast<char*>(at) + i] = true;
    }
    held += bytes;
    return true;
  }
  void decommit(void* at, size_t bytes) override {
    for (size_t i = 0; i < bytes; i += granule_) {
      EXPECT_TRUE(backed[static_cast<char*>(at) + i]);
      backed[static_cast<char*>(at) + i] = false;
    }
    held -= bytes;
  }
  void* record(void* stream) override {
    ++events;
    return static_cast<char*>(stream) + 1;
  }
  bool done(void* event) override {
    if (running.contains(static_cast<char*>(event) - 1)) return false;
    --events;
    return true;
  }
  void wait(void* stream, void* event) override {
    --events;
    waits.push_back({stream, static_cast<char*>(event) - 1});
  }
  void synchronize() override {
    running.clear();
    if (meanwhile) std::exchange(meanwhile, nullptr)();
  }

  size_t held = 0;
  int segments = 0, events = 0;
  std::set<void*> running;          // streams whose work goes on
  std::function<void()> meanwhile;  // what others do while the allocator waits for all streams
  std::map<char*, bool> backed;
  std::vector<std::pair<void*, void*>> waits;

 private:
  const size_t most_, granule_;
};

TEST(BinClasses, CoverEverySizeTightly) {
  for (size_t bytes = 1; bytes <= BinClasses::kMost; ++bytes) {
    const int bin = BinClasses::of(bytes);
    ASSERT_LT(bin, BinClasses::kCount);
    ASSERT_GE(BinClasses::bytes(bin), bytes);
    if (bin > 0) {
      ASSERT_LT(BinClasses::bytes(bin - 1), bytes);
    }
    ASSERT_EQ(BinClasses::of(BinClasses::bytes(bin)), bin);
  }
  EXPECT_EQ(BinClasses::bytes(BinClasses::kCount - 1), BinClasses::kMost);
}

TEST(HostAllocator, GivesAlignedMemoryThatKeepsItsBytes) {
  for (size_t bytes = 1; bytes < 64 * kMegabyte; bytes = bytes * 7 / 4 + 1) {
    void* data = host_allocator().allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    host_allocator().deallocate(data, bytes);
    EXPECT_TRUE(usable(host_allocator(), bytes)) << bytes;
  }
}

TEST(HostAllocator, NoBytesAreABlockToo) {
  void* data = host_allocator().allocate(0);
  EXPECT_NE(data, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  host_allocator().deallocate(data, 0);
}

TEST(HostAllocator, BlocksDoNotOverlap) {
  std::mt19937 random(7);
  struct Held {
    unsigned char* data;
    size_t bytes;
    unsigned char mark;
  };
  std::vector<Held> held;
  const auto intact = [](const Held& h) {
    for (size_t i = 0; i < h.bytes; ++i) {
      if (h.data[i] != h.mark) return false;
    }
    return true;
  };
  for (int i = 0; i < 3000; ++i) {
    if (held.size() > 60 || (!held.empty() && random() % 2)) {
      std::swap(held[random() % held.size()], held.back());
      ASSERT_TRUE(intact(held.back()));
      host_allocator().deallocate(held.back().data, held.back().bytes);
      held.pop_back();
    } else {
      const size_t bytes = static_cast<size_t>(std::exp2(4 + random() % 14)) + random() % 100;
      const auto mark = static_cast<unsigned char>(i);
      held.push_back({static_cast<unsigned char*>(host_allocator().allocate(bytes)), bytes, mark});
      std::memset(held.back().data, mark, bytes);
    }
  }
  for (const Held& h : held) {
    EXPECT_TRUE(intact(h));
    host_allocator().deallocate(h.data, h.bytes);
  }
}

TEST(HostAllocator, StatisticsComeBackToWhereTheyWere) {
  const MemoryStatistics before = host_allocator().statistics();
  host_allocator().reset_peaks();
  void* small = host_allocator().allocate(100);
  void* large = host_allocator().allocate(kMegabyte);
  const MemoryStatistics during = host_allocator().statistics();
  EXPECT_GE(during.small.allocated - before.small.allocated, 100);
  EXPECT_LT(during.small.allocated - before.small.allocated, 300);
  EXPECT_GE(during.large.allocated - before.large.allocated, int64_t{kMegabyte});
  EXPECT_EQ(during.allocations - before.allocations, 2);
  EXPECT_GE(during.active, during.allocated);
  EXPECT_GE(during.reserved, during.active);
  host_allocator().deallocate(small, 100);
  host_allocator().deallocate(large, kMegabyte);
  const MemoryStatistics after = host_allocator().statistics();
  EXPECT_EQ(after.allocated, before.allocated);
  EXPECT_EQ(after.large.active, before.large.active);
  EXPECT_EQ(after.frees - before.frees, 2);
  EXPECT_EQ(after.peak_allocated, during.allocated);
}

TEST(HostAllocator, ThePeakSeesWhatTheBinsHide) {
  host_allocator().reset_peaks();
  const int64_t before = host_allocator().statistics().allocated;
  std::vector<void*> held;
  for (int i = 0; i < 20; ++i) held.push_back(host_allocator().allocate(64));
  const int64_t top = host_allocator().statistics().allocated;
  for (void* data : held) host_allocator().deallocate(data, 64);
  const MemoryStatistics after = host_allocator().statistics();
  EXPECT_EQ(after.allocated, before);
  EXPECT_EQ(after.peak_allocated, top);
}

TEST(HostAllocator, TrimGivesIdleMemoryBack) {
  host_allocator().trim();
  const int64_t before = host_allocator().statistics().reserved;
  void* data = host_allocator().allocate(50 * kMegabyte);
  EXPECT_GE(host_allocator().statistics().reserved - before, int64_t{50 * kMegabyte});
  host_allocator().deallocate(data, 50 * kMegabyte);
  EXPECT_GE(host_allocator().statistics().reserved - before, int64_t{50 * kMegabyte});
  EXPECT_GE(host_allocator().trim(), 50 * kMegabyte);
  EXPECT_EQ(host_allocator().statistics().reserved, before);
  EXPECT_TRUE(usable(host_allocator(), 50 * kMegabyte));
}

TEST(HostAllocator, TrimKeepsWhatIsInUse) {
  std::vector<unsigned char*> held;
  for (int i = 0; i < 20; ++i) {
    held.push_back(static_cast<unsigned char*>(host_allocator().allocate(3 * kMegabyte)));
    std::memset(held.back(), i, 3 * kMegabyte);
  }
  for (int i = 0; i < 20; i += 2)
    host_allocator().deallocate(held[static_cast<size_t>(i)], 3 * kMegabyte);
  host_allocator().trim();
  for (int round = 0; round < 2; ++round) {  // the second time out of the holes
    for (int i = 1; i < 20; i += 2) {
      EXPECT_EQ(held[static_cast<size_t>(i)][0], i);
      EXPECT_EQ(held[static_cast<size_t>(i)][3 * kMegabyte - 1], i);
    }
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(usable(host_allocator(), 2 * kMegabyte));
  }
  for (int i = 1; i < 20; i += 2)
    host_allocator().deallocate(held[static_cast<size_t>(i)], 3 * kMegabyte);
}

TEST(HostAllocator, TooMuchIsAnErrorThatTellsTheStatistics) {
  const int64_t before = host_allocator().statistics().out_of_memory;
  for (size_t bytes : {size_t{1} << 50, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX - 63}) {
    try {
      host_allocator().allocate(bytes);
      ADD_FAILURE() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), LIBDL_ERROR_OUT_OF_MEMORY);
      EXPECT_NE(error.message().find("out of memory on cpu: wanted "), std::string::npos);
      EXPECT_NE(error.message().find("limit"), std::string::npos) << error.message();
    }
  }
  EXPECT_EQ(host_allocator().statistics().out_of_memory, before + 4);
  EXPECT_TRUE(usable(host_allocator(), kMegabyte));
}

// The most address space that the process ever had, in bytes.
size_t peak_of_addresses() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmPeak:") return status >> word, std::stoull(word) << 10;
  return 0;
}

TEST(HostAllocator, WhatTheLimitNeverAllowsTakesNoAddresses) {
  constexpr size_t kFarTooMuch = size_t{1} << 44;
  const size_t before = peak_of_addresses();
  EXPECT_GT(before, 0u);
  EXPECT_THROW(host_allocator().allocate(kFarTooMuch), Error);
  EXPECT_LT(peak_of_addresses() - before, kFarTooMuch);
}

TEST(HostAllocator, TheLimitHoldsAndPressureIsRelieved) {
  host_allocator().trim();
  const size_t base = host_budget().taken();
  host_budget().set_limit(base + 20 * kMegabyte);
  EXPECT_THROW(host_allocator().allocate(30 * kMegabyte), Error);
  void* first = host_allocator().allocate(12 * kMegabyte);
  EXPECT_THROW(host_allocator().allocate(12 * kMegabyte), Error);

  struct Kept {
    void* data;
    int asked = 0, destroyed = 0;
    int64_t bytes = 0;
  } kept{first};
  const PressureCallback callback = {
      .ctx = &kept,
      .relieve =
          [](void* ctx, int64_t bytes) {
            Kept& k = *static_cast<Kept*>(ctx);
            ++k.asked;
            k.bytes = bytes;
            if (k.data) host_allocator().deallocate(k.data, 12 * kMegabyte);
            k.data = nullptr;
            EXPECT_THROW(host_allocator().allocate(100 * kMegabyte), Error);  // no recursion
          },
      .destroy = [](void* ctx) { ++static_cast<Kept*>(ctx)->destroyed; }};
  set_pressure_callback(&callback);
  void* second = host_allocator().allocate(12 * kMegabyte);
  EXPECT_EQ(kept.asked, 1);
  EXPECT_GE(kept.bytes, int64_t{12 * kMegabyte});
  set_pressure_callback(nullptr);
  EXPECT_EQ(kept.destroyed, 1);
  host_allocator().deallocate(second, 12 * kMegabyte);
  host_budget().set_limit(0);
  void* much = host_allocator().allocate(100 * kMegabyte);
  host_allocator().deallocate(much, 100 * kMegabyte);
}

TEST(HostAllocator, IdleSmallBlocksMakeRoomForLargeOnes) {
  host_allocator().trim();
  std::vector<void*> held;
  for (int i = 0; i < 2000; ++i) held.push_back(host_allocator().allocate(8192));
  for (void* data : held) host_allocator().deallocate(data, 8192);
  host_budget().set_limit(host_budget().taken() + 8 * kMegabyte);
  EXPECT_TRUE(usable(host_allocator(), 20 * kMegabyte));
  host_budget().set_limit(0);
}

TEST(HostAllocator, ABlockMayBeFreedByAnotherThread) {
  const int64_t before = host_allocator().statistics().allocated;
  std::vector<std::pair<void*, size_t>> blocks;
  for (size_t i = 0; i < 5000; ++i) {
    const size_t bytes = 16 + i * 37 % 50000;
    blocks.push_back({host_allocator().allocate(bytes), bytes});
  }
  std::thread([&] {
    for (auto [data, bytes] : blocks) host_allocator().deallocate(data, bytes);
  }).join();
  EXPECT_EQ(host_allocator().statistics().allocated, before);
}

TEST(HostAllocator, AThreadThatEndsLeavesNothingBehind) {
  host_allocator().trim();
  const MemoryStatistics before = host_allocator().statistics();
  for (int i = 0; i < 10; ++i) {
    std::thread([] {
      for (int k = 0; k < 1000; ++k) usable(host_allocator(), 64 + static_cast<size_t>(k) * 30);
    }).join();
  }
  const MemoryStatistics after = host_allocator().statistics();
  EXPECT_EQ(after.allocated, before.allocated);
  EXPECT_EQ(after.active, before.active);
}

// Frees after the thread's bins have gone.
struct LateFree {
  void* data = nullptr;
  ~LateFree() {
    if (data) host_allocator().deallocate(data, 128);
  }
};
thread_local LateFree late;

TEST(HostAllocator, DestructorsOfThreadLocalsMayStillFree) {
  const int64_t before = host_allocator().statistics().allocated;
  std::thread([] {
    LateFree& mine = late;  // constructed before the bins, hence destroyed after them
    mine.data = host_allocator().allocate(128);
  }).join();
  EXPECT_EQ(host_allocator().statistics().allocated, before);
}

TEST(HostAllocator, ThreadsAllocateAndExchangeBlocks) {
  const int64_t before = host_allocator().statistics().allocated;
  std::mutex mutex;
  std::vector<std::pair<void*, size_t>> shared;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 2000; ++i) {
        const size_t bytes = static_cast<size_t>(std::exp2(4 + random() % 15)) + random() % 64;
        void* data = host_allocator().allocate(bytes);
        std::memset(data, static_cast<int>(t), std::min<size_t>(bytes, 256));
        std::pair<void*, size_t> other = {data, bytes};
        {
          std::lock_guard lock(mutex);
          if (shared.size() < 100) {
            shared.push_back(other);
            continue;
          }
          std::swap(shared[random() % shared.size()], other);
        }
        host_allocator().deallocate(other.first, other.second);
        if (i % 500 == 0) host_allocator().trim();
        if (i % 300 == 0) host_allocator().statistics();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (auto [data, bytes] : shared) host_allocator().deallocate(data, bytes);
  EXPECT_EQ(host_allocator().statistics().allocated, before);
}

TEST(HostAllocator, RandomSizesStayWithinAQuarterOfThePeak) {
  host_allocator().trim();
  host_allocator().reset_peaks();
  const int64_t base = host_allocator().statistics().reserved;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(4, 24);  // 16 B to 16 MB
  std::vector<std::pair<void*, size_t>> held(400, {nullptr, 0});
  int64_t live = 0, peak = 0;
  for (int64_t i = test::of_whole(1'000'000); i > 0; --i) {
    auto& [data, bytes] = held[random() % held.size()];
    host_allocator().deallocate(data, bytes);
    live -= static_cast<int64_t>(bytes);
    bytes = static_cast<size_t>(std::exp2(exponent(random)));
    data = host_allocator().allocate(bytes);
    live += static_cast<int64_t>(bytes);
    peak = std::max(peak, live);
  }
  const int64_t reserved = host_allocator().statistics().peak_reserved - base;
  for (auto [data, bytes] : held) host_allocator().deallocate(data, bytes);
  const double share = static_cast<double>(reserved) / static_cast<double>(peak);
  EXPECT_LT(share, 1.25);
  test::figure("memory held for allocations of 16 B to 16 MB",
               std::to_string(share) + " of the live peak");
}

TEST(HostAllocator, TheNthAllocationFailsWhenATestWantsIt) {
  const int64_t before = host_allocator().statistics().allocated;
  for (int n = 0; n < 5; ++n) {
    std::vector<void*> held;
    fail_allocation(n, false);
    int failed = -1;
    for (int i = 0; i < 6; ++i) {
      try {
        held.push_back(host_allocator().allocate(i % 2 ? 1000 : 100'000));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), LIBDL_ERROR_OUT_OF_MEMORY);
        failed = i;
        held.push_back(nullptr);
      }
    }
    fail_allocation(-1, false);
    EXPECT_EQ(failed, n);
    for (size_t i = 0; i < 6; ++i) {
      if (held[i]) host_allocator().deallocate(held[i], i % 2 ? 1000 : 100'000);
    }
  }
  EXPECT_EQ(host_allocator().statistics().allocated, before);
}

TEST(HostAllocator, TheSnapshotDescribesEveryByte) {
  void* data = host_allocator().allocate(5 * kMegabyte);
  bool found = false;
  for (const SegmentSnapshot& segment : host_allocator().snapshot()) {
    int64_t end = 0;
    bool before_free = false;
    for (const BlockSnapshot& block : segment.blocks) {
      EXPECT_EQ(block.offset, end);
      EXPECT_FALSE(!block.used && before_free) << "two free neighbours";
      before_free = !block.used;
      end += block.bytes;
      if (static_cast<const char*>(segment.base) + block.offset == data) found = block.used;
    }
    EXPECT_EQ(end, segment.bytes);
  }
  EXPECT_TRUE(found);
  host_allocator().deallocate(data, 5 * kMegabyte);
}

#ifndef LIBDL_SANITIZE  // whose shadow needs the address space
TEST(HostAllocator, LimitedAddressSpaceIsEnough) {
  EXPECT_EQ(in_child([] {
              host_allocator().trim();
              const rlimit limit = {3u << 30, 3u << 30};
              setrlimit(RLIMIT_AS, &limit);
              Allocator fresh("test", std::make_shared<HostSource>(host_budget()), 64);
              if (!usable(fresh, 700 * kMegabyte) || !usable(fresh, 1000)) return 1;
              try {
                fresh.allocate(size_t{4} << 30);
                return 2;
              } catch (const Error&) {
              }
              return std::malloc(500 * kMegabyte) ? 0 : 3;  // something is left for the host
            }),
            0);
}
#endif

TEST(HostAllocator, AForkedChildAllocates) {
  void* small = host_allocator().allocate(500);
  void* large = host_allocator().allocate(5 * kMegabyte);
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;  // so that some fork finds the lock taken
  for (int t = 0; t < 2; ++t) {
    busy.emplace_back([&] {
      while (!stop) usable(host_allocator(), 50'000), usable(host_allocator(), 50);
    });
  }
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(in_child([&] {
                bool good = true;
                for (size_t bytes = 16; bytes < 8 * kMegabyte; bytes *= 3) {
                  good = good && usable(host_allocator(), bytes);
                }
                host_allocator().deallocate(small, 500);
                host_allocator().deallocate(large, 5 * kMegabyte);
#ifndef __SANITIZE_THREAD__  // which knows the ids of the parent's threads, and stops when one
                             // recurs
                std::thread([&] { good = good && usable(host_allocator(), 1000); }).join();
#endif
                host_allocator().trim();
                return good ? 0 : 1;
              }),
              0);
  }
  stop = true;
  for (auto& thread : busy) thread.join();
  host_allocator().deallocate(small, 500);
  host_allocator().deallocate(large, 5 * kMegabyte);
}

TEST(HostAllocator, TheHostsFunctionsMayBringTheMemory) {
  struct Host {
    std::map<void*, size_t> blocks;
    int64_t bytes = 0;
    int allocations = 0, destroyed = 0;
  } host;
  host_allocator().trim();
  void* before = host_allocator().allocate(kMegabyte);
  const HostAllocator callbacks = {
      .ctx = &host,
      .allocate = [](void* ctx, size_t bytes, size_t alignment) -> void* {
        Host& h = *static_cast<Host*>(ctx);
        void* data = std::aligned_alloc(alignment, bytes);
        h.blocks[data] = bytes;
        ++h.allocations;
        return data;
      },
      .deallocate =
          [](void* ctx, void* data, size_t bytes, size_t) {
            Host& h = *static_cast<Host*>(ctx);
            EXPECT_EQ(h.blocks[data], bytes);
            h.blocks.erase(data);
            std::free(data);
          },
      .destroy = [](void* ctx) { ++static_cast<Host*>(ctx)->destroyed; }};
  set_host_allocator(&callbacks);
  std::vector<std::pair<void*, size_t>> held;
  for (size_t bytes : {100, 700, 50'000, 5'000'000, 30'000'000}) {
    held.push_back({host_allocator().allocate(bytes), bytes});
    std::memset(held.back().first, 1, bytes);
  }
  EXPECT_GE(host.allocations, 3);
  for (auto [data, bytes] : held) {
    auto segment = host.blocks.upper_bound(data);
    ASSERT_NE(segment, host.blocks.begin());
    --segment;
    EXPECT_LE(static_cast<char*>(data) + bytes,
              static_cast<char*>(segment->first) + segment->second);
  }
  host_allocator().deallocate(before, kMegabyte);  // goes to where it came from
  set_host_allocator(nullptr);
  EXPECT_EQ(host.destroyed, 0);
  for (auto [data, bytes] : held) host_allocator().deallocate(data, bytes);
  host_allocator().trim();
  EXPECT_EQ(host.destroyed, 1);
  EXPECT_TRUE(host.blocks.empty());
}

// A source that refuses like a host without memory.
TEST(HostAllocator, AHostWithoutMemoryIsAnError) {
  const HostAllocator callbacks = {
      .ctx = nullptr,
      .allocate = [](void*, size_t, size_t) -> void* { return nullptr; },
      .deallocate = [](void*, void*, size_t, size_t) { ADD_FAILURE(); },
      .destroy = nullptr};
  Allocator allocator("test", std::make_shared<CallbackSource>(host_budget(), callbacks), 64);
  const size_t taken = host_budget().taken();
  EXPECT_THROW(allocator.allocate(100), Error);
  EXPECT_THROW(allocator.allocate(kMegabyte), Error);
  EXPECT_EQ(host_budget().taken(), taken);
}

class AnyAllocator : public testing::TestWithParam<size_t> {
 protected:
  std::shared_ptr<CountingSource> source = std::make_shared<CountingSource>(GetParam());
  Allocator allocator{"test", source, 512};
};

TEST_P(AnyAllocator, MergesNeighboursIntoOne) {
  std::vector<void*> held;
  for (int i = 0; i < 64; ++i) held.push_back(allocator.allocate(100'000));
  for (size_t i = 0; i < 64; i += 2) allocator.deallocate(held[i], 100'000);
  for (size_t i = 1; i < 64; i += 2) allocator.deallocate(held[i], 100'000);
  for (const SegmentSnapshot& segment : allocator.snapshot()) {
    EXPECT_EQ(segment.blocks.size(), 1u);
    EXPECT_FALSE(segment.blocks[0].used);
  }
  allocator.trim();
  EXPECT_EQ(source->held, 0u);
  EXPECT_EQ(source->segments, 0);
  EXPECT_EQ(allocator.statistics().reserved, 0);
}

TEST_P(AnyAllocator, ReusesWhatWasFreed) {
  void* first = allocator.allocate(300'000);
  allocator.deallocate(first, 300'000);
  const size_t held = source->held;
  for (int i = 0; i < 100; ++i) {
    void* again = allocator.allocate(300'000);
    EXPECT_EQ(again, first);
    allocator.deallocate(again, 300'000);
  }
  EXPECT_EQ(source->held, held);
  allocator.trim();
}

TEST_P(AnyAllocator, StreamsHaveBlocksOfTheirOwn) {
  int one, two;
  void* a = allocator.allocate(70'000, &one);
  allocator.deallocate(a, 70'000);
  void* b = allocator.allocate(70'000, &two);
  EXPECT_NE(a, b);
  EXPECT_EQ(allocator.allocate(70'000, &one), a);
  allocator.deallocate(a, 70'000);
  allocator.deallocate(b, 70'000);
  allocator.trim();
}

// Blocks of `bytes` that were freed by stream `one` while stream `two` works with them.
std::vector<void*> freed_while_used(Allocator& allocator, CountingSource& source, size_t bytes,
                                    int count, void* one, void* two) {
  source.running.insert(two);
  std::vector<void*> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back(allocator.allocate(bytes, one));
  for (void* block : blocks) {
    allocator.record_use(block, one);  // its own: nothing to wait for
    allocator.record_use(block, two);
    allocator.record_use(block, two);
    EXPECT_EQ(source.events, 0);
  }
  for (void* block : blocks) allocator.deallocate(block, bytes);
  EXPECT_EQ(source.events, count);
  return blocks;
}

TEST_P(AnyAllocator, ABlockThatAnotherStreamUsesIsLeftToIt) {
  char one, two;
  void* const a = freed_while_used(allocator, *source, 70'000, 1, &one, &two)[0];
  void* const b = allocator.allocate(70'000, &one);
  EXPECT_NE(b, a);
  EXPECT_TRUE(source->waits.empty());
  source->running.clear();
  void* const c = allocator.allocate(70'000, &one);
  EXPECT_EQ(c, a);
  EXPECT_EQ(source->events, 0);
  EXPECT_TRUE(source->waits.empty()) << "the work is done";
  allocator.deallocate(b, 70'000);
  allocator.deallocate(c, 70'000);
  allocator.trim();
}

TEST_P(AnyAllocator, TheThirdOfASizeWaitsForTheFirst) {
  char one, two;
  const std::vector<void*> used = freed_while_used(allocator, *source, 70'000, 2, &one, &two);
  void* const small = allocator.allocate(10, &one);
  void* const large = allocator.allocate(200'000, &one);
  EXPECT_TRUE(source->waits.empty()) << "of other sizes";
  void* const third = allocator.allocate(70'000, &one);
  EXPECT_EQ(third, used[0]);
  ASSERT_EQ(source->waits.size(), 1u);
  EXPECT_EQ(source->waits[0], (std::pair<void*, void*>(&one, &two)));
  allocator.deallocate(small, 10);
  allocator.deallocate(large, 200'000);
  allocator.deallocate(third, 70'000);
  source->running.clear();
  allocator.trim();
  EXPECT_EQ(source->events, 0);
}

TEST_P(AnyAllocator, WhereMemoryIsShortTheNextUserWaits) {
  auto tight = std::make_shared<CountingSource>(GetParam(), 2 * kMegabyte);
  Allocator small("test", tight, 512);
  char one, two;
  const size_t bytes = kMegabyte + kMegabyte / 2;
  void* const used = freed_while_used(small, *tight, bytes, 1, &one, &two)[0];
  void* const next = small.allocate(bytes, &one);
  EXPECT_EQ(next, used);
  // A range that grows needs only this block's memory; others wait for all streams before they
  // trim.
  EXPECT_EQ(tight->waits.size(), GetParam() ? 1u : 0u);
  EXPECT_EQ(tight->events, 0);
  small.deallocate(next, bytes);
  small.trim();
}

TEST_P(AnyAllocator, OthersAllocateWhileItTrims) {
  constexpr size_t kBytes = 4 * kMegabyte;
  void* const idle = allocator.allocate(kBytes);
  void* const early = allocator.allocate(kBytes);
  allocator.deallocate(idle, kBytes);
  void* late = nullptr;
  source->meanwhile = [&] {
    late = allocator.allocate(kBytes);
    EXPECT_NE(late, idle) << "its memory is about to go";
    allocator.deallocate(early, kBytes);  // whose work may be queued behind the wait
  };
  EXPECT_GE(allocator.trim(), kBytes);
  EXPECT_GE(source->held, 2 * kBytes) << "what was freed meanwhile is still there";
  allocator.deallocate(late, kBytes);
  allocator.trim();
  EXPECT_EQ(source->held, 0u);
}

TEST_P(AnyAllocator, AllErrorsLeaveItAsItWas) {
  auto tight = std::make_shared<CountingSource>(GetParam(), 10 * kMegabyte);
  Allocator small("test", tight, 512);
  std::vector<void*> held;
  EXPECT_THROW(while (true) held.push_back(small.allocate(kMegabyte)), Error);
  EXPECT_GE(held.size(), 5u);
  EXPECT_EQ(small.statistics().allocated,
            static_cast<int64_t>(held.size() * (kMegabyte + (kPoisons ? 512 : 0))));
  small.deallocate(held.back(), kMegabyte);
  held.back() = small.allocate(kMegabyte);
  for (void* data : held) small.deallocate(data, kMegabyte);
  small.trim();
  EXPECT_EQ(small.statistics().reserved, 0);
}

TEST_P(AnyAllocator, SurvivesRandomUse) {
  std::mt19937 random(11);
  std::vector<std::pair<void*, size_t>> held;
  for (int i = 0; i < 20000; ++i) {
    if (held.size() > 100 || (!held.empty() && random() % 2)) {
      std::swap(held[random() % held.size()], held.back());
      allocator.deallocate(held.back().first, held.back().second);
      held.pop_back();
    } else {
      const size_t bytes = 1 + static_cast<size_t>(std::exp2(random() % 18)) + random() % 999;
      held.push_back({allocator.allocate(bytes), bytes});
    }
    if (i % 1000 == 0) allocator.trim();
  }
  for (auto [data, bytes] : held) allocator.deallocate(data, bytes);
  EXPECT_EQ(allocator.statistics().allocated, 0);
  EXPECT_EQ(allocator.statistics().active, 0);
  allocator.trim();
  EXPECT_EQ(allocator.statistics().segments, 0);
}

INSTANTIATE_TEST_SUITE_P(Sources, AnyAllocator, testing::Values(size_t{0}, 2 * kMegabyte),
                         [](const auto& info) { return info.param ? "Growing" : "Plain"; });

TEST(Limits, SizesAreReadFromText) {
  EXPECT_EQ(parse_bytes("1500000"), 1500000u);
  EXPECT_EQ(parse_bytes("512M"), 512 * kMegabyte);
  EXPECT_EQ(parse_bytes("4g"), 4096 * kMegabyte);
  EXPECT_EQ(parse_bytes("0.5T"), size_t{1} << 39);
  for (const char* bad : {"", "x", "-1", "0", "4GB", "4 G", "nan", "1e300", "inf"}) {
    EXPECT_EQ(parse_bytes(bad), 0u) << bad;
  }
}

TEST(Limits, TheAutomaticLimitIsBelowWhatTheMachineHas) {
  MemoryBudget budget;
  budget.set_limit(0);
  EXPECT_GT(budget.limit(), 0u);
  EXPECT_LT(budget.limit(), static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
                                static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_FALSE(budget.take(budget.limit() + 1));
  EXPECT_TRUE(budget.take(1));
}

#ifdef LIBDL_POISONS
TEST(HostAllocator, TheSanitizerSeesBytesThatAreNotYours) {
  for (size_t bytes : {1u, 64u, 100u, 5000u, 70000u}) {
    auto* data = static_cast<char*>(host_allocator().allocate(bytes));
    EXPECT_FALSE(__asan_address_is_poisoned(data));
    EXPECT_FALSE(__asan_address_is_poisoned(data + bytes - 1));
    EXPECT_TRUE(__asan_address_is_poisoned(data + bytes));
    EXPECT_TRUE(__asan_address_is_poisoned(data + bytes + 63));
    host_allocator().deallocate(data, bytes);
    EXPECT_TRUE(__asan_address_is_poisoned(data));
  }
}
#endif

}  // namespace
}  // namespace libdl
