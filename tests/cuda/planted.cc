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

LIBDL_BLOCK_KERNEL(planted_leftover, To) {
  __shared__ int32_t left[2];
  if (threadIdx.x != 0) return;
  p.to[blockIdx.x] = left[1];
  left[1] = static_cast<int32_t>(blockIdx.x);
}
LIBDL_KERNEL(planted_last, To) {
  p.to[0] = static_cast<int32_t>(blockIdx.x);
  p.to[1] = static_cast<int32_t>(threadIdx.x);
}
LIBDL_BLOCK_KERNEL(planted_neighbour, To) {
  __shared__ int32_t held[64];
  held[threadIdx.x] = static_cast<int32_t>(threadIdx.x);
  p.to[threadIdx.x] = held[(threadIdx.x + 1) % 64];
}

LIBDL_BLOCK_KERNEL(planted_past_the_end, Count) {
  __shared__ int32_t held[64];
  held[threadIdx.x] = static_cast<int32_t>(threadIdx.x);
  __syncthreads();
  p.to[threadIdx.x] = held[p.n];
}

LIBDL_KERNEL(planted_overflow, Count) { p.to[0] = p.from[0] + p.from[1]; }
