// SPDX-License-Identifier: Apache-2.0

// How a kernel is launched: with the thread pool and the allocator, in the default floating-point
// environment, and with enough stack.
#pragma once

#include "base/source_location.h"
#include "device/device.h"
#include "device/provider.h"
#include "kernels/args.h"
#include "runtime/float_environment.h"
#include "runtime/stack.h"

namespace libdl {

namespace device_detail {
extern const kernels::Host cpu_host __attribute__((visibility("hidden")));
LIBDL_NORETURN void raise_interrupted();
LIBDL_NORETURN void raise_stopped(void* error);  // the context's error; NULL: the host interrupted
}  // namespace device_detail

// Runs body(context) on the CPU. Throws INTERRUPTED if the host asked to stop, or the error that
// the kernel left in the context; the output is then undefined.
template <class F>
void launch(F body) {
  kernels::Context context{&device_detail::cpu_host};
  const DefaultFloatEnvironment environment;
  with_enough_stack([body, &context] { body(context); });
  if (context.stopped) device_detail::raise_stopped(context.error);
}

// The context that a kernel runs in: the pool, and the state's current stream.
kernels::Context context_for(Device device);

// Runs a kernel with the first provider that serves these arguments, or from the device's own
// table. On the CPU it is done on return. Throws as above, and UNSUPPORTED if there is no such
// kernel.
void launch(Device device, KernelId id, const void* args);

// Whether the device, or a provider of it, has an optional kernel; without it the operator is
// composed of others.
bool has_kernel(Device device, KernelId id);

template <KernelId id>
struct KernelArguments;
#define KERNEL(name, Args)                 \
  template <>                              \
  struct KernelArguments<KernelId::name> { \
    using Type = kernels::Args;            \
  };
#include "kernels/kernels.def"
#undef KERNEL

// launch<KernelId::copy>(device, {.out = …, .in = …})
template <KernelId id>
void launch(Device device, const typename KernelArguments<id>::Type& args) {
  launch(device, id, &args);
}

}  // namespace libdl
