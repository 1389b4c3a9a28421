// SPDX-License-Identifier: Apache-2.0

#include "device/plugin.h"

#include <libdl/plugin.h>

#include <string>

#include "capi/arguments.h"
#include "capi/door.h"
#include "device/provider.h"

using namespace libdl;
using namespace libdl::capi;

libdl_error* libdl_plugin_open(const char* library) {
  constexpr const char* function = "plugin_open";
  return door(function, [&] {
    not_null(function, "library", library, "a path or a name");
    open_plugin(library);
  });
}

libdl_error* libdl_provider_set_enabled(const char* name, libdl_bool enabled) {
  constexpr const char* function = "provider_set_enabled";
  return door(function, [&] {
    not_null(function, "name", name, "a provider's name");
    if (!set_provider_enabled(name, enabled))
      fail_argument(LIBDL_ERROR_VALUE, function, "name", std::string("is \"") + name + "\"",
                    "a provider: a plugin's, or \"winograd\"");
  });
}
