// SPDX-License-Identifier: Apache-2.0

// Exchanging values between the threads of a warp.
#pragma once

#include <cstring>

#include "kernels/cuda/device.h"

#ifdef LIBDL_KERNELS

namespace libdl::kernels::cuda {

constexpr int kWarp = 32;

// The value of the thread `by` further on in the warp; unspecified beyond its end. All threads must
// call it.
template <class T>
LIBDL_DEVICE T shuffle_down(T value, int by) {
#ifdef LIBDL_EMULATED
  return __shfl_down_sync(~0u, value, static_cast<unsigned>(by));
#elif defined(__CUDA_ARCH__)
  uint32_t words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &value, sizeof value);
  for (uint32_t& word : words) word = __shfl_down_sync(~0u, word, by);
  memcpy(&value, words, sizeof value);
  return value;
#else
  return value;
#endif
}

// Gives all threads of the warp the value that thread `from` has.
template <class T>
LIBDL_DEVICE T shuffle_from(T value, int from) {
#ifdef LIBDL_EMULATED
  return __shfl_sync(~0u, value, from);
#elif defined(__CUDA_ARCH__)
  uint32_t words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &value, sizeof value);
  for (uint32_t& word : words) word = __shfl_sync(~0u, word, from);
  memcpy(&value, words, sizeof value);
  return value;
#else
  return value;
#endif
}

// The values of all threads of the block, joined by join(a, b), for its first thread; the block has
// whole warps. Between two calls in a kernel the block must have synchronised.
template <class T, class Join>
LIBDL_DEVICE T joined_over_block(T x, Join&& join) {
  __shared__ T of_warps[1024 / kWarp];
  for (int by = kWarp / 2; by > 0; by /= 2) x = join(x, shuffle_down(x, by));
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = x;
  __syncthreads();
  if (threadIdx.x == 0)
    for (unsigned w = 1; w < blockDim.x / kWarp; ++w) x = join(x, of_warps[w]);
  return x;
}

}  // namespace libdl::kernels::cuda

#endif  // LIBDL_KERNELS
