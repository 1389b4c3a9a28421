// SPDX-License-Identifier: Apache-2.0

// Plugins: separate libraries with a kind of device or a provider. They are never closed.
#pragma once

#include <cstdint>
#include <string>

#include "device/backend.h"
#include "device/known_plugins.h"

namespace libdl {

// Opens the plugin of a known device type, once, and registers it. Throws Error(BACKEND), whose
// message begins with the plugin's name and says what is missing, and Error(STATE) if a plugin is
// already being opened on this thread.
const Backend& open_known(const KnownPlugin& plugin);

// Opens a plugin and registers what it contains: a kind of device, a provider, or both. A name
// without a slash is looked up in the core's own folder, then along the system's search path.
// Opening one again does nothing. Throws what open_known, register_backend and register_provider
// throw.
void open_plugin(const char* library);

}  // namespace libdl
