/* SPDX-License-Identifier: Apache-2.0 */

/** Texts that the library makes for its caller, and tensors as text. */
#ifndef LIBDL_TEXT_H
#define LIBDL_TEXT_H

#include <libdl/abi.h>

/** A run of bytes, usually UTF-8. */
typedef struct libdl_text libdl_text;

LIBDL_BEGIN

/** The bytes, followed by a NUL, alive as long as the text; "" for NULL. Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_text_data(const libdl_text *text);

/** How many bytes, the NUL not counted; 0 for NULL. Threads: free. */
LIBDL_API int64_t libdl_text_length(const libdl_text *text);

/** Gives the text up; NULL is allowed. Threads: free. */
LIBDL_API void libdl_text_release(libdl_text *text);

LIBDL_END

#endif
