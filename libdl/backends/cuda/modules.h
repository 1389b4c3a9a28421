// SPDX-License-Identifier: Apache-2.0

// The kernels' code as nvcc made it, one image a source; the build writes modules.cc.
#pragma once

namespace libdl::cuda {

constexpr int kMostModules = 32;

int module_count();
const void* module_image(int module);

}  // namespace libdl::cuda
