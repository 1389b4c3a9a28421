// SPDX-License-Identifier: Apache-2.0

// From tensors to kernels.
#pragma once

#include "device/device.h"
#include "device/float_environment.h"
#include "device/pool.h"
#include "device/stack.h"
#include "kernels/args.h"
#include "kernels/cpu/kernels.h"
#include "tensor/tensor.h"

namespace libdl {

// Work on the current stream is about to use x.
inline void note_use(const Tensor& x) {
  if (memory_elsewhere() && !x.is_number()) [[unlikely]]
    used_on_current_stream(x.storage());
}

inline void* kernel_data(const Tensor& x) {
  note_use(x);
  return x.data();
}
inline kernels::View view_of(const Tensor& x) {
  return {kernel_data(x), x.get()->sizes(), x.get()->strides(), x.ndim(),
          static_cast<int32_t>(x.dtype())};
}
inline kernels::View no_view() { return {nullptr, nullptr, nullptr, 0, 0}; }
// dtype as the kernel's compute class.
kernels::Class class_of(Dtype t);

// Runs body(context) with the pool behind it. Throws INTERRUPTED where the host asked to stop; the
// output is then undefined.
template <class F>
void launch(F body) {
  bool stopped = false;
  kernels::Context context{device_detail::run_chunks, &stopped, nullptr};
  const DefaultFloatEnvironment environment;
  with_enough_stack([body, &context] { body(context); });
  if (stopped) device_detail::raise_interrupted();
}

// One function a kernel: `launch_copy(device, args)`. The CPU's are called directly, the others'
// through their backend's table. Without memory elsewhere nobody looks where the operands are.
#define KERNEL(name, Args)                                                      \
  inline void launch_##name(Device device, const kernels::Args& args) {           \
    if (memory_elsewhere() && !device.is_cpu()) [[unlikely]]                      \
      return launch(device, KernelId::name, &args);                               \
    launch([&](kernels::Context& context) { kernels::cpu::name(context, args); }); \
  }
#include "kernels/kernels.def"
#undef KERNEL

}  // namespace libdl
