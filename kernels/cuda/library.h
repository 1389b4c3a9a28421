// SPDX-License-Identifier: Apache-2.0

// Work done by NVIDIA's libraries if they are found; else by the kernels in this folder.
#pragma once

#include "kernels/cuda/launch.h"

namespace libdl::kernels::cuda {

// A matrix product by cuBLASLt; false if it was not queued, and nothing was done.
bool library_matmul(Context& context, const MatmulArgs& args);

}  // namespace libdl::kernels::cuda
