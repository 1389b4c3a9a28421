/* SPDX-License-Identifier: Apache-2.0 */

/** Tensors in files, in the safetensors format: names, dtypes, shapes and bytes; reading runs no
 *  code. The header is checked against the file before anything is allocated: no holes, overlaps,
 *  names twice or sizes that do not fit.
 *
 *  What is saved has no history; what is loaded does not require grad. */
#ifndef LIBDL_IO_H
#define LIBDL_IO_H

#include <libdl/abi.h>
#include <libdl/dtype.h>
#include <libdl/text.h>

/** A safetensors file that was opened for reading. */
typedef struct libdl_file libdl_file;

/** How a file is read. All zero but the first: tensors are copies. */
typedef struct libdl_file_options {
  uint32_t struct_size; /**< sizeof(libdl_file_options) */
  libdl_bool share;     /**< tensors are read-only windows on the mapped file, or on the caller's
                             memory, where elements are aligned. If a mapped file shrinks, the
                             operating system ends the process that reads behind its end */
} libdl_file_options;

LIBDL_BEGIN

/** Opens a file.
 *
 *  path     path_length bytes, or NUL-terminated if path_length is -1
 *  options  or NULL for the default
 *
 *  Errors: NULL, VALUE (path), OPTION, IO, FORMAT (no safetensors file, or a dtype that libdl does
 *  not have), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_open(
    const char *path, int64_t path_length, LIBDL_NULLABLE const libdl_file_options *options,
    LIBDL_NEW libdl_file **out);

/** Opens the file behind a descriptor, from its beginning. The descriptor stays the caller's, who
 *  may close it at once; its position is neither used nor changed.
 *
 *  Errors: as libdl_file_open.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_open_descriptor(
    int32_t descriptor, LIBDL_NULLABLE const libdl_file_options *options,
    LIBDL_NEW libdl_file **out);

/** Opens a file that is in memory.
 *
 *  data     its `bytes` bytes; nobody writes to them while they are in use
 *  destroy  runs once with ctx when the memory is no longer needed, on any thread, and also if this
 *           call fails; or NULL
 *
 *  Errors: as libdl_file_open.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_open_memory(
    const void *data, int64_t bytes, LIBDL_NULLABLE const libdl_file_options *options,
    LIBDL_NULLABLE void *ctx, LIBDL_NULLABLE void (*destroy)(void *ctx),
    LIBDL_NEW libdl_file **out);

/** Adds a reference and returns the same file. NULL stays NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_file *libdl_file_retain(libdl_file *file);

/** Gives one reference up; NULL is allowed. Shared tensors keep what they need. Threads: free. */
LIBDL_API void libdl_file_release(libdl_file *file);

/** How many tensors there are; 0 for NULL. Threads: free. */
LIBDL_API int64_t libdl_file_count(const libdl_file *file);

/** The name of tensor `index`, counted from 0 in the header's order, NUL-terminated, alive as long
 *  as the file; NULL if there is no such tensor.
 *
 *  length  its bytes, or NULL; a name may contain NUL
 *
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_file_name(const libdl_file *file, int64_t index,
                                                     LIBDL_NULLABLE int64_t *length);

/** The dtype of tensor `index`, or LIBDL_DTYPE_NONE if there is no such tensor. Threads: free. */
LIBDL_API libdl_dtype libdl_file_dtype(const libdl_file *file, int64_t index);

/** The number of dimensions of tensor `index`, or -1 if there is no such tensor. Threads: free. */
LIBDL_API int32_t libdl_file_ndim(const libdl_file *file, int64_t index);

/** The sizes of tensor `index`, alive as long as the file, or NULL if there is no such tensor.
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const int64_t *libdl_file_shape(const libdl_file *file, int64_t index);

/** The number of the tensor of that name, or -1.
 *
 *  name  name_length bytes, or NUL-terminated if name_length is -1
 *
 *  Threads: free. */
LIBDL_API int64_t libdl_file_find(const libdl_file *file, const char *name, int64_t name_length);

/** Reads tensor `index`: a copy, or where the file is shared a read-only window.
 *
 *  Errors: NULL, INDEX, IO, FORMAT (the file has shrunk), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_tensor(const libdl_file *file, int64_t index,
                                                         LIBDL_NEW libdl_tensor **out);

/** Reads the tensor of that name.
 *
 *  name  name_length bytes, or NUL-terminated if name_length is -1
 *
 *  Errors: NULL, VALUE (there is none), IO, FORMAT (the file has shrunk), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_tensor_by_name(const libdl_file *file,
                                                                 const char *name,
                                                                 int64_t name_length,
                                                                 LIBDL_NEW libdl_tensor **out);

/** How many pairs of metadata there are; 0 for NULL. Threads: free. */
LIBDL_API int64_t libdl_file_metadata_count(const libdl_file *file);

/** Key and text of the metadata's pair `index`, NUL-terminated, alive as long as the file; NULL if
 *  there is no such pair.
 *
 *  length  its bytes, or NULL
 *
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_file_metadata_key(const libdl_file *file, int64_t index,
                                                             LIBDL_NULLABLE int64_t *length);
LIBDL_API LIBDL_BORROWED const char *libdl_file_metadata_text(const libdl_file *file, int64_t index,
                                                              LIBDL_NULLABLE int64_t *length);

/** Saves tensors. The file is written beside its place, synced, and put there at once: whatever
 *  fails before that leaves an old file whole and nothing else behind. A file that is replaced
 *  hands its permissions on. Only regular files and names that do not exist are written: a folder,
 *  a device, a FIFO or a socket is refused, also where a symbolic link leads to it. Another
 *  symbolic link is itself replaced; the file that it leads to stays as it is.
 *
 *  path            path_length bytes, or NUL-terminated if path_length is -1
 *  names           a NUL-terminated UTF-8 name for each tensor, all different
 *  tensors, count  what is saved; of any strides
 *  metadata_keys, metadata_texts, metadata_count  pairs of NUL-terminated UTF-8; or NULL, NULL, 0
 *
 *  Errors: NULL, KIND, EMPTIED, VALUE (path, names, metadata), DTYPE (complex128 is not in the
 *  format), OVERFLOW, IO, OUT_OF_MEMORY.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_save(
    const char *path, int64_t path_length, const char *const *names,
    const libdl_tensor *const *tensors, int64_t count,
    LIBDL_NULLABLE const char *const *metadata_keys,
    LIBDL_NULLABLE const char *const *metadata_texts, int64_t metadata_count);

/** The same into memory: the bytes that the file would have.
 *
 *  Errors: as libdl_file_save, but for IO.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_save_memory(
    const char *const *names, const libdl_tensor *const *tensors, int64_t count,
    LIBDL_NULLABLE const char *const *metadata_keys,
    LIBDL_NULLABLE const char *const *metadata_texts, int64_t metadata_count,
    LIBDL_NEW libdl_text **out);

LIBDL_END

#endif
