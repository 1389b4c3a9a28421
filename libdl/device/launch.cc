// SPDX-License-Identifier: Apache-2.0

#include "device/launch.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "device/stream.h"
#include "memory/account.h"
#include "runtime/thread_pool.h"

namespace libdl {

namespace device_detail {

void raise_interrupted() {
  fail_unnamed(LIBDL_ERROR_INTERRUPTED,
               "interrupted by the host; what was to be written is undefined");
}

void raise_stopped(void* error) {
  check_backend(static_cast<libdl_error*>(error));
  raise_interrupted();
}

static bool run_chunks(kernels::Context& context, int64_t chunks,
                       void (*body)(void*, int64_t, int64_t), void* arg) {
  const bool finished = parallel(chunks, body, arg);
  if (!finished) context.stopped = 1;
  return finished;
}

static Allocator& allocator_of(const kernels::Context& context) {
  return allocator_for({context.host->device_type, context.device});
}

// Kernels are no place for exceptions: a plugin's may be built without them.
static void* allocate_scratch(kernels::Context& context, int64_t bytes) {
  try {
    if (bytes < 0)
      fail_unnamed(LIBDL_ERROR_OVERFLOW, "a kernel needs more scratch memory than 64 bits count");
    if (const Account* const account = current_account())
      account->check(static_cast<size_t>(bytes));
    return allocator_of(context).allocate(static_cast<size_t>(bytes), context.stream);
  } catch (Error& error) {
    context.error = error.release();
  } catch (...) {
    context.error = out_of_memory_error();
  }
  context.stopped = 1;
  return nullptr;
}

static void deallocate_scratch(kernels::Context& context, void* data, int64_t bytes) {
  allocator_of(context).deallocate(data, static_cast<size_t>(bytes));
}

static constexpr kernels::Host host_of(int32_t device_type) {
  return {device_type, run_chunks, allocate_scratch, deallocate_scratch, threads};
}

constexpr kernels::Host cpu_host = host_of(LIBDL_DEVICE_CPU);

template <size_t... kType>
static const kernels::Host& host_for(int32_t device_type, std::index_sequence<kType...>) {
  static constexpr kernels::Host hosts[] = {host_of(static_cast<int32_t>(kType))...};
  return hosts[device_type];
}

}  // namespace device_detail

kernels::Context context_for(Device device) {
  return {.host = &device_detail::host_for(device.type, std::make_index_sequence<kDeviceTypes>()),
          .stream = device.is_cpu() ? nullptr : native_stream(device),
          .device = device.index};
}

bool has_kernel(Device device, KernelId id) {
  return device.is_cpu() || backend(device.type).kernels[static_cast<int32_t>(id)] ||
         is_provided(device, id);
}

static void missing_kernel(Device device, KernelId id) {
  static constexpr const char* kNames[] = {
#define KERNEL(name, Args) #name,
#include "kernels/kernels.def"
#undef KERNEL
  };
  fail_unnamed(LIBDL_ERROR_UNSUPPORTED, device_name(device) + ": the backend has no kernel " +
                                            kNames[static_cast<int32_t>(id)]);
}

void launch(Device device, KernelId id, const void* args) {
  const Backend& own = backend(device.type);  // refuses types that there are not
  kernels::Context context = context_for(device);
  const DefaultFloatEnvironment environment;
  Kernel run = provided_kernel(context, id, args);
  if (!run) run = own.kernels[static_cast<int32_t>(id)];
  if (!run) missing_kernel(device, id);
  if (device.is_cpu()) {
    with_enough_stack([&] { run(&context, args); });
  } else {
    run(&context, args);
  }
  if (context.stopped || context.error) device_detail::raise_stopped(context.error);
}

}  // namespace libdl
