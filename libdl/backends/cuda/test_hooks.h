// SPDX-License-Identifier: Apache-2.0

// What tests tell the plugin, through the environment: libraries that stand for the driver and for
// NVIDIA's. The core's own hooks stand in base/test_hooks.h.
#pragma once

#include <cstdlib>

namespace libdl::cuda {

// The library to open instead of libcuda.so.1 (docs/environment.md); NULL: none.
inline const char* other_driver() {
  const char* const path = std::getenv("LIBDL_CUDA_DRIVER");
  return path && *path ? path : nullptr;
}

// With a simulated driver: the library that stands for cuBLASLt and others; by default the driver,
// which has their functions, too.
inline const char* simulated_library() {
  if (const char* const path = std::getenv("LIBDL_SIMULATED_CUBLASLT")) return path;
  const char* const driver = other_driver();
  return driver ? driver : "";
}

}  // namespace libdl::cuda
