// SPDX-License-Identifier: Apache-2.0

// What memory and threads cost: nanoseconds for allocate + free, page faults of a steady step,
// fragmentation under random sizes, latency of parallel().
#include "memory/allocator.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "runtime/thread_pool.h"

namespace {

using libdl::host_allocator;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

long page_faults() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

template <class Body>
double median_ns(int rounds, int calls, Body body) {
  std::vector<double> times;
  for (int r = 0; r < rounds; ++r) {
    const double start = seconds();
    for (int i = 0; i < calls; ++i) body();
    times.push_back((seconds() - start) / calls * 1e9);
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<size_t>(rounds) / 2];
}

void pairs() {
  for (size_t bytes : {64, 256, 4096, 32768, 65536, 1 << 20, 40'000'000}) {
    const double ns = median_ns(31, 10000, [bytes] {
      void* data = host_allocator().allocate(bytes);
      asm volatile("" : : "r"(data) : "memory");
      host_allocator().deallocate(data, bytes);
    });
    std::printf("allocate + free %9zu bytes: %6.1f ns\n", bytes, ns);
  }
}

void chain(int blocks) {
  std::vector<void*> held(static_cast<size_t>(blocks));
  const double ns = median_ns(31, 10, [&] {
    for (void*& data : held) data = host_allocator().allocate(128);
    for (void* data : held) host_allocator().deallocate(data, 128);
  });
  std::printf("%d blocks of 128 bytes, then all freed: %.1f ns a block\n", blocks, ns / blocks);
}

void steady_step() {
  const auto step = [] {
    std::vector<std::pair<void*, size_t>> held;
    for (size_t bytes = 256; bytes < 64'000'000; bytes = bytes * 3 / 2) {
      void* data = host_allocator().allocate(bytes);
      std::memset(data, 1, bytes);
      held.push_back({data, bytes});
    }
    for (auto [data, bytes] : held) host_allocator().deallocate(data, bytes);
  };
  for (int i = 0; i < 3; ++i) step();
  const long before = page_faults();
  const double start = seconds();
  for (int i = 0; i < 10; ++i) step();
  std::printf("steady step (192 MB): %.1f ms, %ld page faults in 10 steps\n",
              (seconds() - start) * 100, page_faults() - before);
}

void fragmentation() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(4, 24);  // 16 B to 16 MB
  struct Held {
    void* data;
    size_t bytes;
  };
  std::vector<Held> held(400, Held{nullptr, 0});
  host_allocator().trim();
  host_allocator().reset_peaks();
  int64_t live = 0, peak = 0;
  const double start = seconds();
  for (int i = 0; i < 1'000'000; ++i) {
    Held& slot = held[random() % held.size()];
    host_allocator().deallocate(slot.data, slot.bytes);
    live -= static_cast<int64_t>(slot.bytes);
    slot.bytes = static_cast<size_t>(std::exp2(exponent(random)));
    slot.data = host_allocator().allocate(slot.bytes);
    live += static_cast<int64_t>(slot.bytes);
    peak = std::max(peak, live);
  }
  const double elapsed = seconds() - start;
  const auto s = host_allocator().statistics();
  for (Held& slot : held) host_allocator().deallocate(slot.data, slot.bytes);
  std::printf(
      "10^6 random sizes: reserved %.1f MB, peak live %.1f MB, ratio %.3f, %.0f ns a pair\n",
      s.peak_reserved / 1e6, peak / 1e6, static_cast<double>(s.peak_reserved) / peak,
      elapsed * 1e3);
}

void parallel_latency() {
  const auto body = [](void*, int64_t, int64_t) {};
  const double hot = median_ns(101, 100, [&] { libdl::parallel(2, body, nullptr); });
  const double cold = median_ns(201, 1, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    libdl::parallel(2, body, nullptr);
  });
  const double sleep =
      median_ns(201, 1, [&] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  std::printf("parallel(2 chunks) on %d threads: hot %.0f ns, after 1 ms of rest %.1f us\n",
              libdl::threads(), hot, (cold - sleep) / 1e3);
}

}  // namespace

int main() {
  pairs();
  chain(1000);
  chain(20000);
  steady_step();
  fragmentation();
  parallel_latency();
}
