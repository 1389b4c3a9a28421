// SPDX-License-Identifier: Apache-2.0

// Index errors: kernels leave them in pinned memory, a place for each stream, and the core asks for
// them when it has waited.
#pragma once

#include "device/backend.h"
#include "kernels/cuda/launch.h"

namespace libdl::cuda {

// Where kernels on a stream leave a device error; NULL, with *error set, if there is no memory for
// it.
kernels::cuda::DeviceError* device_error_slot(int32_t device, void* stream, libdl_error** error);

// The table's function.
libdl_error* device_error(int32_t device, void* stream);

}  // namespace libdl::cuda
