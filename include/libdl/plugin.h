/* SPDX-License-Identifier: Apache-2.0 */

/** Plugins: shared libraries that bring a kind of device, or kernels that do some of a device's
 *  work better than its own do. How to write one: docs/plugins.md. */
#ifndef LIBDL_PLUGIN_H
#define LIBDL_PLUGIN_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Opens a plugin and makes what it brings available: its devices, and its kernels from the next
 *  call on. Opening it again does nothing. It is never closed, and its code may do all that the
 *  process may.
 *
 *  library  a path; a name without a slash is looked for in the folder of libdl's own library, then
 *           where the system looks
 *
 *  Errors: NULL, BACKEND (it cannot be opened, is no plugin, is of another build, or another
 *  provider has its name), DEVICE (its device's number or name is taken), STATE (on a thread that
 *  is just opening one), OUT_OF_MEMORY.
 *  Threads: free; plugins are opened one at a time. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_plugin_open(const char *library);

/** Whether a provider's kernels are used, from the next launch on. At first they are, unless the
 *  environment's LIBDL_DISABLE names the provider. What it does not do, the device's own kernels
 *  do.
 *
 *  name  the provider's own: "onednn"
 *
 *  Errors: NULL, VALUE (no open plugin brings such a provider).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_provider_set_enabled(const char *name,
                                                                  libdl_bool enabled);

LIBDL_END

#endif
