/* SPDX-License-Identifier: Apache-2.0 */

/** Plugins: shared libraries that add a type of device, or kernels that replace some of a device's
 *  own. How to write one: docs/plugins.md. */
#ifndef LIBDL_PLUGIN_H
#define LIBDL_PLUGIN_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Opens a plugin and makes its devices available, and its kernels from the next call on. Opening
 *  it again does nothing. It is never closed, and its code has all the rights of the process.
 *
 *  library  a path; a name without a slash is searched for in the folder of libdl's own library,
 *           then in the system's search path
 *
 *  Errors: NULL, BACKEND (it cannot be opened, is not a plugin, is of another build, its table
 *  lacks an entry, or another provider has its name), DEVICE (its device's number or name is
 *  taken), STATE (this thread is already opening one), OUT_OF_MEMORY.
 *  Threads: free; plugins are opened one at a time. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_plugin_open(const char *library);

/** Sets whether a provider's kernels are used, from the next launch on. Initially they are, unless
 *  the environment variable LIBDL_DISABLE names the provider. The device's own kernels do whatever
 *  the provider does not.
 *
 *  name  the provider's name: a plugin's, or "winograd", the library's own for convolutions
 *
 *  Errors: NULL, VALUE (there is no such provider).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_provider_set_enabled(const char *name,
                                                                  libdl_bool enabled);

LIBDL_END

#endif
