/* SPDX-License-Identifier: Apache-2.0 */

/** The profiler: records each call of a thread, in forward and backward passes, hooks and optimizer
 *  steps, with its times, the memory that it took, and what happened inside it. With
 *  LIBDL_PROFILER_ALL_THREADS other threads join it.
 *
 *  It is an interceptor (libdl/op.h) of the library's own that sees parts as well. While none runs,
 *  calls cost nothing more. */
#ifndef LIBDL_PROFILER_H
#define LIBDL_PROFILER_H

#include <libdl/abi.h>
#include <libdl/op.h>

/** Bits of libdl_profiler_options.recorded. */
enum {
  LIBDL_PROFILER_SHAPES = 1, /**< the shapes and dtypes of arguments and results */
  /** also the calls of threads that first call the library while the profiler runs, and those of
   *  others from the first range that they push; not what they do in states that the host made, nor
   *  a thread that has a profiler of its own. One such profiler at a time */
  LIBDL_PROFILER_ALL_THREADS = 2
};

/** Options of the profiler; zero is the default of each. Set struct_size to sizeof(the struct). */
typedef struct libdl_profiler_options {
  uint32_t struct_size;
  uint32_t recorded; /**< LIBDL_PROFILER_ bits */
} libdl_profiler_options;

/** What an event is. */
enum {
  LIBDL_PROFILER_CALL = 0, /**< a call of an operator, or a part of one */
  LIBDL_PROFILER_RANGE = 1 /**< from libdl_profiler_range_push to libdl_profiler_range_pop */
};

/** One event of a profile. Everything in it is borrowed, and valid only during the callback. */
typedef struct libdl_profiler_event {
  uint32_t struct_size;              /**< the bytes that this version fills in */
  int32_t kind;                      /**< LIBDL_PROFILER_CALL or LIBDL_PROFILER_RANGE */
  const char *name;                  /**< the operator's, the part's or the range's */
  LIBDL_NULLABLE const char *source; /**< as libdl_call.source */
  int64_t start;     /**< nanoseconds of the system's monotonic clock; no event starts earlier than
                          those before it */
  int64_t end;       /**< likewise; of an event still open when the profiler stopped, that moment */
  int64_t parent;    /**< the number of the event around it, counted from 0; -1: none */
  int64_t allocated; /**< bytes of tensors that the thread allocated during it, less those it
                          freed; may be negative */
  int64_t live;      /**< likewise, from the profiler's start, or from when the thread joined it, to
                          the event's end */
  int64_t conversions; /**< how many times the process converted a representation meanwhile */
  libdl_phase phase;
  libdl_bool failed; /**< the call failed, or had not ended when the profiler stopped */
  LIBDL_NULLABLE const int64_t *shapes; /**< for each argument, then each result, of a call: its
                                             number of dimensions, dtype and sizes if it is a
                                             tensor; -2 and the count, then the tensors, if it is a
                                             list; -1 otherwise. NULL if not recorded */
  int64_t shape_count;                  /**< of the integers in shapes */
  int64_t argument_count;               /**< how many of the entries in shapes are arguments */
  int64_t thread; /**< the system's number of the thread that started the profiler or joined it */
} libdl_profiler_event;

/** Called for each event of a profile; an error ends the walk, which returns it. */
typedef libdl_error *(*libdl_profiler_visitor)(void *ctx, const libdl_profiler_event *event);

LIBDL_BEGIN

/** Sets struct_size, and all else to 0, the default. NULL is ignored. Threads: free. */
LIBDL_API void libdl_profiler_options_init(libdl_profiler_options *options);

/** Begins to record the calls of the calling thread's state, behind all interceptors: what these
 *  carry out themselves is seen as the calls that they make.
 *
 *  Errors: STATE (the profiler runs already, in this thread or for all of them, or an interceptor
 * is running), VALUE (unknown bits), OPTION, OUT_OF_MEMORY. Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_profiler_start(
    LIBDL_NULLABLE const libdl_profiler_options *options);

/** Ends the recording, and calls visit for every event in the order in which they began. What was
 *  recorded is gone afterwards, also on failure. destroy runs once with ctx before this call
 *  returns, also on failure. Calls that other threads are in count as failed.
 *
 *  visit  NULL: the record is dropped
 *
 *  Errors: STATE (this thread started none, or an interceptor is running), OUT_OF_MEMORY, and what
 * visit returned. Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_profiler_stop(
    LIBDL_NULLABLE libdl_profiler_visitor visit, void *ctx, void (*destroy)(void *ctx));

/** The number of this thread's events so far; without other threads it is that of the next one. -1
 *  if no profiler runs.
 *  Threads: thread-local. */
LIBDL_API int64_t libdl_profiler_count(void);

/** Opens a range of the host's own. Does nothing if no profiler runs.
 *
 *  name         copied
 *  name_length  in bytes; -1: up to the NUL
 *
 *  Errors: NULL (name), VALUE (name_length below -1), OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_profiler_range_push(const char *name,
                                                                 int64_t name_length);

/** Closes the innermost open range. Does nothing if there is none in the innermost running call, or
 *  no profiler runs. Threads: thread-local. */
LIBDL_API void libdl_profiler_range_pop(void);

LIBDL_END

#endif
