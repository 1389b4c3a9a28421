/* SPDX-License-Identifier: Apache-2.0 */

/** The threads that compute. The library has one thread pool, whose size the host can set, or which
 *  it can replace by its own. The calling thread always takes part, and finishes alone what no
 *  other thread has begun. Results have the same bits for every number of threads. */
#ifndef LIBDL_THREADS_H
#define LIBDL_THREADS_H

#include <libdl/abi.h>

/** The largest number of threads for libdl_set_threads. */
#define LIBDL_MAX_THREADS 1024

/** A host's thread pool. Set struct_size to sizeof(the struct).
 *
 *  concurrency  how many threads may work on one operator together, the calling thread included
 *  run          arranges that task(task_arg) runs exactly once, on any thread, now or later. A late
 *               task finds its work done and returns at once. A task that never runs leaks a few
 *               bytes, nothing more. run may be called from any thread.
 *  destroy      runs once with ctx after the executor was replaced and its last call has returned;
 *               may be NULL */
typedef struct libdl_executor {
  uint32_t struct_size;
  int32_t concurrency;
  void *ctx;
  void (*run)(void *ctx, void (*task)(void *task_arg), void *task_arg);
  void (*destroy)(void *ctx);
} libdl_executor;

/** Called to ask whether the running operator should stop; anything but 0 means yes. */
typedef int32_t (*libdl_interruption)(void *ctx);

LIBDL_BEGIN

/** Sets how many threads work on one operator, the calling thread included. The initial number
 *  comes from the environment variable LIBDL_NUM_THREADS or, without it, is the number of
 *  processors that the process may use.
 *
 *  threads  from 1 to LIBDL_MAX_THREADS
 *
 *  Errors: VALUE (threads out of range).
 *  Threads: free; operators that are already running are not affected. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_threads(int32_t threads);

/** How many threads work on one operator: the executor's concurrency, if there is one.
 *  Threads: free. */
LIBDL_API int32_t libdl_get_threads(void);

/** Makes the library compute on the host's threads instead of its own.
 *
 *  executor  copied; NULL: the library's own threads again
 *
 *  If the call fails, executor->destroy has run.
 *  Errors: NULL (run is missing), VALUE (concurrency below 1), OPTION (struct_size), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_executor(
    LIBDL_NULLABLE const libdl_executor *executor);

/** Sets the callback that can stop a long operator. It replaces the one set before, whose destroy
 *  runs once its last call has returned. It is called on the thread that called the operator,
 *  between pieces of work and between nodes of a backward pass, and may call operators itself. An
 *  operator that it stops returns the error INTERRUPTED. Callbacks added by libdl_interruption_add
 *  are called as well. If this call fails, destroy has run with ctx.
 *
 *  ask  NULL: none
 *
 *  Errors: OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_interruption(LIBDL_NULLABLE libdl_interruption ask,
                                                              void *ctx,
                                                              void (*destroy)(void *ctx));

/** Adds a callback that can stop a long operator, alongside all others: any of them stops it. For
 *  languages and libraries that share the process with others; there may be any number of them.
 *
 *  out  its number, for libdl_interruption_remove
 *
 *  If the call fails, destroy has run with ctx.
 *  Errors: NULL (ask, out), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_interruption_add(libdl_interruption ask, void *ctx,
                                                              void (*destroy)(void *ctx),
                                                              int64_t *out);

/** Removes a callback that libdl_interruption_add added; its destroy runs once its last call has
 *  returned.
 *
 *  Errors: VALUE (there is no callback of that number), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_interruption_remove(int64_t interruption);

/** Sets the callback that can stop a long operator which runs while the state is the calling
 *  thread's: a host of several tenants stops one of them. It is called as that of
 *  libdl_set_interruption, which is called as well, and replaces the state's former one, whose
 *  destroy runs. Copies of a state share it; it is destroyed with the last. If this call fails,
 *  destroy has run with ctx.
 *
 *  state  NULL: the calling thread's
 *  ask    NULL: none
 *
 *  Errors: KIND, OUT_OF_MEMORY.
 *  Threads: the state must not be in use on another thread. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_state_set_interruption(
    LIBDL_NULLABLE libdl_state *state, LIBDL_NULLABLE libdl_interruption ask, void *ctx,
    void (*destroy)(void *ctx));

LIBDL_END

#endif
