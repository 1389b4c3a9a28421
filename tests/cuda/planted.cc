// SPDX-License-Identifier: Apache-2.0

#include "planted.h"

#include "emulator.h"

using namespace planted;

static int64_t own_number() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

LIBDL_KERNEL(planted_count, Count) {
  const int64_t i = own_number();
  if (i < p.n) p.to[i] = p.from ? p.from[i] + 1 : static_cast<int32_t>(i);
}

LIBDL_BLOCK_KERNEL(planted_stuck, Nothing) {
  if (threadIdx.x == 0) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}
LIBDL_KERNEL(planted_undeclared, Nothing) { __syncthreads(); }

LIBDL_KERNEL(planted_pair, Pair) { p.to[threadIdx.x] = p.from[threadIdx.x]; }
LIBDL_KERNEL(planted_large, Large) {}
LIBDL_EMULATED_KERNEL(planted_small, Nothing, false, 64) {}
