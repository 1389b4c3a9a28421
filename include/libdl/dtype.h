/* SPDX-License-Identifier: Apache-2.0 */

/** Element types. The numbers are part of the ABI and never change. */
#ifndef LIBDL_DTYPE_H
#define LIBDL_DTYPE_H

#include <libdl/abi.h>

/** One of the LIBDL_DTYPE_ constants. */
typedef int32_t libdl_dtype;

enum {
  LIBDL_DTYPE_NONE = 0, /**< absent: the operator's own choice */
  LIBDL_DTYPE_BOOL = 1,
  LIBDL_DTYPE_UINT8 = 2,
  LIBDL_DTYPE_UINT16 = 3,
  LIBDL_DTYPE_UINT32 = 4,
  LIBDL_DTYPE_UINT64 = 5,
  LIBDL_DTYPE_INT8 = 6,
  LIBDL_DTYPE_INT16 = 7,
  LIBDL_DTYPE_INT32 = 8,
  LIBDL_DTYPE_INT64 = 9,
  LIBDL_DTYPE_FLOAT16 = 10,
  LIBDL_DTYPE_BFLOAT16 = 11,
  LIBDL_DTYPE_FLOAT32 = 12,
  LIBDL_DTYPE_FLOAT64 = 13,
  LIBDL_DTYPE_COMPLEX64 = 14,
  LIBDL_DTYPE_COMPLEX128 = 15
};

LIBDL_BEGIN

/** The dtype's name ("float32"), or "?" if it is not a dtype.
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_dtype_name(libdl_dtype dtype);

/** The size of one element in bytes, or 0 if it is not a dtype.
 *  Threads: free. */
LIBDL_API int64_t libdl_dtype_size(libdl_dtype dtype);

/** The dtype to which a and b are promoted, by dtype alone (whether an operand is 0-d or a host
 *  number is not considered).
 *  Errors: DTYPE (either is not a dtype).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dtype_promote(libdl_dtype a, libdl_dtype b,
                                                           libdl_dtype *out);

/** Whether values of `from` may be stored into an existing tensor of `to`: the width may shrink,
 *  but complex to real, floating to integer and number to bool are not allowed.
 *  Errors: DTYPE (either is not a dtype).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dtype_can_cast(libdl_dtype from, libdl_dtype to,
                                                            libdl_bool *out);

LIBDL_END

#endif
