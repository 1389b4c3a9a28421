// SPDX-License-Identifier: Apache-2.0

// The driver's functions over the host's memory: devices, contexts, modules and launches here, the
// others in errors.cc, memory.cc and streams.cc. Kernels are the plugin's own sources, run by the
// emulator.

#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator.h"
#include "machine.h"

using namespace simulation;

CUresult cuInit(unsigned) {
  ENTER(kNothing);
  return machine().devices < 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  ENTER(kNothing);
  *version = machine().version;
  return CUDA_SUCCESS;
}

// -- devices and contexts -------------------------------------------------------------------------

static bool is_device(int number) { return number >= 0 && number < machine().devices; }

CUresult cuDeviceGetCount(int* count) {
  ENTER(kNothing);
  *count = std::max(machine().devices, 0);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  ENTER(kNothing);
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  ENTER(kNothing);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<size_t>(length), "simulated device");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  ENTER(kNothing);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 2; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: *value = 1; break;
    default: *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  ENTER(kNothing);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = machine().total;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ENTER(kNothing);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = machine().contexts[static_cast<size_t>(device)].get();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER(kNothing);
  const auto& known = machine().contexts;
  if (context && std::none_of(known.begin(), known.end(),
                              [&](const auto& one) { return one.get() == context; }))
    return CUDA_ERROR_INVALID_CONTEXT;
  current() = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  ENTER(kNothing);
  *context = current();
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  ENTER(kContext);
  CUctx_st& context = *current();
  run_until([&] { return context.idle(); });
  Machine& m = machine();
  join(m.host, context.unnamed.clock);
  for (const auto& stream : context.streams) join(m.host, stream->clock);
  return end_of_wait(context);
}

// -- modules and launches -------------------------------------------------------------------------

// Of a launch, as in the programming guide's table of technical specifications; of parameters, by
// the drivers and devices that the plugin wants (others pass 4,096 bytes). Static shared memory has
// its limit at compile time: ptxas refuses more than 48 kB.
constexpr unsigned kMostBlocks = 0x7fffffff, kMostRows = 65535;
constexpr size_t kMostParams = 32764;

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  ENTER(kContext);
  constexpr uint32_t kFatbin = 0xBA55ED50;
  uint32_t magic;
  std::memcpy(&magic, image, sizeof magic);
  if (magic != kFatbin) return CUDA_ERROR_INVALID_IMAGE;
  *module = new CUmod_st{current()};
  machine().handles.insert(*module);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ENTER(kContext);
  if (!exists(module)) return CUDA_ERROR_INVALID_HANDLE;
  const emulator::Kernel* const kernel = emulator::find(name);
  if (!kernel) return CUDA_ERROR_NOT_FOUND;
  *function = new CUfunc_st{module->context, kernel};
  machine().handles.insert(*function);
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream handle,
                        void** arguments, void**) {
  ENTER(kContext);
  if (!exists(function) || function->context != current()) return CUDA_ERROR_INVALID_HANDLE;
  if (handle && (!exists(handle) || handle->context != current())) return CUDA_ERROR_INVALID_HANDLE;
  const emulator::Kernel& kernel = *function->kernel;
  if (gx == 0 || gx > kMostBlocks || gy == 0 || gy > kMostRows || bx == 0 || bx > kernel.most)
    return CUDA_ERROR_INVALID_VALUE;
  if (gz != 1 || by != 1 || bz != 1 || shared || !arguments) {
    report(std::string(kernel.name) + ": such a launch is not simulated");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (kernel.bytes > kMostParams) {
    report(std::string(kernel.name) + ": its parameters are of " + std::to_string(kernel.bytes) +
           " bytes, at most " + std::to_string(kMostParams) + " are passed");
    return CUDA_ERROR_INVALID_VALUE;
  }
  Machine& m = machine();
  ++m.launches[kernel.name];
  ++m.all_launches;
  const auto* const first = static_cast<const char*>(arguments[0]);
  const auto params = std::make_shared<std::vector<char>>(first, first + kernel.bytes);
  const uint64_t order = m.dice();
  Work work{kernel.name, nullptr, Reach::kDevice, [&kernel, gx, gy, bx, params, order] {
              emulator::run(kernel, {gx, gy, 1}, {bx, 1, 1}, params->data(), order);
            }};
  work.fault = std::exchange(m.fault, 0);
  queue(stream_of(handle), std::move(work));
  return CUDA_SUCCESS;
}
