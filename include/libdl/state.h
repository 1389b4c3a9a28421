/* SPDX-License-Identifier: Apache-2.0 */

/** Per-thread state and defaults, random number generators, the library's version and build, and
 *  its warnings and log messages. */
#ifndef LIBDL_STATE_H
#define LIBDL_STATE_H

#include <libdl/device.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/* -- state handles ---------------------------------------------------------------------------- */

/** A new state: recording on, float32 and the CPU as defaults, the process's generator.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_state_new(LIBDL_NEW libdl_state **out);
/** A copy of the calling thread's state, without its scopes, interceptors, saved-tensor hooks, open
 *  levels of forward mode (libdl_forward_enter) and current streams. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_state_copy_current(LIBDL_NEW libdl_state **out);
LIBDL_API LIBDL_NEW libdl_state *libdl_state_retain(libdl_state *state);
LIBDL_API void libdl_state_release(libdl_state *state);

/** Makes `next` the calling thread's state and, unless `previous` is NULL, stores the former state
 *  there. In both, NULL stands for the thread's own state. It costs one pointer write, so hosts
 *  whose tasks move between threads can call it at each switch. Reference counts do not change. A
 *  state may be in use by only one thread at a time.
 *  Errors: KIND.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_state_swap(LIBDL_NULLABLE libdl_state *next,
                                                        LIBDL_BORROWED libdl_state **previous);

/** Limits the memory of the tensors that are made while the state is a thread's, for hosts that
 *  share a process between tenants: an operator that would exceed it fails with OUT_OF_MEMORY, and
 *  what the tenant has stays. A tensor counts where it was made until its memory goes, whoever
 *  holds it then; small ones count for 256 bytes. An operator's workspace must fit into what is
 *  left. Foreign memory and packed copies of weights do not count. libdl_memory_set_limit holds
 *  besides, for all states together.
 *
 *  Tensors count from the first call on. Copies of a state (libdl_state_copy_current) share its
 *  limit and what counts against it.
 *
 *  state  NULL: the calling thread's
 *  bytes  on all devices together; 0: no limit
 *
 *  Errors: KIND, VALUE (bytes negative), OUT_OF_MEMORY.
 *  Threads: the state must not be in use on another thread.
 *
 *      libdl_state *tenant;
 *      check(libdl_state_new(&tenant));
 *      check(libdl_state_set_memory_limit(tenant, 512 << 20)); */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_state_set_memory_limit(
    LIBDL_NULLABLE libdl_state *state, int64_t bytes);

/** The state's limit in bytes; 0: none. NULL is the calling thread's state. Threads: as set. */
LIBDL_API int64_t libdl_state_get_memory_limit(LIBDL_NULLABLE const libdl_state *state);

/** What counts against the state's limit now, in bytes; 0 before the first call of
 *  libdl_state_set_memory_limit. NULL is the calling thread's state. Threads: as set. */
LIBDL_API int64_t libdl_state_memory(LIBDL_NULLABLE const libdl_state *state);

/** The dtype of floating results when no argument determines it.
 *  Errors: DTYPE (not floating).
 *  Threads: thread-local. */
LIBDL_API libdl_dtype libdl_default_dtype(void);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_default_dtype(libdl_dtype dtype);

/** The device of results when no argument determines it.
 *  Errors: NULL, DEVICE (no such device), BACKEND (its plugin cannot be opened).
 *  Threads: thread-local. */
LIBDL_API libdl_device libdl_default_device(void);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_default_device(const libdl_device *device);

/* -- autocast --------------------------------------------------------------------------------- */

/** Whether autocast is on for a type of device; it exists for LIBDL_DEVICE_CPU. While it is on,
 *  operators that are mostly products (convolutions, matrix products, linear, prelu, attention,
 *  lstm, rnn_tanh, rnn_relu) convert their floating operands to autocast's dtype, losses and some
 *  others to float32, and cat, stack and index_copy to float32 if one operand has it; the guide for
 *  C lists them. The conversions are recorded, so a float32 leaf gets a float32 gradient. float64
 * is left alone, and so are calls that write into a given tensor. Backward passes run with autocast
 *  off.
 *  Errors: DEVICE (a type without autocast).
 *  Threads: thread-local. */
LIBDL_API libdl_bool libdl_autocast_enabled(int32_t device_type);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_autocast_enabled(int32_t device_type,
                                                                  libdl_bool enabled);

/** The dtype to which autocast converts the operands of products: bfloat16 at first. NONE for a
 *  type of device without autocast.
 *  Errors: DEVICE (a type without autocast), DTYPE (not floating).
 *  Threads: thread-local. */
LIBDL_API libdl_dtype libdl_autocast_dtype(int32_t device_type);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_autocast_dtype(int32_t device_type,
                                                                libdl_dtype dtype);

/** Whether converted weights (float32 leaves that require grad) are kept beside their own bytes
 *  until these are written to or memory runs short: on at first. Results do not depend on it. set
 *  returns the former value. Threads: thread-local. */
LIBDL_API libdl_bool libdl_autocast_cache_enabled(void);
LIBDL_API libdl_bool libdl_set_autocast_cache_enabled(libdl_bool enabled);

/* -- generators ------------------------------------------------------------------------------- */

/** A random number generator: a key and a position. The same seed gives the same bits on every
 *  device, in every language and for any number of threads.
 *  Errors: OUT_OF_MEMORY. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_new(uint64_t seed,
                                                           LIBDL_NEW libdl_generator **out);
LIBDL_API LIBDL_NEW libdl_generator *libdl_generator_retain(libdl_generator *generator);
LIBDL_API void libdl_generator_release(libdl_generator *generator);

/** A new reference to the generator that operators use when they are given NULL. Its initial seed
 *  comes from the system and differs in each process; libdl_generator_get_seed returns it, and
 *  libdl_generator_set_seed makes runs repeatable. Threads: free. */
LIBDL_API LIBDL_NEW libdl_generator *libdl_generator_default(void);
/** Sets the default generator of the calling thread's state; NULL: the process's again.
 *  Errors: KIND. Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_set_default(
    LIBDL_NULLABLE libdl_generator *generator);

/** Restarts the generator from a seed. Errors: NULL, KIND. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_set_seed(libdl_generator *generator,
                                                                uint64_t seed);
/** The seed; 0 if it is not a generator. Threads: free. */
LIBDL_API uint64_t libdl_generator_get_seed(const libdl_generator *generator);

/** The number of bytes that libdl_generator_get_state writes; 0 if it is not a generator. Later
 *  versions may need more: ask for the size, and store it with the bytes. Threads: free. */
LIBDL_API int64_t libdl_generator_state_size(const libdl_generator *generator);

/** Saves and restores the generator's key and position as libdl_generator_state_size bytes; any
 *  process that restores them continues with the same numbers. get: data has room for `count`
 *  bytes. set: data is exactly what get wrote, in this version or an earlier one.
 *  Errors: NULL, KIND, VALUE (get: too little room; set: not a saved state). Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_get_state(const libdl_generator *generator,
                                                                 void *data, int64_t count);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_generator_set_state(libdl_generator *generator,
                                                                 const void *data, int64_t count);

/* -- version and build ------------------------------------------------------------------------ */

/** The library's version as major * 10000 + minor * 100 + patch. Threads: free. */
LIBDL_API int32_t libdl_version(void);
/** "0.1.0". Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_version_string(void);

/** Checks that a program built against the headers of version major.minor can use this library: the
 *  major versions are equal, before 1.0 the minor ones too, and `minor` is not above the library's.
 *  Errors: UNSUPPORTED (the message names both versions). Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_check_abi(int32_t major, int32_t minor);

/** The instruction set of the CPU kernels: "baseline", "avx2" or "avx512" (the environment variable
 *  LIBDL_CPU can lower it).
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_cpu_level(void);

/** Lines of "name: value" with the library's version, the compiler, the CPU kernels and the number
 *  of threads, NUL-terminated, valid until the thread's next call of this function.
 *  Threads: thread-local. */
LIBDL_API LIBDL_BORROWED const char *libdl_show_config(void);

/* -- warnings --------------------------------------------------------------------------------- */

/** One of the LIBDL_WARNING_ constants. */
typedef int32_t libdl_warning_code;
enum {
  LIBDL_WARNING_OTHER = 0,
  LIBDL_WARNING_CONVERSION = 1 /**< an implicit conversion; see libdl_set_check_copies */
};

/** Sets the function that receives warnings; NULL: they are dropped. It is called on the thread
 *  that warns; message is valid during the call. destroy runs exactly once with ctx, also if this
 *  call fails.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_warning_handler(
    LIBDL_NULLABLE void (*fn)(void *ctx, libdl_warning_code code, const char *message), void *ctx,
    void (*destroy)(void *ctx));

/** Sets whether each conversion between representations on this thread gives a warning. It
 *  begins with the name of the operator that packs, or with "plain" where the bytes that strides
 *  describe are made of another form. Returns the former value. Threads: thread-local. */
LIBDL_API libdl_bool libdl_set_check_copies(libdl_bool enabled);

/** The number of conversions between representations so far. Threads: free. */
LIBDL_API int64_t libdl_conversions(void);

/* -- logging ---------------------------------------------------------------------------------- */

/** One of the LIBDL_LOG_ constants. */
typedef int32_t libdl_log_level;
enum {
  LIBDL_LOG_DEBUG = 0,   /**< idle memory was returned to the system */
  LIBDL_LOG_INFO = 1,    /**< set-up: instruction set, number of threads, plugins opened */
  LIBDL_LOG_WARNING = 2, /**< memory is short, threads could not be started, a plugin did not open,
                              an environment variable has no effect */
  LIBDL_LOG_ERROR = 3    /**< memory ran out; the call returns this error as well */
};

/** Sets the function that receives the library's log messages; NULL, the default, drops them. It is
 *  called at once with messages about the library's set-up, then with each message where it arises:
 *  on any thread, also inside operators, so it must not wait for a thread that may be calling
 *  libdl. Messages that the function itself causes are dropped. `message` has `length` bytes
 *  followed by a NUL, and is valid during the call. destroy runs exactly once with ctx, also if
 *  this call fails. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_log_handler(
    LIBDL_NULLABLE void (*fn)(void *ctx, libdl_log_level level, const char *message,
                              int64_t length),
    void *ctx, void (*destroy)(void *ctx));

LIBDL_END

#endif
