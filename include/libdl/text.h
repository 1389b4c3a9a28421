/* SPDX-License-Identifier: Apache-2.0 */

/** Texts that the library returns to its caller, and tensors as text. */
#ifndef LIBDL_TEXT_H
#define LIBDL_TEXT_H

#include <libdl/abi.h>

/** A sequence of bytes, usually UTF-8. */
typedef struct libdl_text libdl_text;

/** How a tensor is written. If all members but struct_size are 0: as PyTorch does by default. */
typedef struct libdl_print_options {
  uint32_t struct_size; /**< sizeof(libdl_print_options) */
  int32_t precision;    /**< digits after the decimal point, at most 1000; 0 means 4, -1 none */
  int64_t threshold;    /**< tensors with more elements are summarized; 0 means 1000, -1 none */
  int64_t edgeitems;    /**< shown at either end of a summarized dimension; 0 means 3, -1 none */
  int64_t linewidth;    /**< 0 means 80 */
  int32_t sci_mode;     /**< scientific notation: 0 chosen by the elements, 1 always, -1 never */
  int32_t reserved;     /**< 0 */
  LIBDL_NULLABLE const char *dtype_prefix; /**< before a dtype's name; NULL means "libdl." */
  LIBDL_NULLABLE const char *grad_fn;      /**< the operation's name; NULL means the one from the
                                                history, in PyTorch's spelling ("AddBackward0") */
} libdl_print_options;

LIBDL_BEGIN

/** Sets struct_size, and the defaults: precision 4, threshold 1000, edgeitems 3, linewidth 80,
 *  all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_print_options_init(libdl_print_options *options);

/** The bytes, followed by a NUL, valid as long as the text; "" for NULL. Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_text_data(const libdl_text *text);

/** The number of bytes, without the NUL; 0 for NULL. Threads: free. */
LIBDL_API int64_t libdl_text_length(const libdl_text *text);

/** Releases the text; NULL is allowed. Threads: free. */
LIBDL_API void libdl_text_release(libdl_text *text);

/** Writes a tensor as PyTorch's repr does:
 *
 *    tensor([[1.0000, 2.5000],
 *            [0.0000,    inf]], dtype=libdl.float64, requires_grad=True)
 *
 *  options  or NULL for the default
 *
 *  Errors: NULL, KIND, EMPTIED, OPTION, VALUE (options), DEVICE (the tensor is not on the CPU),
 *  OUT_OF_MEMORY.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_to_string(
    const libdl_tensor *tensor, LIBDL_NULLABLE const libdl_print_options *options,
    LIBDL_NEW libdl_text **out);

LIBDL_END

#endif
