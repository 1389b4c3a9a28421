// SPDX-License-Identifier: Apache-2.0

// Kernels by name: each source's code is a module, which is loaded into a device's context when one
// of its kernels is first used; CUDA itself loads functions lazily.

#include "kernels/cuda/launch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backends/cuda/arrival_counters.h"
#include "backends/cuda/device_errors.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"
#include "backends/cuda/modules.h"
#include "backends/cuda/stream.h"

namespace libdl::cuda {

namespace {

struct Loaded {
  std::mutex mutex;
  std::unordered_map<const char*, CUfunction>
      functions;  // by the name's address: names are literals
  CUmodule modules[kMostModules] = {};
  std::atomic<int32_t> processors{0};
};
Loaded* loaded_for(int32_t device) {
  static Loaded* const all = new Loaded[kMostDevices];
  return &all[device];
}

// With the lock held.
libdl_error* find(Loaded& loaded, const char* name, CUfunction* function) {
  for (int m = 0; m < module_count(); ++m) {
    if (!loaded.modules[m]) {
      const CUresult result = opened_driver().cuModuleLoadData(&loaded.modules[m], module_image(m));
      if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        return host().error(LIBDL_ERROR_BACKEND,
                            "cuda: the plugin holds no code for this device's architecture "
                            "(compute capability 8.0 or later is wanted)");
      if (libdl_error* error = checked(result, "loading a module")) return error;
    }
    const CUresult result = opened_driver().cuModuleGetFunction(function, loaded.modules[m], name);
    if (result == CUDA_ERROR_NOT_FOUND) continue;
    return checked(result, "finding a kernel");
  }
  return host().error(LIBDL_ERROR_INTERNAL,
                      (std::string("cuda: there is no kernel ") + name).c_str());
}

libdl_error* function_of(int32_t device, const char* name, CUfunction* function) {
  Loaded& loaded = *loaded_for(device);
  const std::lock_guard lock(loaded.mutex);
  const auto known = loaded.functions.find(name);
  if (known != loaded.functions.end()) {
    *function = known->second;
    return nullptr;
  }
  if (libdl_error* error = find(loaded, name, function)) return error;
  loaded.functions.emplace(name, *function);
  return nullptr;
}

}  // namespace

int32_t processors(int32_t device) {
  std::atomic<int32_t>& known = loaded_for(device)->processors;
  if (const int32_t count = known.load(std::memory_order_relaxed)) return count;
  CUdevice number = 0;
  int value = 0;
  opened_driver().cuDeviceGet(&number, device);
  opened_driver().cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, number);
  known.store(std::max(value, 1), std::memory_order_relaxed);
  return std::max(value, 1);
}

}  // namespace libdl::cuda

namespace libdl::kernels::cuda {

using namespace libdl::cuda;

static void keep(Context& context, libdl_error* error) {
  if (!error) return;
  if (context.error) return host().release(error);
  context.error = error;
}

void refuse(Context& context, const char* message) {
  keep(context, host().error(LIBDL_ERROR_UNSUPPORTED, message));
}

void launch(Context& context, const char* name, const Grid& grid, const void* params, size_t) {
  if (context.error || grid.blocks <= 0 || grid.rows <= 0) return;
  if (grid.blocks > INT32_MAX)
    return refuse(context, "cuda: more blocks are wanted than a device takes, 2^31 - 1");
  CUfunction function = nullptr;
  const Entered in(context.device);
  if (in.error) return keep(context, in.error);
  if (libdl_error* error = function_of(context.device, name, &function))
    return keep(context, error);
  void* arguments[] = {const_cast<void*>(params)};
  const CUresult result = opened_driver().cuLaunchKernel(
      function, static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.rows), 1,
      static_cast<unsigned>(grid.threads), 1, 1, 0, static_cast<CUstream>(context.stream),
      arguments, nullptr);
  if (result) return keep(context, checked(context.device, result, name));
  note_launch(context.device, name);
}

Grid grid_for(const Context& context, int64_t n, int each) {
  constexpr int64_t kBlocksPerProcessor = 8;  // of 256 threads: the 2,048 that a processor holds
  const int64_t blocks = (n + int64_t{kThreads} * each - 1) / (int64_t{kThreads} * each);
  return {std::min(blocks, kBlocksPerProcessor * processors(context.device)), kThreads, 1};
}

bool read_back(Context& context, void* to, const void* from, size_t bytes) {
  if (context.error) return false;
  keep(context, libdl::cuda::copy(context.device, to, from, bytes, context.stream));
  if (!context.error) keep(context, stream_synchronize(context.device, context.stream));
  if (!context.error) keep(context, libdl::cuda::device_error(context.device, context.stream));
  return !context.error;
}

DeviceError* device_error(Context& context) {
  if (context.error) return nullptr;
  const Entered in(context.device);
  libdl_error* error = in.error;
  DeviceError* const slot =
      error ? nullptr : device_error_slot(context.device, context.stream, &error);
  keep(context, error);
  return slot;
}

unsigned* arrival_counter(Context& context) {
  if (context.error) return nullptr;
  libdl_error* error = nullptr;
  unsigned* const counter = arrival_counter_of(context.device, context.stream, &error);
  keep(context, error);
  return counter;
}

}  // namespace libdl::kernels::cuda
