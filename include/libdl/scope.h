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

/** Opens a scope that owns, for C: what operators, libdl_number_* and what makes tensors of files
 *  and memory give out inside belongs to it, and must not be released by the caller; when it ends,
 *  all that was not kept is released. libdl_scope_keep gives a tensor back to the caller, or to the
 *  next outer scope if that owns, too. Lists, and what libdl_tensor_grad, _base and _list_get
 *  return, are the caller's as ever. Callbacks of the host's (backward, hooks, kernels) run outside
 *  of it.
 *
 *  Errors: OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scope_push_owner(void);

/** Ends the innermost scope with a function's outcome, so that one line serves success and failure:
 *
 *      libdl_error *error = libdl_scope_push_owner();
 *      if (error) return error;
 *      if ((error = libdl_linear(x, w, b, &h)) || (error = libdl_relu(h, &h)) ||
 *          (error = libdl_linear(h, v, NULL, &h)))
 *        h = NULL;
 *      return libdl_scope_return(error, h, out);
 *
 *  error   NULL, or what went wrong: the scope ends, and this is returned
 *  result  kept; not looked at if there is an error
 *  out     result: a reference of the caller's, or of the next outer scope if that owns. In a scope
 *          that does not own, and where the result is none of this scope's, as an operand that is
 *          handed on, it is one more than the caller has
 *
 *  An argument that is refused leaves the scope open.
 *  Errors: error itself, NULL, KIND, EMPTIED, STATE (no scope is open), OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scope_return(
    LIBDL_STEALS LIBDL_NULLABLE libdl_error *error, LIBDL_NULLABLE libdl_tensor *result,
    LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
