/* SPDX-License-Identifier: Apache-2.0 */

/** Definitions that all headers of libdl share: visibility, ownership markers, versions.
 *
 *  A marker at each pointer states its ownership:
 *    LIBDL_NEW       an output that the caller owns and must release
 *    LIBDL_BORROWED  an output that stays owned by the object it came from
 *    LIBDL_STEALS    an argument whose reference the call takes, also when it fails
 *    LIBDL_NULLABLE  an argument that may be NULL (absent)
 *    LIBDL_NUMBER    a tensor argument that takes, and often is, a host number (libdl_number_f64)
 *  A const pointer without a marker is an input that the call only reads.
 *
 *  One word at each declaration states its thread safety:
 *    free             from any thread at any time
 *    concurrent-read  inputs may be read by several threads at once, outputs are the caller's alone
 *    exclusive        no other thread may use the written object during the call
 *    thread-local     acts on the calling thread's state
 *
 *  A live handle of the wrong kind is the error KIND; one that a callback returned may be TYPE or
 *  CALLBACK instead. Functions that return nothing or the handle itself ignore it, and log that.
 *
 *  Callbacks must not throw C++ exceptions. One on which a result depends, or a site hook, fails
 *  its call with INTERNAL (OUT_OF_MEMORY: std::bad_alloc); an interruption callback stops it. The
 *  exception of any other callback (a destroy, a handler) is caught and dropped.
 */
#ifndef LIBDL_ABI_H
#define LIBDL_ABI_H

#include <stddef.h>
#include <stdint.h>

#define LIBDL_VERSION_MAJOR 0
#define LIBDL_VERSION_MINOR 1
#define LIBDL_VERSION_PATCH 0

#ifdef __cplusplus
#define LIBDL_BEGIN extern "C" {
#define LIBDL_END }
#else
#define LIBDL_BEGIN
#define LIBDL_END
#endif

#if defined(SWIG) || defined(LIBDL_PARSE_ONLY)
#define LIBDL_API
#define LIBDL_NODISCARD
#elif defined(_MSC_VER)
#ifdef LIBDL_BUILDING
#define LIBDL_API __declspec(dllexport)
#else
#define LIBDL_API
#endif
#define LIBDL_NODISCARD
#else
#define LIBDL_API __attribute__((visibility("default")))
#define LIBDL_NODISCARD __attribute__((warn_unused_result))
#endif

#define LIBDL_NEW
#define LIBDL_BORROWED
#define LIBDL_STEALS
#define LIBDL_NULLABLE
#define LIBDL_NUMBER

/** A truth value: 0 is false, anything else true. Outputs are 0 or 1. */
typedef int32_t libdl_bool;

typedef struct libdl_error libdl_error;
typedef struct libdl_tensor libdl_tensor;
typedef struct libdl_tensor_list libdl_tensor_list;
typedef struct libdl_generator libdl_generator;
typedef struct libdl_state libdl_state;

#endif
