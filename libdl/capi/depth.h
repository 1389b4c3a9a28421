// SPDX-License-Identifier: Apache-2.0

// How deeply a thread is nested in the host's interceptors and kernels, which may call operators
// that run further interceptors and kernels. Limited, like nested passes, before the stack
// overflows.
#pragma once

#include "base/error.h"

namespace libdl::capi {

inline constinit thread_local int host_depth = 0;

class HostDepth {
 public:
  explicit HostDepth(const char* op) {
    constexpr int kMost = 64;
    if (host_depth >= kMost)
      fail(LIBDL_ERROR_DEPTH, op,
           "is nested " + std::to_string(kMost) + " deep inside interceptors or kernels");
    ++host_depth;
  }
  ~HostDepth() { --host_depth; }
  HostDepth(const HostDepth&) = delete;
  HostDepth& operator=(const HostDepth&) = delete;
};

}  // namespace libdl::capi
