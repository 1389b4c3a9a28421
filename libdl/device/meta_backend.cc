// SPDX-License-Identifier: Apache-2.0

// A device whose tensors have no elements: every kernel is done before it begins. Memory is never
// asked for here, as storages there have addresses alone; see device/meta.h.

#include <atomic>
#include <cstdio>

#include "base/error.h"
#include "device/backend.h"
#include "device/meta.h"
#include "kernels/args.h"

namespace libdl {
namespace {

constexpr Kernel kKernelTable[] = {
#define KERNEL(name, Args) [](kernels::Context*, const void*) {},
#include "kernels/kernels.def"
#undef KERNEL
};
static_assert(std::size(kKernelTable) == kKernels);

libdl_error* device_count(int32_t* count) {
  *count = 1;
  return nullptr;
}

libdl_error* properties(int32_t, DeviceProperties* p) {
  std::snprintf(p->name, sizeof p->name, "meta");
  p->total_memory = p->free_memory = 0;
  p->processors = 0;
  p->capability_major = p->capability_minor = 0;
  return nullptr;
}

libdl_error* allocate(int32_t, size_t, void** data) {
  *data = nullptr;
  return nullptr;
}
void free(int32_t, void*) {}

libdl_error* copy(int32_t, void*, const void*, size_t, void*) { return nullptr; }
libdl_error* fill(int32_t, void*, int32_t, size_t, void*) { return nullptr; }

// Streams and events have nothing to order. Each is known by an address of its own.
libdl_error* stream_create(int32_t, int32_t, void** stream) {
  *stream = addresses_without_memory(1);
  return nullptr;
}
void stream_destroy(int32_t, void*) {}
libdl_error* done_already(int32_t, void*, int32_t* done) {
  *done = 1;
  return nullptr;
}
libdl_error* nothing_queued(int32_t, void*) { return nullptr; }
libdl_error* device_synchronize(int32_t) { return nullptr; }

libdl_error* event_create(int32_t, int32_t, void** event) {
  *event = addresses_without_memory(1);
  return nullptr;
}
void event_destroy(int32_t, void*) {}
libdl_error* event_record(int32_t, void*, void*) { return nullptr; }
libdl_error* stream_wait(int32_t, void*, void*) { return nullptr; }
libdl_error* event_elapsed(int32_t, void*, void*, double* milliseconds) {
  *milliseconds = 0;
  return nullptr;
}

constexpr Backend kBackend = {
    .struct_size = sizeof(Backend),
    .device_type = LIBDL_DEVICE_META,
    .name = "meta",
    .build_id = "",
    .kernel_count = kKernels,
    .kernels = kKernelTable,
    .device_count = device_count,
    .properties = properties,
    .granule = nullptr,
    .reserve = nullptr,
    .commit = nullptr,
    .decommit = nullptr,
    .unreserve = nullptr,
    .allocate = allocate,
    .free = free,
    .copy = copy,
    .fill = fill,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_query = done_already,
    .stream_synchronize = nothing_queued,
    .device_synchronize = device_synchronize,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .stream_wait = stream_wait,
    .event_query = done_already,
    .event_synchronize = nothing_queued,
    .event_elapsed = event_elapsed,
    .complaint = nullptr,
    .host_allocate = nullptr,
    .host_free = nullptr,
};

}  // namespace

const Backend& meta_backend() { return kBackend; }

// From 2^55 to 2^56: no program's memory is there on any machine, as processors give the upper half
// of such addresses to the system or refuse them. They are handed out in a circle.
void* addresses_without_memory(size_t bytes) {
  constexpr uint64_t kFirst = uint64_t{1} << 55, kUnit = 512;
  static std::atomic<uint64_t> taken{0};
  const uint64_t rounded = (bytes / kUnit + 1) * kUnit;
  const uint64_t at = taken.fetch_add(rounded, std::memory_order_relaxed) % kFirst;
  return reinterpret_cast<void*>(static_cast<uintptr_t>(kFirst + at));
}

void fail_without_values(const char* op LIBDL_GIVEN_SOURCE_LOCATION) {
  fail(LIBDL_ERROR_UNSUPPORTED, op,
       "Cannot copy out of meta tensor; no data!" LIBDL_SAME_SOURCE_LOCATION);
}

}  // namespace libdl
