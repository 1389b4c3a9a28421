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

constexpr Kernel kNoKernels[] = {
#define KERNEL(name, Args) [](kernels::Context*, const void*) {},
#define OPTIONAL_KERNEL(name, Args) nullptr,  // so that the operators that compose it show theirs
#include "kernels/kernels.def"
#undef KERNEL
};
static_assert(std::size(kNoKernels) == kKernels);

libdl_error* meta_properties(int32_t, DeviceProperties* p) {
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

libdl_error* copy_nothing(int32_t, void*, const void*, size_t, void*) { return nullptr; }
libdl_error* fill_nothing(int32_t, void*, int32_t, size_t, void*) { return nullptr; }

// Nothing is computed, so nothing takes time.
libdl_error* no_time_elapsed(int32_t, void*, void*, double* milliseconds) {
  *milliseconds = 0;
  return nullptr;
}

}  // namespace

// There is one, and its streams are always empty, as the CPU's.
const Backend& meta_backend() {
  static const Backend table = [] {
    Backend meta = cpu_backend();
    meta.device_type = LIBDL_DEVICE_META;
    meta.name = "meta";
    meta.kernels = kNoKernels;
    meta.properties = meta_properties;
    meta.allocate = allocate;
    meta.free = free;
    meta.copy = copy_nothing;
    meta.fill = fill_nothing;
    meta.event_elapsed = no_time_elapsed;
    return meta;
  }();
  return table;
}

// From 2^55 to 2^56: no program's memory is there on any machine, as processors give the upper half
// of such addresses to the system or refuse them. They are handed out in a circle.
void* addresses_without_memory(size_t bytes) {
  constexpr uint64_t kFirst = uint64_t{1} << 55, kUnit = 512;
  static std::atomic<uint64_t> taken{0};
  const uint64_t rounded = (bytes / kUnit + 1) * kUnit;
  const uint64_t at = taken.fetch_add(rounded, std::memory_order_relaxed) % kFirst;
  return reinterpret_cast<void*>(static_cast<uintptr_t>(kFirst + at));
}

void fail_without_values(const char* op LIBDL_PASSED_SOURCE_LOCATION) {
  fail(LIBDL_ERROR_UNSUPPORTED, op,
       "Cannot copy out of meta tensor; no data!" LIBDL_SAME_SOURCE_LOCATION);
}

}  // namespace libdl
