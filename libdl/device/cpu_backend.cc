// SPDX-License-Identifier: Apache-2.0

// The CPU as a device. Its work is done when a call returns, so its streams are always empty and
// its events are just points in time.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/error.h"
#include "device/backend.h"
#include "kernels/cpu/kernels.h"
#include "runtime/host_limits.h"

namespace libdl {
namespace {

constexpr Kernel kKernelTable[] = {
#define KERNEL(name, Args)                                                  \
  [](kernels::Context* context, const void* args) {                         \
    kernels::cpu::name(*context, *static_cast<const kernels::Args*>(args)); \
  },
#include "kernels/kernels.def"
#undef KERNEL
};
static_assert(std::size(kKernelTable) == kKernels);

using Clock = std::chrono::steady_clock;

struct Moment {
  Clock::time_point time;
};

libdl_error* device_count(int32_t* count) {
  *count = 1;
  return nullptr;
}

void processor_name(char* name, size_t size) {
  std::snprintf(name, size, "CPU");
  FILE* file = std::fopen("/proc/cpuinfo", "re");
  if (!file) return;
  char line[256];
  while (std::fgets(line, sizeof line, file)) {
    const char* value = std::strchr(line, ':');
    if (std::strncmp(line, "model name", 10) != 0 || !value) continue;
    line[std::strcspn(line, "\n")] = 0;
    std::snprintf(name, size, "%s", value + 2);
    break;
  }
  std::fclose(file);
}

libdl_error* properties(int32_t, DeviceProperties* p) {
  processor_name(p->name, sizeof p->name);
  p->total_memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  p->free_memory = static_cast<int64_t>(std::min<size_t>(available_memory(), INT64_MAX));
  p->processors = available_cpus();
  p->capability_major = p->capability_minor = 0;
  return nullptr;
}

libdl_error* copy(int32_t, void* to, const void* from, size_t bytes, void*) {
  if (bytes) std::memmove(to, from, bytes);
  return nullptr;
}

libdl_error* fill(int32_t, void* to, int32_t byte, size_t bytes, void*) {
  if (bytes) std::memset(to, byte, bytes);
  return nullptr;
}

// A stream is identified by its address alone.
libdl_error* stream_create(int32_t, int32_t, void** stream) {
  *stream = new (std::nothrow) char;
  return *stream ? nullptr : out_of_memory_error();
}
void stream_destroy(int32_t, void* stream) { delete static_cast<char*>(stream); }
libdl_error* done_already(int32_t, void*, int32_t* done) {
  *done = 1;
  return nullptr;
}
libdl_error* nothing_queued(int32_t, void*) { return nullptr; }
libdl_error* device_synchronize(int32_t) { return nullptr; }

libdl_error* event_create(int32_t, int32_t, void** event) {
  *event = new (std::nothrow) Moment;
  return *event ? nullptr : out_of_memory_error();
}
void event_destroy(int32_t, void* event) { delete static_cast<Moment*>(event); }
libdl_error* event_record(int32_t, void* event, void*) {
  static_cast<Moment*>(event)->time = Clock::now();
  return nullptr;
}
libdl_error* stream_wait(int32_t, void*, void*) { return nullptr; }
libdl_error* event_elapsed(int32_t, void* first, void* second, double* milliseconds) {
  const auto passed = static_cast<Moment*>(second)->time - static_cast<Moment*>(first)->time;
  *milliseconds = std::chrono::duration<double, std::milli>(passed).count();
  return nullptr;
}

constexpr Backend kBackend = {
    .struct_size = sizeof(Backend),
    .device_type = LIBDL_DEVICE_CPU,
    .name = "cpu",
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
    .allocate = nullptr,
    .free = nullptr,
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
    .device_error = nullptr,
    .host_allocate = nullptr,
    .host_free = nullptr,
};

}  // namespace

const Backend& cpu_backend() { return kBackend; }

}  // namespace libdl
