// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/complaints.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"

namespace libdl::cuda {

namespace {

using kernels::cuda::Complaint;

constexpr int kPlaces = 64;  // further streams share the last one

struct Complaints {
  std::mutex mutex;
  std::atomic<Complaint*> places{nullptr};
  void* streams[kPlaces];
  int count = 0;  // of streams

  // With the lock held; `count`, or the last place, if the stream has none.
  int place_of(void* stream) const {
    const auto found = static_cast<int>(std::find(streams, streams + count, stream) - streams);
    return std::min(found, kPlaces - 1);
  }
};
Complaints& complaints_of(int32_t device) {
  static auto* const all = new Complaints[kMostDevices];
  return all[device];
}

libdl_error* make_places(Complaints& c) {
  void* memory = nullptr;
  constexpr size_t kBytes = kPlaces * sizeof(Complaint);
  if (libdl_error* error =
          checked(opened_driver().cuMemHostAlloc(
                      &memory, kBytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                  "allocating pinned memory"))
    return error;
  std::memset(memory, 0, kBytes);
  c.places.store(static_cast<Complaint*>(memory), std::memory_order_release);
  return nullptr;
}

// Kernels write these at any time.
int32_t told_so_far(const Complaint& c) { return __atomic_load_n(&c.told, __ATOMIC_ACQUIRE); }

std::string text_of(const Complaint& c, int32_t device) {
  if (c.finding) return std::string(c.op) + ": " + c.finding;
  const std::string wanted = c.size ? std::to_string(-c.size) + " to " + std::to_string(c.size - 1)
                                    : std::string("none: the dimension has size 0");
  return std::string(c.op) + ": an index on cuda:" + std::to_string(device) + " is " +
         std::to_string(c.value) + " at element " + std::to_string(c.position) + ", wanted " +
         wanted;
}

}  // namespace

Complaint* complaint_place(int32_t device, void* stream, libdl_error** error) {
  Complaints& c = complaints_of(device);
  const std::lock_guard lock(c.mutex);
  if (!c.places && (*error = make_places(c))) return nullptr;
  const int place = c.place_of(stream);
  if (place == c.count) c.streams[c.count++] = stream;
  return &c.places[place];
}

// A stream whose place is still full cannot complain again, so that its own comes first.
libdl_error* complaint(int32_t device, void* stream) {
  Complaints& c = complaints_of(device);
  if (!c.places.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard lock(c.mutex);
  const int count = c.count, own = c.place_of(stream);
  for (int i = 0; i < count; ++i) {
    Complaint& place = c.places[(own + i) % count];
    if (told_so_far(place) == place.taken) continue;
    const std::string text = text_of(place, device);
    const auto code = place.finding ? LIBDL_ERROR_VALUE : LIBDL_ERROR_INDEX;
    __atomic_store_n(&place.taken, place.taken + 1, __ATOMIC_RELEASE);
    return host().error(code, text.c_str());
  }
  return nullptr;
}

}  // namespace libdl::cuda
