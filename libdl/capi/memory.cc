// SPDX-License-Identifier: Apache-2.0

#include <libdl/memory.h>

#include <algorithm>

#include "base/slab.h"
#include "capi/callback.h"
#include "capi/device_arguments.h"
#include "capi/returned.h"
#include "capi/text.h"
#include "device/device.h"
#include "device/pinned.h"
#include "device/staging.h"
#include "memory/pressure.h"
#include "tensor/packed.h"

using namespace libdl;
using namespace libdl::capi;

libdl_error* libdl_memory_get_statistics(const libdl_device* device, libdl_memory_statistics* out) {
  constexpr const char* function = "memory_get_statistics";
  return door(function, [&] {
    output(function, "out", out);
    const Device where = in_device(function, device);
    const MemoryStatistics s = allocator_for(where).statistics();
    libdl_memory_statistics values = {};
    values.allocated = s.allocated;
    values.active = s.active;
    values.reserved = s.reserved;
    values.peak_allocated = s.peak_allocated;
    values.peak_reserved = s.peak_reserved;
    values.small_allocated = s.small.allocated;
    values.small_reserved = s.small.reserved;
    values.allocations = s.allocations;
    values.frees = s.frees;
    values.segments = s.segments;
    values.trims = s.trims;
    values.out_of_memory = s.out_of_memory;
    values.limit = s.limit;
    values.packed = where.is_cpu() ? packed_bytes() : 0;
    give_sized(function, out, values, offsetof(libdl_memory_statistics, packed));
  });
}

libdl_error* libdl_memory_reset_peaks(const libdl_device* device) {
  constexpr const char* function = "memory_reset_peaks";
  return door(function, [&] { allocator_for(in_device(function, device)).reset_peaks(); });
}

libdl_error* libdl_memory_trim(const libdl_device* device, int64_t* out) {
  constexpr const char* function = "memory_trim";
  return door(function, [&] {
    output(function, "out", out);
    const Device where = in_device(function, device);
    *out = static_cast<int64_t>(allocator_for(where).trim() + trim_staging(where) +
                                trim_pinned(where));
    if (where.is_cpu()) *out += static_cast<int64_t>(slab::trim());
  });
}

static void visit_segment(const SegmentSnapshot& segment, libdl_memory_visitor visit, void* ctx) {
  libdl_memory_block shown = {};
  shown.struct_size = sizeof shown;
  shown.segment = segment.base;
  shown.segment_bytes = segment.bytes;
  shown.segment_committed = segment.committed;
  shown.stream = segment.stream;
  for (const BlockSnapshot& block : segment.blocks) {
    shown.used = block.used;
    shown.offset = block.offset;
    shown.bytes = block.bytes;
    libdl_error* error = nullptr;
    apart([&] { error = visit(ctx, &shown); });
    check_returned("memory_visit", error);
  }
}

libdl_error* libdl_memory_visit(const libdl_device* device, libdl_memory_visitor visit, void* ctx,
                                void (*destroy)(void* ctx)) {
  constexpr const char* function = "memory_visit";
  libdl_error* const error = door(function, [&] {
    if (!visit) {
      fail_argument(LIBDL_ERROR_NULL, function, "visit", "is NULL", "a function");
    }
    for (const SegmentSnapshot& segment : allocator_for(in_device(function, device)).snapshot()) {
      visit_segment(segment, visit, ctx);
    }
  });
  run_destroy(destroy, ctx);
  return error;
}

libdl_error* libdl_memory_set_limit(int64_t bytes) {
  constexpr const char* function = "memory_set_limit";
  return door(function, [&] {
    if (bytes < 0) {
      fail_argument(LIBDL_ERROR_VALUE, function, "bytes", "is " + std::to_string(bytes),
                    "0 or more");
    }
    host_budget().set_limit(static_cast<size_t>(bytes));
  });
}

int64_t libdl_memory_get_limit(void) {
  return static_cast<int64_t>(std::min<size_t>(host_budget().limit(), INT64_MAX));
}

libdl_error* libdl_memory_set_allocator(const libdl_allocator* allocator) {
  constexpr const char* function = "memory_set_allocator";
  Callback owner = callback_of(allocator);
  return door(function, [&] {
    if (!allocator) return set_host_allocator(nullptr);
    const libdl_allocator a = take_sized(function, "allocator", allocator, sizeof(libdl_allocator));
    if (!a.allocate || !a.deallocate) {
      fail_argument(LIBDL_ERROR_NULL, function, "allocator",
                    a.allocate ? "has no deallocate" : "has no allocate", "both functions");
    }
    const HostAllocator callbacks = {a.ctx, a.allocate, a.deallocate, a.destroy};
    owner.let_go();
    set_host_allocator(&callbacks);
  });
}

libdl_error* libdl_memory_set_pressure(libdl_memory_pressure pressure, void* ctx,
                                       void (*destroy)(void* ctx)) {
  return door("memory_set_pressure", [&] {
    const PressureCallback callback = {ctx, pressure, destroy};
    set_pressure_callback(pressure ? &callback : nullptr);
    if (!pressure) run_destroy(destroy, ctx);
  });
}

void libdl_memory_fail_after(int64_t n, libdl_bool persistent) {
  fail_allocation(std::max<int64_t>(n, -1), persistent != 0);
}

libdl_error* libdl_memory_describe_live(libdl_text** out) {
  constexpr const char* function = "memory_describe_live";
  return door(function, [&] {
    output(function, "out", out);
    if (!handles_are_tracked)
      fail(LIBDL_ERROR_STATE, function, "the environment does not say LIBDL_DEBUG_HANDLES=1");
    *out = new libdl_text(tracking::living());
  });
}

void libdl_memory_get_live(int64_t* tensors, int64_t* storages, int64_t* nodes, int64_t* bytes) {
  const LiveCounts live = live_counts();
  if (tensors) *tensors = live.tensors;
  if (storages) *storages = live.storages;
  if (nodes) *nodes = live.nodes;
  if (bytes) *bytes = live.bytes;
}
