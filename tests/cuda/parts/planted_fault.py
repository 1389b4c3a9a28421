# SPDX-License-Identifier: Apache-2.0
"""A kernel that writes outside of its memory, or whose threads race, for compute-sanitizer to find:
python planted_fault.py memcheck | racecheck"""

import ctypes
import sys

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
# Each of 64 threads writes 4 bytes, the first of them 4 KB behind a block of 256.
MEMCHECK = (
    HEAD
    + """
.visible .entry planted(.param .u64 out) {
  .reg .b32 %thread;
  .reg .b64 %place, %step;
  ld.param.u64 %place, [out];
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %step, %thread, 4;
  add.s64 %place, %place, %step;
  st.global.u32 [%place + 4096], %thread;
  ret;
}
"""
)
# Each thread reads what another warp's has written, without a barrier between.
RACECHECK = (
    HEAD
    + """
.visible .entry planted(.param .u64 out) {
  .reg .b32 %thread, %other, %at, %read;
  .reg .b64 %place, %step;
  .shared .align 4 .b8 values[256];
  ld.param.u64 %place, [out];
  mov.u32 %thread, %tid.x;
  mov.u32 %at, values;
  mad.lo.u32 %at, %thread, 4, %at;
  st.shared.u32 [%at], %thread;
  sub.u32 %other, 63, %thread;
  mov.u32 %at, values;
  mad.lo.u32 %at, %other, 4, %at;
  ld.shared.u32 %read, [%at];
  mul.wide.u32 %step, %thread, 4;
  add.s64 %place, %place, %step;
  st.global.u32 [%place], %read;
  ret;
}
"""
)
KERNELS = {"memcheck": MEMCHECK, "racecheck": RACECHECK}


def main() -> None:
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name: str, *arguments: object) -> None:
        result = getattr(cuda, name)(*arguments)
        if result != 0 and name != "cuCtxSynchronize":  # which may tell of the planted write
            sys.exit(f"{name}: {result}")

    device = ctypes.c_int()
    context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    memory = ctypes.c_uint64()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), KERNELS[sys.argv[1]].encode())
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"planted")
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(256))
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    call("cuLaunchKernel", kernel, 1, 1, 1, 64, 1, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")


if __name__ == "__main__":
    main()
