// SPDX-License-Identifier: Apache-2.0

// Kernels for the tests of the simulation itself, most of them wrong on purpose, and their
// parameters.
#pragma once

#include <cstdint>

namespace planted {

// planted_count: to[i] = from[i] + 1, or i without `from`.
struct Count {
  int32_t* to;
  const int32_t* from;
  int64_t n;
};

// planted_stuck: the first thread waits for its warp, the others for the block. planted_undeclared:
// a kernel without waits waits.
struct Nothing {
  int32_t unused;
};

}  // namespace planted
