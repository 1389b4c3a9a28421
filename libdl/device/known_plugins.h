// SPDX-License-Identifier: Apache-2.0

// The kinds of devices that ship with libdl as plugins: known before they are opened.
#pragma once

#include <libdl/device.h>

#include <cstdint>

namespace libdl {

// The plugin is opened on first use.
struct KnownPlugin {
  int32_t device_type;
  const char* name;
  const char* library;  // NULL: there is only a name, for memory that others made
};

constexpr KnownPlugin kKnownPlugins[] = {
    {LIBDL_DEVICE_CUDA, "cuda", "libdlcuda.so"},
    {LIBDL_DEVICE_CUDA_HOST, "cuda_host", nullptr},
};

// NULL: no such type.
inline const KnownPlugin* known_plugin(int32_t device_type) {
  for (const KnownPlugin& plugin : kKnownPlugins)
    if (plugin.device_type == device_type) return &plugin;
  return nullptr;
}

}  // namespace libdl
