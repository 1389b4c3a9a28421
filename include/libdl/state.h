/* SPDX-License-Identifier: Apache-2.0 */

/** What a thread carries from call to call, the library's version and make, and the channels on
 *  which it speaks to the host. */
#ifndef LIBDL_STATE_H
#define LIBDL_STATE_H

#include <libdl/device.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/* -- state handles ---------------------------------------------------------------------------- */

/** A fresh state: recording on, float32 and the CPU as defaults, the process's generator.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_state_new(LIBDL_NEW libdl_state **out);
/** A copy of the calling thread's state, without its scopes, interceptors and
 *  saved-tensor hooks. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_state_copy_current(LIBDL_NEW libdl_state **out);
LIBDL_API LIBDL_NEW libdl_state *libdl_state_retain(libdl_state *state);
LIBDL_API void libdl_state_release(libdl_state *state);

/** Makes `next` the calling thread's state (NULL: the thread's own) and tells the former one (NULL:
 *  the thread's own) unless `previous` is NULL. One pointer write: hosts whose tasks move between
 *  threads call it at each switch. No reference is taken or given; a state serves one thread at a
 *  time.
 *  Errors: KIND.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_state_swap(LIBDL_NULLABLE libdl_state *next,
                                                        LIBDL_BORROWED libdl_state **previous);

/** The dtype of floating results that nothing else decides.
 *  Errors: DTYPE (not floating).
 *  Threads: thread-local. */
LIBDL_API libdl_dtype libdl_default_dtype(void);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_default_dtype(libdl_dtype dtype);

/** The device of results that nothing else decides.
 *  Errors: DEVICE (no such device, or its backend is missing).
 *  Threads: thread-local. */
LIBDL_API libdl_device libdl_default_device(void);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_default_device(const libdl_device *device);

/* -- generators ------------------------------------------------------------------------------- */

/** A source of random numbers: a key and how far it has come. The same seed gives the same bits on
 *  every device, in every language and for any number of threads.
 *  Errors: OUT_OF_MEMORY. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_new(uint64_t seed,
                                                           LIBDL_NEW libdl_generator **out);
LIBDL_API LIBDL_NEW libdl_generator *libdl_generator_retain(libdl_generator *generator);
LIBDL_API void libdl_generator_release(libdl_generator *generator);

/** The generator that operators use when they are given NULL: a new reference. Its first seed is
 *  drawn by the system, another one in each process; libdl_generator_get_seed tells it, and
 *  libdl_generator_set_seed makes runs repeatable. Threads: free. */
LIBDL_API LIBDL_NEW libdl_generator *libdl_generator_default(void);
/** Gives the thread's state a generator of its own; NULL: the process's again.
 *  Errors: KIND. Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_set_default(
    LIBDL_NULLABLE libdl_generator *generator);

/** Starts again from a seed. Errors: NULL, KIND. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_set_seed(libdl_generator *generator,
                                                                uint64_t seed);
/** The seed; 0 for no generator. Threads: free. */
LIBDL_API uint64_t libdl_generator_get_seed(const libdl_generator *generator);

/** How many bytes libdl_generator_get_state writes; 0 for no generator. A later version may need
 *  more: programs ask, and keep the number with the bytes. Threads: free. */
LIBDL_API int64_t libdl_generator_state_size(const libdl_generator *generator);

/** Key and position as libdl_generator_state_size bytes, from which any process goes on with the
 *  same numbers. get: data has room for `count` bytes, of which so many are written. set: takes
 *  exactly what get wrote, of this version or an earlier one.
 *  Errors: NULL, KIND, VALUE (get: too little room; set: bytes that are no state). Threads: free.
 *   */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_get_state(const libdl_generator *generator,
                                                                 void *data, int64_t count);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_set_state(libdl_generator *generator,
                                                                 const void *data, int64_t count);

/* -- version and make ------------------------------------------------------------------------- */

/** The library's version as major * 10000 + minor * 100 + patch. Threads: free. */
LIBDL_API int32_t libdl_version(void);
/** "0.1.0". Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_version_string(void);

/** Whether a program built against this version's headers runs on the library: the same major
 *  version, and before 1.0 the same minor one, with a minor not above the library's.
 *  Errors: UNSUPPORTED (it names both versions). Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_check_abi(int32_t major, int32_t minor);

/** The instruction set of the CPU kernels: "baseline", "avx2" or "avx512" (LIBDL_CPU lowers it).
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_cpu_level(void);

/** Lines of "name: value" about versions, processor, threads and libraries, NUL-terminated, valid
 *  until the thread's next call. Threads: thread-local. */
LIBDL_API LIBDL_BORROWED const char *libdl_show_config(void);

/* -- warnings --------------------------------------------------------------------------------- */

/** One of the LIBDL_WARNING_ constants. */
typedef int32_t libdl_warning_code;
enum {
  LIBDL_WARNING_OTHER = 0,
  LIBDL_WARNING_CONVERSION = 1 /**< a hidden representation was made; see libdl_set_check_copies */
};

/** Takes warnings from now on; NULL: they are dropped. Called on the warning thread; message is
 *  valid during the call. ctx is given up with destroy, exactly once, also when this fails.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_warning_handler(
    LIBDL_NULLABLE void (*fn)(void *ctx, libdl_warning_code code, const char *message), void *ctx,
    void (*destroy)(void *ctx));

/** Warns at each conversion between representations on this thread, naming the operator. Returns
 *  the former value. Threads: thread-local. */
LIBDL_API libdl_bool libdl_set_check_copies(libdl_bool enabled);

/** How many conversions between representations there have been. Threads: free. */
LIBDL_API int64_t libdl_conversions(void);

/* -- logging ---------------------------------------------------------------------------------- */

/** One of the LIBDL_LOG_ constants. */
typedef int32_t libdl_log_level;
enum {
  LIBDL_LOG_DEBUG = 0,   /**< idle memory went back */
  LIBDL_LOG_INFO = 1,    /**< set-up: instruction set, number of threads, plugins opened */
  LIBDL_LOG_WARNING = 2, /**< memory is short, threads were refused, a plugin did not open, a value
                              of the environment is not in effect */
  LIBDL_LOG_ERROR = 3    /**< memory ran out; the call returns that, too */
};

/** Sets the function that receives the library's log messages. It is called with how the library is
 *  set up right away, then with each message where it arises: on any thread, also inside operators,
 *  so it must not wait for a thread that may be calling libdl. NULL, as at first, drops them.
 * Messages that the function causes itself are dropped, too. `message` has `length` bytes and a NUL
 * behind them, and is valid during the call. ctx is released by destroy, exactly once, also when
 * this fails. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_log_handler(
    LIBDL_NULLABLE void (*fn)(void *ctx, libdl_log_level level, const char *message,
                              int64_t length),
    void *ctx, void (*destroy)(void *ctx));

LIBDL_END

#endif
