// SPDX-License-Identifier: Apache-2.0

// A word of device memory for each stream, by which the blocks of a kernel count themselves. It is
// 0 between kernels: each leaves it as it found it, and those of a stream run one after the other.
#pragma once

#include "device/backend.h"

namespace libdl::cuda {

// NULL, with *error set, if there is no memory for it.
unsigned* arrival_counter_of(int32_t device, void* stream, libdl_error** error);

}  // namespace libdl::cuda
