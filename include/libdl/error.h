/* SPDX-License-Identifier: Apache-2.0 */

/** Errors are objects, returned and owned by the caller. NULL is success.
 *
 *  Making an error never fails: if there is no memory for one, a static OUT_OF_MEMORY error is
 *  returned, which is retained and released like any other. */
#ifndef LIBDL_ERROR_H
#define LIBDL_ERROR_H

#include <libdl/abi.h>

/** One of the LIBDL_ERROR_ constants, in bands of hundreds:
 *  1xx a bad argument, 2xx a state in which the call is not possible, 3xx resources,
 *  4xx the outside world, 5xx the library itself. New codes are appended to their band. */
typedef int32_t libdl_error_code;

enum {
  LIBDL_OK = 0,
  LIBDL_ERROR_VALUE = 100,       /**< an argument's value is not allowed */
  LIBDL_ERROR_NULL = 101,        /**< a required pointer is NULL */
  LIBDL_ERROR_KIND = 102,        /**< a handle of the wrong kind */
  LIBDL_ERROR_DTYPE = 103,       /**< an element type that the operator does not take */
  LIBDL_ERROR_SHAPE = 104,       /**< a shape or rank that does not fit */
  LIBDL_ERROR_INDEX = 105,       /**< a dimension or index out of range */
  LIBDL_ERROR_DEVICE = 106,      /**< a device that does not fit or does not exist */
  LIBDL_ERROR_OVERFLOW = 107,    /**< a size that 64 bits do not hold */
  LIBDL_ERROR_OVERLAP = 108,     /**< the destination overlaps itself or an operand */
  LIBDL_ERROR_OPTION = 109,      /**< an option of a newer version that this one does not know */
  LIBDL_ERROR_TYPE = 110,        /**< a value in a generic call has the wrong type */
  LIBDL_ERROR_AUTOGRAD = 200,    /**< a differentiation rule forbids it */
  LIBDL_ERROR_VERSION = 201,     /**< a saved tensor was overwritten */
  LIBDL_ERROR_EMPTIED = 202,     /**< the handle's scope has ended */
  LIBDL_ERROR_READ_ONLY = 203,   /**< the memory may not be written */
  LIBDL_ERROR_STATE = 204,       /**< not possible in the object's present state */
  LIBDL_ERROR_INTERRUPTED = 205, /**< the host asked to stop */
  LIBDL_ERROR_DEPTH = 206,       /**< nested too deeply */
  LIBDL_ERROR_OUT_OF_MEMORY = 300,
  LIBDL_ERROR_LIMIT = 301,       /**< a resource other than memory is used up */
  LIBDL_ERROR_IO = 400,          /**< the operating system refused a file operation */
  LIBDL_ERROR_FORMAT = 401,      /**< a file or message is malformed */
  LIBDL_ERROR_BACKEND = 402,     /**< a backend plugin is missing, of another build, or failed */
  LIBDL_ERROR_CALLBACK = 403,    /**< a callback failed; see the payload or the cause */
  LIBDL_ERROR_UNSUPPORTED = 500, /**< not offered by this version */
  LIBDL_ERROR_INTERNAL = 501     /**< a defect of libdl: please report it */
};

LIBDL_BEGIN

/** Makes an error, for callbacks and wrappers.
 *
 *  code             one of the constants; anything else becomes VALUE
 *  message          text of message_length bytes, or NUL-terminated if message_length is -1
 *  payload          any pointer of the host's, for libdl_error_get_payload, or NULL
 *  payload_destroy  runs once on the payload when the last reference is released, on any thread, or
 *                   NULL
 *
 *  Never returns NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_error *libdl_error_new(libdl_error_code code, const char *message,
                                                 int64_t message_length,
                                                 LIBDL_NULLABLE void *payload,
                                                 void (*payload_destroy)(void *payload));

/** Adds a reference and returns the same error. NULL stays NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_error *libdl_error_retain(libdl_error *error);

/** Releases one reference; NULL is allowed. Threads: free. */
LIBDL_API void libdl_error_release(libdl_error *error);

/** The code; LIBDL_OK for NULL. Threads: free. */
LIBDL_API libdl_error_code libdl_error_get_code(const libdl_error *error);

/** The full message, NUL-terminated, valid as long as the error; "" for NULL. Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_error_get_message(const libdl_error *error);

/** The operator or function that failed ("add"), or "". Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_error_get_operator(const libdl_error *error);

/** The failing argument's number, counted from 1, or 0 if no argument is at fault.
 *  Threads: free. */
LIBDL_API int32_t libdl_error_get_argument(const libdl_error *error);

/** The failing argument's parameter name ("other"), or "". Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_error_get_argument_name(const libdl_error *error);

/** What was found and what was expected, as worded in the message, or "". Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_error_get_found(const libdl_error *error);
LIBDL_API LIBDL_BORROWED const char *libdl_error_get_wanted(const libdl_error *error);

/** Whether the error belongs to earlier work that a device did asynchronously. Threads: free. */
LIBDL_API libdl_bool libdl_error_is_asynchronous(const libdl_error *error);

/** The error that caused this one, or NULL. Threads: free. */
LIBDL_API LIBDL_BORROWED const libdl_error *libdl_error_get_cause(const libdl_error *error);

/** The pointer given to libdl_error_new, or NULL; libdl passes it on unchanged.
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED void *libdl_error_get_payload(const libdl_error *error);

LIBDL_END

#endif
