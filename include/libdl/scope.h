/* SPDX-License-Identifier: Apache-2.0 */

/** Scopes, for languages whose collectors do not see how many bytes a handle holds.
 *
 *  While a scope is open, the tensors that operators make on this state belong to it. When it ends,
 *  those that were not kept are emptied: their memory and history are freed at once, and any later
 *  use fails with EMPTIED. Their owners must still release each handle once. A handle that was
 *  retained, or that the library itself holds (the base of a view that was kept), is left as it
 *  is. */
#ifndef LIBDL_SCOPE_H
#define LIBDL_SCOPE_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Opens a scope inside the calling thread's current one.
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

/** Opens an owning scope, for C: it owns every tensor that a function makes inside it on this state
 *  and marks LIBDL_NEW, results of libdl_op_call and lists included, and releases what is left when
 *  it ends. The caller need not release them. It may: a release inside the scope, on its state,
 *  takes the handle out of the scope, so that a function which releases what it makes can be called
 *  from anywhere. libdl_scope_keep hands a tensor to the caller, or to the next outer scope if that
 *  is an owning one too; a list cannot be kept.
 *
 *  An operator that has nothing to do may answer with its argument itself (contiguous, to,
 *  dropout in evaluation): then the result is the same handle with one more reference, which is the
 *  scope's like any other result. The references of a handle cannot be told apart. So inside the
 *  scope a release of such a handle gives up the scope's reference, and one that the caller had
 *  before is released after the scope.
 *
 *  The caller's own, and to be released by it, are further references to tensors that exist
 *  already: what libdl_tensor_retain, _grad, _base, _list_get and libdl_node_leaf return. A release
 *  inside the scope is that of such a reference first, if one was added inside. Callbacks of the
 *  host (backward, hooks, kernels, handlers, destroys) run outside the scope; scopes that they
 *  leave open end with them, and the state that was current is so again.
 *
 *  LIBDL_DEBUG_HANDLES=1 reports handles that are released twice, and those that are never released
 *  (docs/environment.md).
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
 *  error   NULL, or the error to return once the scope has ended
 *  result  the tensor to keep; ignored if there is an error
 *  out     receives result: a reference owned by the caller, or by the next outer scope if that is
 *          an owning one. If this scope is not an owning one, or the result does not belong to it
 *          (an operand that is passed on), it is a new reference beside the caller's own
 *
 *  If an argument is refused, the scope stays open.
 *  Errors: error itself, NULL, KIND, EMPTIED, STATE (no scope is open), OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scope_return(
    LIBDL_STEALS LIBDL_NULLABLE libdl_error *error, LIBDL_NULLABLE libdl_tensor *result,
    LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
