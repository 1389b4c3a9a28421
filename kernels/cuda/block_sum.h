// SPDX-License-Identifier: Apache-2.0

// Prefix sums over the threads of a block, for kernels that write their results consecutively.
#pragma once

#include "kernels/cuda/device.h"

namespace libdl::kernels::cuda {

#ifdef LIBDL_KERNELS

// The sum of `own` over the lanes up to this one.
template <class T>
LIBDL_DEVICE T sum_to_here(T own) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  T sum = own;
  for (int by = 1; by < 32; by *= 2) {
    const T other = __shfl_up_sync(~0u, sum, static_cast<unsigned>(by));
    if (lane >= by) sum += other;
  }
  return sum;
}

// The sum of `own` over the threads before this one; of_warps is shared memory, one T per warp.
template <class T>
LIBDL_DEVICE T sum_before(T own, T* of_warps) {
  const int t = static_cast<int>(threadIdx.x);
  const T sum = sum_to_here(own);
  if (t % 32 == 31) of_warps[t / 32] = sum;
  __syncthreads();
  T before = sum - own;
  for (int w = 0; w < t / 32; ++w) before += of_warps[w];
  __syncthreads();
  return before;
}

#endif  // LIBDL_KERNELS

}  // namespace libdl::kernels::cuda
