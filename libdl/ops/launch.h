// SPDX-License-Identifier: Apache-2.0

// From tensors to kernels.
#pragma once

#include "device/pool.h"
#include "kernels/args.h"
#include "kernels/cpu/kernels.h"
#include "tensor/tensor.h"

namespace libdl {

inline kernels::View view_of(const Tensor& x) {
  return {x.data(), x.get()->sizes(), x.get()->strides(), x.ndim(), static_cast<int32_t>(x.dtype())};
}
inline kernels::View no_view() { return {nullptr, nullptr, nullptr, 0, 0}; }
// dtype as the kernel's compute class.
kernels::Class class_of(Dtype t);

[[noreturn]] void raise_interrupted();

// One function a kernel: `launch_copy(device, args)`. Throws INTERRUPTED where the host asked to
// stop; the output is then undefined.
#define KERNEL(name, Args)                                                             \
  inline void launch_##name(Device, const kernels::Args& args) {                       \
    bool stopped = false;                                                              \
    kernels::Context context{                                                          \
        [](void* flag, int64_t chunks, void (*body)(void*, int64_t, int64_t), void* arg) { \
          const bool ok = parallel(chunks, body, arg);                                 \
          if (!ok) *static_cast<bool*>(flag) = true;                                   \
          return ok;                                                                   \
        },                                                                             \
        &stopped, nullptr};                                                            \
    kernels::cpu::name(context, args);                                                 \
    if (stopped) raise_interrupted();                                                        \
  }
#include "kernels/kernels.def"
#undef KERNEL

}  // namespace libdl
