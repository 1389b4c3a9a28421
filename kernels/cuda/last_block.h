// SPDX-License-Identifier: Apache-2.0

// How the blocks of one launch find out which of them is the last, so that it may combine what all
// have left. `arrival_counter` is the stream's (see launch.h): 0 before the kernel and after it.
#pragma once

#include "kernels/cuda/device.h"

namespace libdl::kernels::cuda {

#ifdef LIBDL_KERNELS

// True for all threads of one block, which then see what the first thread of each block wrote
// before. All threads of all blocks must call it once.
LIBDL_DEVICE bool is_last_block(unsigned* arrival_counter) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();  // what was written is visible before the block is counted
    last = atomicAdd(arrival_counter, 1u) == gridDim.x - 1;
    if (last) *arrival_counter = 0;
    __threadfence();  // and is read after that
  }
  __syncthreads();
  return last;
}

#endif  // LIBDL_KERNELS

}  // namespace libdl::kernels::cuda
