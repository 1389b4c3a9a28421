// SPDX-License-Identifier: Apache-2.0

// What the core offers the plugin, as it was told at opening.
#pragma once

#include "device/backend.h"

namespace libdl::cuda {

const BackendHost& host();

}  // namespace libdl::cuda
