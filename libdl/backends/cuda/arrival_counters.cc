// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/arrival_counters.h"

#include <mutex>
#include <unordered_map>

#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"
#include "backends/cuda/stream.h"

namespace libdl::cuda {

namespace {

constexpr size_t kApart = 128;  // bytes: a cache line of its own for each stream
constexpr size_t kPage = 64;    // arrival counters that are allocated at once

struct ArrivalCounters {
  std::mutex mutex;
  std::unordered_map<void*, unsigned*> of_stream;
  char* next = nullptr;
  size_t left = 0;  // in the page
};
ArrivalCounters& arrival_counters_of(int32_t device) {
  static auto* const all = new ArrivalCounters[kMostDevices];
  return all[device];
}

libdl_error* no_memory() {
  return host().error(LIBDL_ERROR_OUT_OF_MEMORY,
                      "cuda: no memory for the counters by which kernels of a stream end");
}

// Set to 0 by the stream itself, before its first kernel.
libdl_error* make(ArrivalCounters& t, int32_t device, void* stream, unsigned** counter) {
  if (t.left == 0) {
    void* page = nullptr;
    if (libdl_error* error = allocate(device, kPage * kApart, &page)) return error;
    if (!page) return no_memory();
    t.next = static_cast<char*>(page);
    t.left = kPage;
  }
  if (libdl_error* error = fill(device, t.next, 0, kApart, stream)) return error;
  *counter = reinterpret_cast<unsigned*>(t.next);
  t.of_stream.emplace(stream, *counter);
  t.next += kApart;
  --t.left;
  return nullptr;
}

}  // namespace

unsigned* arrival_counter_of(int32_t device, void* stream, libdl_error** error) {
  ArrivalCounters& t = arrival_counters_of(device);
  const std::lock_guard lock(t.mutex);
  const auto entry = t.of_stream.find(stream);
  if (entry != t.of_stream.end()) return entry->second;
  unsigned* counter = nullptr;
  *error = make(t, device, stream, &counter);
  return counter;
}

}  // namespace libdl::cuda
