// SPDX-License-Identifier: Apache-2.0

// From tensors to kernels.
#pragma once

#include "base/test_hooks.h"
#include "device/device.h"
#include "device/launch.h"
#include "kernels/args.h"
#include "kernels/cpu/kernels.h"
#include "tensor/tensor.h"

namespace libdl {

// Notes that work on the current stream is about to use x.
inline void note_use(const Tensor& x) {
  if (memory_elsewhere() && !x.is_number()) [[unlikely]]
    used_on_current_stream(x.storage());
}

// The plain bytes for a kernel that reads all, overwrites all or updates some of x's elements.
inline void* kernel_data(const Tensor& x, Access access) {
  note_use(x);
  return x.plain(access);
}
inline kernels::View view_of(const Tensor& x, Access access) {
  return {kernel_data(x, access), x.get()->sizes(), x.get()->strides(), x.ndim(),
          static_cast<int32_t>(x.dtype())};
}
inline kernels::View reads(const Tensor& x) { return view_of(x, Access::kRead); }
inline kernels::View overwrites(const Tensor& y) { return view_of(y, Access::kOverwrite); }
inline kernels::View updates(const Tensor& y) { return view_of(y, Access::kUpdate); }
inline kernels::View no_view() { return {nullptr, nullptr, nullptr, 0, 0}; }
// dtype as the kernel's compute class.
constexpr kernels::Class class_of(Dtype t) {
  using enum kernels::Class;
  constexpr kernels::Class classes[kDtypes] = {kI64, kBool, kI64, kI64, kI64, kU64, kI64,  kI64,
                                               kI64, kI64,  kF32, kF32, kF32, kF64, kC128, kC128};
  return classes[static_cast<int>(t)];
}
static_assert(class_of(Dtype::kBool) == kernels::Class::kBool &&
              class_of(Dtype::kUint64) == kernels::Class::kU64 &&
              class_of(Dtype::kInt64) == kernels::Class::kI64 &&
              class_of(Dtype::kBfloat16) == kernels::Class::kF32 &&
              class_of(Dtype::kFloat64) == kernels::Class::kF64 &&
              class_of(Dtype::kComplex64) == kernels::Class::kC128);

// In test builds: checks that a kernel that runs while there are interceptors runs inside a call
// that was shown to them.
void check_call_is_seen();
inline void check_launch_is_seen() {
  if constexpr (kLaunchesAreChecked) check_call_is_seen();
}

// One function per kernel: `launch_copy(device, args)`. The CPU's own kernels are called directly
// if no provider may serve them, all others through the chain of providers and their backend's
// table. Until there is memory elsewhere or a provider, the operands' devices are not looked at.
#define KERNEL(name, Args)                                                                     \
  inline void launch_##name(Device device, const kernels::Args& args) {                        \
    check_launch_is_seen();                                                                    \
    if (launches_are_special() && (!device.is_cpu() || has_providers(device, KernelId::name))) \
        [[unlikely]]                                                                           \
      return launch(device, KernelId::name, &args);                                            \
    launch([&](kernels::Context& context) { kernels::cpu::name(context, args); });             \
  }
#include "kernels/kernels.def"
#undef KERNEL

}  // namespace libdl
