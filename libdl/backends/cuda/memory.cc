// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"
#include "backends/cuda/stream.h"

namespace libdl::cuda {

// Lack of memory is not an error: the allocator then frees its cached memory and tries again. But a
// fault of earlier work, which comes out of this call too, is one.
libdl_error* allocate(int32_t device, size_t bytes, void** data) {
  *data = nullptr;
  const Entered in(device);
  if (in.error) return in.error;
  CUdeviceptr address = 0;
  const CUresult result = opened_driver().cuMemAlloc(&address, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  if (libdl_error* error = checked(device, result, "allocating device memory")) return error;
  *data = reinterpret_cast<void*>(address);
  return nullptr;
}

void free(int32_t device, void* data) {
  const Entered in(device);
  if (in.error) return host().release(in.error);
  opened_driver().cuMemFree(reinterpret_cast<CUdeviceptr>(data));
}

libdl_error* host_allocate(int32_t device, size_t bytes, void** data) {
  *data = nullptr;
  const Entered in(device);
  if (in.error) return in.error;
  const CUresult result = opened_driver().cuMemHostAlloc(data, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_SUCCESS) return nullptr;
  *data = nullptr;
  return result == CUDA_ERROR_OUT_OF_MEMORY
             ? nullptr
             : checked(device, result, "allocating pinned memory of the host");
}

void host_free(int32_t device, void* data) {
  const Entered in(device);
  if (in.error) return host().release(in.error);
  opened_driver().cuMemFreeHost(data);
}

libdl_error* copy(int32_t device, void* to, const void* from, size_t bytes, void* stream) {
  if (bytes == 0) return nullptr;
  const Entered in(device);
  if (in.error) return in.error;
  const auto queue = static_cast<CUstream>(stream);
  if (opened_driver().simulated_access) {
    opened_driver().simulated_access(queue, from, bytes, 0);
    opened_driver().simulated_access(queue, to, bytes, 1);
  }
  return checked(device,
                 opened_driver().cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to),
                                               reinterpret_cast<CUdeviceptr>(from), bytes, queue),
                 "copying");
}

libdl_error* fill(int32_t device, void* to, int32_t byte, size_t bytes, void* stream) {
  if (bytes == 0) return nullptr;
  const Entered in(device);
  if (in.error) return in.error;
  const auto queue = static_cast<CUstream>(stream);
  if (opened_driver().simulated_access) opened_driver().simulated_access(queue, to, bytes, 1);
  return checked(device,
                 opened_driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(to),
                                                 static_cast<unsigned char>(byte), bytes, queue),
                 "filling");
}

}  // namespace libdl::cuda
