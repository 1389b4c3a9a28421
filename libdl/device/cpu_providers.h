// SPDX-License-Identifier: Apache-2.0

// Ways of the CPU to compute a kernel that are quicker for some arguments, with names of their own
// so that they can be left out as plugins' providers can: LIBDL_DISABLE=winograd.
#pragma once

#include "device/backend.h"

namespace libdl {

const Provider& winograd_provider();

}  // namespace libdl
