// SPDX-License-Identifier: Apache-2.0

// What NVIDIA's libraries do where they are found; without them the kernels of this folder serve.
#pragma once

#include "kernels/cuda/launch.h"

namespace libdl::kernels::cuda {

// The product by cuBLASLt; false if it was not queued, and nothing has happened.
bool library_matmul(Context& context, const MatmulArgs& args);

}  // namespace libdl::kernels::cuda
