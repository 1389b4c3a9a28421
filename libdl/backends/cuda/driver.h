// SPDX-License-Identifier: Apache-2.0

// The driver's functions, looked up by name when the plugin is opened. No CUDA library is linked,
// so that the plugin loads, and says what is missing, on machines without a driver.
// LIBDL_CUDA_DRIVER names a library to use instead of libcuda.so.1; the tests use a simulation.
#pragma once

#include <cuda.h>
#include <libdl/error.h>

#include <cstddef>
#include <cstdint>

namespace libdl::cuda {

#define LIBDL_CUDA_DRIVER_FUNCTIONS(DRIVER) \
  DRIVER(cuInit)                            \
  DRIVER(cuDriverGetVersion)                \
  DRIVER(cuGetErrorName)                    \
  DRIVER(cuGetErrorString)                  \
  DRIVER(cuDeviceGetCount)                  \
  DRIVER(cuDeviceGet)                       \
  DRIVER(cuDeviceGetName)                   \
  DRIVER(cuDeviceGetAttribute)              \
  DRIVER(cuDeviceTotalMem)                  \
  DRIVER(cuDevicePrimaryCtxRetain)          \
  DRIVER(cuCtxGetCurrent)                   \
  DRIVER(cuCtxSetCurrent)                   \
  DRIVER(cuCtxSynchronize)                  \
  DRIVER(cuMemGetInfo)                      \
  DRIVER(cuMemAlloc)                        \
  DRIVER(cuMemFree)                         \
  DRIVER(cuMemGetAllocationGranularity)     \
  DRIVER(cuMemAddressReserve)               \
  DRIVER(cuMemAddressFree)                  \
  DRIVER(cuMemCreate)                       \
  DRIVER(cuMemRelease)                      \
  DRIVER(cuMemMap)                          \
  DRIVER(cuMemUnmap)                        \
  DRIVER(cuMemSetAccess)                    \
  DRIVER(cuMemHostAlloc)                    \
  DRIVER(cuMemFreeHost)                     \
  DRIVER(cuMemcpyAsync)                     \
  DRIVER(cuMemsetD8Async)                   \
  DRIVER(cuStreamCreateWithPriority)        \
  DRIVER(cuStreamDestroy)                   \
  DRIVER(cuStreamQuery)                     \
  DRIVER(cuStreamSynchronize)               \
  DRIVER(cuStreamWaitEvent)                 \
  DRIVER(cuEventCreate)                     \
  DRIVER(cuEventDestroy)                    \
  DRIVER(cuEventRecord)                     \
  DRIVER(cuEventQuery)                      \
  DRIVER(cuEventSynchronize)                \
  DRIVER(cuEventElapsedTime)                \
  DRIVER(cuModuleLoadData)                  \
  DRIVER(cuModuleGetFunction)               \
  DRIVER(cuLaunchKernel)

struct Driver {
#define DRIVER(name) decltype(&::name) name;
  LIBDL_CUDA_DRIVER_FUNCTIONS(DRIVER)
#undef DRIVER

  // Only in a simulation: declares what the work queued next on a stream will read and write.
  void (*simulated_access)(CUstream stream, const void* first, size_t bytes, int write) = nullptr;
};

// The driver, initialised once; NULL, with `why` filled in, if there is none that can be used.
const Driver* driver(const char** why);

// The same once device_count has found that it exists.
inline const Driver& opened_driver() { return *driver(nullptr); }

// Further devices are ignored: per-device data is kept in arrays of this length.
constexpr int32_t kMostDevices = 64;

// A driver's result as an error object that names what was being done; NULL for success.
libdl_error* checked(CUresult result, const char* doing);

// Likewise of work on a device. A fault of a kernel comes out of a later call, and then of all: the
// message names the kernels that may have caused it.
libdl_error* checked(int32_t device, CUresult result, const char* doing);
void note_launch(int32_t device, const char* kernel);  // a string literal

// Makes the device's primary context current for the calling thread. Another library may have left
// its own: that one is current again afterwards.
class Entered {
 public:
  explicit Entered(int32_t device);
  ~Entered() {
    if (before_) opened_driver().cuCtxSetCurrent(before_);
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

  libdl_error* error;  // NULL, or the caller's: nothing was entered

 private:
  CUcontext before_ = nullptr;
};

}  // namespace libdl::cuda
