// SPDX-License-Identifier: Apache-2.0

// Backends that are libraries of their own, opened when first used and never closed.
#pragma once

#include <string>

#include "device/backend.h"

namespace libdl {

// Opens `library` from the core's own folder, else by the system's search, and returns its table.
// Throws Error(BACKEND), whose message begins with `name` and says what is missing.
const Backend& open_backend(const std::string& name, const std::string& library,
                            int32_t device_type);

}  // namespace libdl
