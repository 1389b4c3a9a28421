// SPDX-License-Identifier: Apache-2.0

// Tensors of inference mode in a recorded call.
#pragma once

#include <cstdint>

namespace libdl {

// A mode of the thread's, beside those of device/state.h: they may be saved.
constexpr uint32_t kModeSavesInferenceMade = 4;

}  // namespace libdl
