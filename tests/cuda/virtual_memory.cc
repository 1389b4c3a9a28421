// SPDX-License-Identifier: Apache-2.0

// Reserved addresses, and memory that is mapped there piece by piece.

#include <cuda.h>
#include <sys/mman.h>

#include <iterator>
#include <map>

#include "machine.h"

using namespace simulation;

namespace {

constexpr size_t kGranule = size_t{2} << 20;
constexpr size_t kPart = size_t{64} << 10;  // what memory.cc opens at a time

struct Made {
  CUcontext context;
  size_t bytes;
  bool mapped, released;
};

// Handles are numbers, and never used again.
std::map<CUmemGenericAllocationHandle, Made> made;
std::map<char*, size_t> reserved;                         // bytes by the first address
std::map<char*, CUmemGenericAllocationHandle> mapped_at;  // by the first address
CUmemGenericAllocationHandle last;

char* pointer(CUdeviceptr address) { return reinterpret_cast<char*>(address); }

CUresult refused(const char* why) {
  report(why);
  return CUDA_ERROR_INVALID_VALUE;
}

void forget(CUmemGenericAllocationHandle handle) {
  const auto found = made.find(handle);
  if (found->second.mapped || !found->second.released) return;
  found->second.context->used -= found->second.bytes;
  made.erase(found);
}

bool is_reserved(char* first, size_t bytes) {
  const auto above = reserved.upper_bound(first);
  return above != reserved.begin() &&
         first + bytes <= std::prev(above)->first + std::prev(above)->second;
}

// The pieces from `first`, which must end exactly after `bytes`.
template <class Visit>
bool each_piece(char* first, size_t bytes, const Visit& visit) {
  char* at = first;
  while (at < first + bytes) {
    const auto piece = mapped_at.find(at);
    if (piece == mapped_at.end()) return false;
    at += made.at(piece->second).bytes;
    if (at > first + bytes) return false;
    visit(machine().memory.at(at), piece->second);
  }
  return true;
}

}  // namespace

CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  ENTER(kNothing);
  if (properties->location.id < 0 || properties->location.id >= machine().devices)
    return CUDA_ERROR_INVALID_DEVICE;
  *bytes = kGranule;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t, CUdeviceptr,
                             unsigned long long) {
  ENTER(kNothing);
  if (bytes == 0 || bytes % kGranule) return refused("addresses that are not whole granules");
  void* const first =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (first == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  reserved[static_cast<char*>(first)] = bytes;
  *address = reinterpret_cast<CUdeviceptr>(first);
  return CUDA_SUCCESS;
}

// The addresses stay closed and are never given out again.
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  ENTER(kNothing);
  const auto found = reserved.find(pointer(address));
  if (found == reserved.end() || found->second != bytes)
    return refused("addresses freed that were not reserved so");
  const auto mapped = mapped_at.lower_bound(pointer(address));
  if (mapped != mapped_at.end() && mapped->first < pointer(address) + bytes)
    return refused("addresses freed while memory is mapped there");
  reserved.erase(found);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long) {
  ENTER(kNothing);
  const int device = properties->location.id;
  if (device < 0 || device >= machine().devices) return CUDA_ERROR_INVALID_DEVICE;
  if (bytes == 0 || bytes % kGranule) return refused("memory that is not whole granules");
  const CUcontext context = machine().contexts[static_cast<size_t>(device)].get();
  if (context->lost) return static_cast<CUresult>(context->lost);
  if (bytes > machine().total - context->used) return CUDA_ERROR_OUT_OF_MEMORY;
  context->used += bytes;
  *handle = ++last;
  made[last] = {context, bytes, false, false};
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  ENTER(kNothing);
  const auto found = made.find(handle);
  if (found == made.end() || found->second.released) return refused("memory released twice");
  found->second.released = true;
  forget(handle);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long) {
  ENTER(kNothing);
  const auto found = made.find(handle);
  char* const first = pointer(address);
  if (found == made.end() || found->second.mapped || offset || found->second.bytes != bytes)
    return refused("memory mapped that is not there, or in part");
  if (!is_reserved(first, bytes)) return refused("memory mapped where nothing is reserved");
  const auto next = mapped_at.lower_bound(first);
  const bool meets_next = next != mapped_at.end() && next->first < first + bytes;
  const bool meets_last = next != mapped_at.begin() &&
                          std::prev(next)->first + made.at(std::prev(next)->second).bytes > first;
  if (meets_next || meets_last) return refused("memory mapped where there is some");
  found->second.mapped = true;
  mapped_at[first] = handle;
  Memory piece;
  piece.context = found->second.context;
  piece.first = piece.data = first;
  piece.mapped = piece.bytes = bytes;
  piece.filled.resize(bytes / kPart);
  machine().memory[first + bytes] = piece;
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* access,
                        size_t count) {
  ENTER(kNothing);
  const bool whole = each_piece(pointer(address), bytes, [&](Memory& piece, auto) {
    for (size_t i = 0; i < count; ++i) piece.live |= access[i].location.id == piece.context->device;
  });
  return whole ? CUDA_SUCCESS : refused("access to addresses without memory");
}

// Unlike cuMemFree it waits for nothing: work that still uses the memory would fault.
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  ENTER(kNothing);
  char* const first = pointer(address);
  bool in_use = false;
  const auto look = [&](const Memory& piece, auto) {
    for (const Access& use : piece.accesses) in_use |= machine().host[use.stream] < use.time;
  };
  if (!each_piece(first, bytes, look)) return refused("memory unmapped that was not mapped so");
  if (in_use) report("memory unmapped that queued work uses");
  each_piece(first, bytes, [](Memory& piece, CUmemGenericAllocationHandle handle) {
    piece.live = false;
    piece.accesses.clear();
    mmap(piece.first, piece.mapped, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    made.at(handle).mapped = false;
  });
  for (char* at = first; at < first + bytes;) {
    const CUmemGenericAllocationHandle handle = mapped_at.at(at);
    mapped_at.erase(at);
    at += made.at(handle).bytes;
    forget(handle);
  }
  return CUDA_SUCCESS;
}
