/* SPDX-License-Identifier: Apache-2.0 */

/** The threads that compute. The library has one pool, which the host sets, or replaces by its own.
 *  The calling thread always takes part, and finishes alone what nobody else began. Results have
 *  the same bits for every number of threads. */
#ifndef LIBDL_THREADS_H
#define LIBDL_THREADS_H

#include <libdl/abi.h>

/** The most threads that libdl_set_threads takes. */
#define LIBDL_MAX_THREADS 1024

/** A host's threads. Set struct_size to sizeof.
 *
 *  concurrency  threads that may work on one operator together, the caller among them
 *  run          arranges that task(task_arg) runs exactly once, on any thread, now or later. A late
 *               task finds its work done and returns at once. A task that is never run is lost
 *               memory of some bytes, nothing more. run may be called from any thread.
 *  destroy      runs once with ctx after the executor was replaced and its last call has returned,
 *               or NULL */
typedef struct libdl_executor {
  uint32_t struct_size;
  int32_t concurrency;
  void *ctx;
  void (*run)(void *ctx, void (*task)(void *task_arg), void *task_arg);
  void (*destroy)(void *ctx);
} libdl_executor;

/** Asked whether the running operator shall end early; anything but 0 means yes. */
typedef int32_t (*libdl_interruption)(void *ctx);

LIBDL_BEGIN

/** Sets how many threads work on one operator, the caller among them. At the start it is what the
 *  environment's LIBDL_NUM_THREADS says, or the processors that the process may use.
 *
 *  threads  from 1 to LIBDL_MAX_THREADS
 *
 *  Errors: VALUE (threads out of range).
 *  Threads: free; operators that run meanwhile keep what they have. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_threads(int32_t threads);

/** How many threads work on one operator: the executor's concurrency, if there is one.
 *  Threads: free. */
LIBDL_API int32_t libdl_get_threads(void);

/** Computes on the host's threads instead of the library's own.
 *
 *  executor  copied; NULL: the library's own threads again
 *
 *  If the call fails, executor->destroy has run.
 *  Errors: NULL (run is missing), VALUE (concurrency below 1), OPTION (struct_size), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_executor(
    LIBDL_NULLABLE const libdl_executor *executor);

/** Sets the callback that can end a long operator, in place of the one that was set before, whose
 *  destroy then runs once its last call has returned. It is asked on the thread that called the
 *  operator, between pieces of work and between nodes of a backward pass, and may compute itself.
 *  An operator that it ends returns the error INTERRUPTED. If this call fails, destroy has run with
 *  ctx. What libdl_interruption_add added is asked as well.
 *
 *  ask  NULL: nobody is asked in its place
 *
 *  Errors: OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_interruption(LIBDL_NULLABLE libdl_interruption ask,
                                                              void *ctx,
                                                              void (*destroy)(void *ctx));

/** Adds a callback that can end a long operator, beside all others: any of them ends it. For
 *  languages and libraries that share the process with others; as many as are wanted.
 *
 *  out  its number, for libdl_interruption_remove
 *
 *  If the call fails, destroy has run with ctx.
 *  Errors: NULL (ask, out), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_interruption_add(libdl_interruption ask, void *ctx,
                                                              void (*destroy)(void *ctx),
                                                              int64_t *out);

/** Removes it; its destroy runs once its last call has returned.
 *
 *  Errors: VALUE (there is none of that number), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_interruption_remove(int64_t interruption);

LIBDL_END

#endif
