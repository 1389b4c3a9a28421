// SPDX-License-Identifier: Apache-2.0

// The kernels' __shared__ variables are static ones of the host, and their library has hardly any
// other variables without a value: its whole .bss is taken for shared memory.

#include "emulator.h"

extern "C" [[gnu::visibility("hidden")]] char __bss_start[], _end[];  // the linker's

[[gnu::constructor]] static void tell() { emulator::set_shared_memory(__bss_start, _end); }
