// SPDX-License-Identifier: Apache-2.0

// Plugins: kinds of devices and providers that are libraries of their own, never closed.
#pragma once

#include <cstdint>
#include <string>

#include "device/backend.h"

namespace libdl {

// A kind of device that libdl brings itself, opened when it is first asked for.
struct KnownPlugin {
  int32_t device_type;
  const char* name;
  const char* library;  // NULL: a name alone, for memory that comes from elsewhere
};
const KnownPlugin* known_plugin(int32_t device_type);
const KnownPlugin* known_plugin(const char* name);

// Opens the plugin of such a device type, once, and registers it. Throws Error(BACKEND), whose
// message begins with the plugin's name and says what is missing, and Error(STATE) while a plugin
// opens on this thread.
const Backend& open_known(const KnownPlugin& plugin);

// Opens a plugin and registers what it brings: a kind of device, a provider, or both. A name
// without a slash is looked for in the core's own folder, then by the system's search. Opening one
// again does nothing. Throws as open_known, and what register_backend and register_provider throw.
void open_plugin(const char* library);

}  // namespace libdl
