// SPDX-License-Identifier: Apache-2.0

// The core's functions for the plugin, as passed to it when it was opened.
#pragma once

#include "device/backend.h"

namespace libdl::cuda {

const BackendHost& host();

}  // namespace libdl::cuda
