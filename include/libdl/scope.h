/* SPDX-License-Identifier: Apache-2.0 */

/** Scopes, for languages whose collectors do not see how many bytes a handle holds.
 *
 *  While a scope is open, the tensors that operators make on this state belong to it. When it ends,
 *  those that were not kept are emptied: their memory and history go at once, and each later use is
 *  the error EMPTIED. Their owners still release each handle once. A handle that was retained, or
 *  that the library itself holds (the base of a view that lives on), is left as it is. */
#ifndef LIBDL_SCOPE_H
#define LIBDL_SCOPE_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Opens a scope inside the calling thread's present one.
 *
 *  Errors: OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scope_push(void);

/** Ends the innermost scope. The kept tensors belong to the next outer one from now on.
 *
 *  Errors: STATE (no scope is open).
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scope_pop(void);

/** Keeps a tensor beyond the end of the innermost scope; one that does not belong to it is left as
 *  it is.
 *
 *  Errors: NULL, KIND, EMPTIED, STATE (no scope is open).
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scope_keep(libdl_tensor *tensor);

LIBDL_END

#endif
