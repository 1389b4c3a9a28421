// SPDX-License-Identifier: Apache-2.0

// Device memory: mappings that are closed to the host. Work opens, for itself, the parts that it
// touches, if it may; code of the host that touches them dies in the test.

#include <cuda.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "machine.h"
#include "simulation.h"

using namespace simulation;

namespace simulation {

namespace {

constexpr size_t kPart = size_t{64} << 10;        // what is opened at a time
constexpr size_t kPage = 4096, kAlignment = 256;  // the least that cuMemAlloc promises

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

CUcontext whose;  // memory may be touched
Memory* opened;   // the last one of those of which something is open

}  // namespace

Memory* owner(const void* address) {
  auto& memory = machine().memory;
  char* const at = static_cast<char*>(const_cast<void*>(address));
  const auto found = memory.upper_bound(at);
  return found != memory.end() && found->second.data <= at ? &found->second : nullptr;
}

std::string position_of(const void* address, CUcontext context) {
  char number[32];
  std::snprintf(number, sizeof number, "%p", address);
  const std::string at = number;
  const auto* const where = static_cast<const char*>(address);
  const auto size = [](const Memory& m) { return std::to_string(m.bytes) + " bytes"; };
  auto& memory = machine().memory;
  const auto after = memory.upper_bound(const_cast<char*>(where));
  if (after != memory.end() && after->second.data <= where) {
    const Memory& m = after->second;
    if (!m.live) return at + " lies in freed memory of " + size(m);
    if (m.context != context)
      return at + " lies in memory of device " + std::to_string(m.context->device);
  }
  if (after != memory.begin()) {
    const Memory& m = std::prev(after)->second;
    const auto past = where - (m.data + m.bytes);
    if (past < 2 * static_cast<ptrdiff_t>(kPage))
      return at + " lies " + std::to_string(past) + " bytes past the end of " + size(m);
  }
  return at + " lies in no memory of the device";
}

void open_memory(CUcontext context) { whose = context; }

// Called by a signal handler, and so allocates nothing.
bool touched(const void* address) {
  Memory* const memory = owner(address);
  if (!memory || !memory->live || (whose && memory->context != whose)) return false;
  const auto part = static_cast<size_t>(static_cast<const char*>(address) - memory->first) / kPart;
  char* const begin = memory->first + part * kPart;
  const size_t bytes = std::min(kPart, memory->mapped - part * kPart);
  if (mprotect(begin, bytes, PROT_READ | PROT_WRITE)) return false;
  if (memory->open_end == 0) {
    memory->opened_before = opened;
    opened = memory;
    memory->open_begin = memory->mapped;
  }
  memory->open_begin = std::min(memory->open_begin, part * kPart);
  memory->open_end = std::max(memory->open_end, part * kPart + bytes);
  // Values that are read before they are written shall be seen: NaN, -1.
  if (!memory->filled[part]) std::memset(begin, 0xff, bytes);
  memory->filled[part] = true;
  return true;
}

void close_memory() {
  for (; opened; opened = opened->opened_before) {
    mprotect(opened->first + opened->open_begin, opened->open_end - opened->open_begin, PROT_NONE);
    opened->open_end = 0;
  }
}

}  // namespace simulation

// -- the driver's functions -----------------------------------------------------------------------

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  ENTER(kContext);
  *total = machine().total;
  *free = machine().total - current()->used;
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  ENTER(kContext);
  Machine& m = machine();
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > m.total - current()->used) return CUDA_ERROR_OUT_OF_MEMORY;
  // Between two pages that stay closed, and as near to the latter as the alignment allows.
  const size_t span = round_up(bytes, kAlignment), pages = round_up(span, kPage);
  void* const mapped = mmap(nullptr, kPage + pages + kPage, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  current()->used += bytes;
  char* const first = static_cast<char*>(mapped) + kPage;
  Memory& made = m.memory[first + pages];
  made.context = current();
  made.first = first;
  made.mapped = pages;
  made.data = first + pages - span;
  made.bytes = bytes;
  made.live = true;
  made.filled.resize(round_up(pages, kPart) / kPart);
  *address = reinterpret_cast<CUdeviceptr>(made.data);
  return CUDA_SUCCESS;
}
// As on a device: waits for all its work first. The addresses are never given out again, so that
// every later use is found.
CUresult cuMemFree(CUdeviceptr address) {
  ENTER(kContext);
  if (!address) return CUDA_SUCCESS;
  Memory* const memory = owner(reinterpret_cast<void*>(address));
  if (!memory || !memory->live || memory->data != reinterpret_cast<char*>(address)) {
    report("memory freed that is not there");
    return CUDA_ERROR_INVALID_VALUE;
  }
  run_until([&] { return memory->context->idle(); });
  if (memory->context->lost) return static_cast<CUresult>(memory->context->lost);
  memory->context->used -= memory->bytes;
  memory->live = false;
  mmap(memory->first, memory->mapped, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** data, size_t bytes, unsigned) {
  ENTER(kContext);
  *data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*data) return CUDA_ERROR_OUT_OF_MEMORY;
  machine().pinned[static_cast<const char*>(*data)] = bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* data) {
  ENTER(kContext);
  machine().pinned.erase(static_cast<const char*>(data));
  std::free(data);
  return CUDA_SUCCESS;
}

// Between devices too, on a stream of any: addresses are unified.
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle) {
  ENTER(kContext);
  if (const CUresult refused = check_stream(handle)) return refused;
  auto* const target = reinterpret_cast<char*>(to);
  const auto* const source = reinterpret_cast<const char*>(from);
  const auto above = machine().pinned.upper_bound(source);
  const bool pinned = above != machine().pinned.begin() &&
                      source < std::prev(above)->first + std::prev(above)->second;
  if (owner(source) || pinned) {  // read when the stream comes to it
    queue(stream_of(handle),
          {"copy", nullptr, Reach::kAll, [=] { std::memcpy(target, source, bytes); }});
    return CUDA_SUCCESS;
  }
  // Pageable memory is staged before the call returns.
  const auto staged = std::make_shared<std::vector<char>>(source, source + bytes);
  queue(stream_of(handle),
        {"copy", nullptr, Reach::kAll, [=] { std::memcpy(target, staged->data(), bytes); }});
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes, CUstream handle) {
  ENTER(kContext);
  if (const CUresult refused = check_stream(handle)) return refused;
  queue(stream_of(handle), {"fill", nullptr, Reach::kDevice,
                            [=] { std::memset(reinterpret_cast<void*>(to), byte, bytes); }});
  return CUDA_SUCCESS;
}
