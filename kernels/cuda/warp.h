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

// The same for the value of one thread of the warp.
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

}  // namespace libdl::kernels::cuda

#endif  // LIBDL_KERNELS
