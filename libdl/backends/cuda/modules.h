// SPDX-License-Identifier: Apache-2.0

// The kernels' code as compiled by nvcc, one image per source; the build generates modules.cc.
#pragma once

namespace libdl::cuda {

constexpr int kMostModules = 32;

int module_count();
const void* module_image(int module);

}  // namespace libdl::cuda
