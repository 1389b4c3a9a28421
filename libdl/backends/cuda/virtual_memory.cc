// SPDX-License-Identifier: Apache-2.0

// Addresses that memory is put behind bit by bit, so that the allocator's segments grow instead of
// becoming many.

#include <algorithm>

#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"
#include "backends/cuda/stream.h"

namespace libdl::cuda {
namespace {

CUdeviceptr address(void* at) { return reinterpret_cast<CUdeviceptr>(at); }

CUmemAllocationProp pinned_on(int32_t device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  return properties;
}

// Memory behind one piece of addresses. It lives as long as it is mapped.
CUresult map(int32_t device, CUdeviceptr at, size_t bytes) {
  const Driver& d = opened_driver();
  const CUmemAllocationProp properties = pinned_on(device);
  CUmemGenericAllocationHandle memory = 0;
  if (const CUresult failed = d.cuMemCreate(&memory, bytes, &properties, 0)) return failed;
  const CUresult result = d.cuMemMap(at, bytes, 0, memory, 0);
  d.cuMemRelease(memory);
  return result;
}

// All of the pieces or none.
CUresult map_pieces(int32_t device, CUdeviceptr at, size_t bytes, size_t piece) {
  const Driver& d = opened_driver();
  CUresult result = CUDA_SUCCESS;
  size_t done = 0;
  for (; !result && done < bytes; done += piece)
    result = map(device, at + done, std::min(piece, bytes - done));
  if (result) done -= piece;  // the one that failed
  if (!result) {
    const CUmemAccessDesc access = {.location = pinned_on(device).location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    result = d.cuMemSetAccess(at, bytes, &access, 1);
  }
  if (result && done) d.cuMemUnmap(at, done);
  return result;
}

}  // namespace

size_t granule(int32_t device) {
  const Entered in(device);
  if (in.error) {
    host().release(in.error);
    return 0;
  }
  const Driver& d = opened_driver();
  int there = 0;
  const CUresult queried = d.cuDeviceGetAttribute(
      &there, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
  if (queried || !there) return 0;
  const CUmemAllocationProp properties = pinned_on(device);
  size_t bytes = 0;
  const CUresult result =
      d.cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  return result ? 0 : bytes;
}

libdl_error* reserve(int32_t device, size_t bytes, void** data) {
  *data = nullptr;
  const Entered in(device);
  if (in.error) return in.error;
  CUdeviceptr address = 0;
  const CUresult result = opened_driver().cuMemAddressReserve(&address, bytes, 0, 0, 0);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  if (libdl_error* error = checked(device, result, "reserving addresses")) return error;
  *data = reinterpret_cast<void*>(address);
  return nullptr;
}

libdl_error* commit(int32_t device, void* at, size_t bytes, size_t piece, int32_t* granted) {
  *granted = 0;
  const Entered in(device);
  if (in.error) return in.error;
  const CUresult result = map_pieces(device, address(at), bytes, piece);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  if (libdl_error* error = checked(device, result, "putting memory behind addresses")) return error;
  *granted = 1;
  return nullptr;
}

void decommit(int32_t device, void* at, size_t bytes) {
  const Entered in(device);
  if (in.error) return host().release(in.error);
  opened_driver().cuMemUnmap(address(at), bytes);
}

void unreserve(int32_t device, void* data, size_t bytes) {
  const Entered in(device);
  if (in.error) return host().release(in.error);
  opened_driver().cuMemAddressFree(address(data), bytes);
}

}  // namespace libdl::cuda
