// SPDX-License-Identifier: Apache-2.0

// The CUDA backend's table, and the plugin's one exported function.

#include "device/backend.h"

#include <algorithm>
#include <string>

#include "backends/cuda/access.h"
#include "backends/cuda/aligned.h"
#include "backends/cuda/device_errors.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"
#include "backends/cuda/stream.h"
#include "build_info.h"
#include "kernels/cuda/launch.h"

namespace libdl::cuda {

namespace {

const BackendHost* the_host;

// A kernel's plan, which queues its work; in between go the copies of what a device cannot read.
template <KernelId id, class Args, void (*plan)(Context&, const Args&)>
void run(Context* context, const void* args) {
  const auto& original = *static_cast<const Args*>(args);
  if (has_misaligned(id, original)) [[unlikely]] {
    AlignedCopies copies(*context);
    Args moved = original;
    each_view(id, moved, copies);
    if (context->error) return;
    note_accesses(*context, id, moved);
    plan(*context, moved);
    return copies.write_back();
  }
  note_accesses(*context, id, original);
  plan(*context, original);
}

constexpr Kernel kKernelTable[] = {
#define KERNEL(name, Args) run<KernelId::name, kernels::Args, kernels::cuda::name>,
#define OPTIONAL_KERNEL(name, Args) nullptr,
#include "kernels/kernels.def"
#undef KERNEL
};
static_assert(std::size(kKernelTable) == kKernels);

libdl_error* missing(const char* why) {
  return host().error(LIBDL_ERROR_BACKEND, (std::string("cuda: ") + why).c_str());
}

libdl_error* device_count(int32_t* count) {
  *count = 0;
  const char* why = nullptr;
  const Driver* const d = driver(&why);
  if (!d) return missing(why);
  int devices = 0;
  const CUresult result = d->cuDeviceGetCount(&devices);
  if (result == CUDA_ERROR_NO_DEVICE) return nullptr;
  if (libdl_error* error = checked(result, "counting devices")) return error;
  *count = std::min(devices, kMostDevices);
  return nullptr;
}

libdl_error* properties(int32_t device, DeviceProperties* p) {
  const Entered in(device);
  if (in.error) return in.error;
  const Driver& d = opened_driver();
  CUdevice number = 0;
  size_t total = 0, free = 0;
  if (libdl_error* error = checked(d.cuDeviceGet(&number, device), "finding the device"))
    return error;
  if (libdl_error* error =
          checked(d.cuDeviceGetName(p->name, sizeof p->name, number), "reading the device's name"))
    return error;
  if (libdl_error* error = checked(d.cuMemGetInfo(&free, &total), "reading the device's memory"))
    return error;
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    d.cuDeviceGetAttribute(&value, which, number);
    return value;
  };
  p->total_memory = static_cast<int64_t>(total);
  p->free_memory = static_cast<int64_t>(free);
  p->processors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p->capability_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  p->capability_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return nullptr;
}

const Backend kBackend = {
    .struct_size = sizeof(Backend),
    .device_type = LIBDL_DEVICE_CUDA,
    .name = "cuda",
    .build_id = LIBDL_BUILD_ID,
    .kernel_count = kKernels,
    .kernels = kKernelTable,
    .device_count = device_count,
    .properties = properties,
    .granule = granule,
    .reserve = reserve,
    .commit = commit,
    .decommit = decommit,
    .unreserve = unreserve,
    .allocate = allocate,
    .free = free,
    .copy = copy,
    .fill = fill,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_query = stream_query,
    .stream_synchronize = stream_synchronize,
    .device_synchronize = device_synchronize,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .stream_wait = stream_wait,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .event_elapsed = event_elapsed,
    .device_error = device_error,
    .host_allocate = host_allocate,
    .host_free = host_free,
};

}  // namespace

const BackendHost& host() { return *the_host; }

}  // namespace libdl::cuda

extern "C" __attribute__((visibility("default"))) libdl_error* libdl_backend_open(
    const libdl::BackendHost* host, const libdl::Backend** backend) {
  libdl::cuda::the_host = host;
  *backend = &libdl::cuda::kBackend;
  return nullptr;
}
