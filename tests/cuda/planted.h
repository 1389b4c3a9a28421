// SPDX-License-Identifier: Apache-2.0

// Kernels for the tests of the simulation itself, most of them wrong on purpose, and their
// parameters.
#pragma once

#include <cstdint>

namespace planted {

// planted_count: to[i] = from[i] + 1, or i without `from`. planted_overflow: to[0] is the sum of
// two.
struct Count {
  int32_t* to;
  const int32_t* from;
  int64_t n;
};

// planted_pair: to[0] = from[0], where both may be misaligned.
struct alignas(8) Two {
  int32_t low, high;
};
struct Pair {
  Two* to;
  const Two* from;
};

// planted_leftover: to[b] is what lies in the block's shared memory before it is written.
// planted_last: to[0] is the number of the last block, to[1] that of its last thread.
// planted_neighbour: each thread takes what the next one puts into shared memory, without a wait.
struct To {
  int32_t* to;
};

// planted_large: does nothing, with parameters of more bytes than a launch passes.
struct Large {
  char bytes[32765];
};

// planted_small: does nothing, with blocks of at most 64 threads. planted_stuck: the first thread
// waits for its warp, the others for the block. planted_undeclared: a kernel without waits waits.
struct Nothing {
  int32_t unused;
};

}  // namespace planted
