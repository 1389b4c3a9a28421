/* SPDX-License-Identifier: Apache-2.0 */

/** Tensors in files, in the safetensors format: names, dtypes, shapes and bytes; reading a file
 *  executes no code from it. The header is checked against the file before anything is allocated:
 *  no holes, overlaps, duplicate names or sizes that do not fit.
 *
 *  Saved files have checksums (CRC-32) of the header and of each tensor, in a metadata pair with
 *  the key "libdl.crc32" that these functions do not show. A header that differs from what was
 *  written is refused when the file is opened, a tensor's bytes when they are read as a copy;
 *  views of a mapped file are not compared. Files without such a pair, from other programs, load
 *  as well.
 *
 *  History is not saved; loaded tensors do not require grad. */
#ifndef LIBDL_IO_H
#define LIBDL_IO_H

#include <libdl/abi.h>
#include <libdl/dtype.h>
#include <libdl/text.h>

/** A safetensors file, open for reading. */
typedef struct libdl_file libdl_file;

/** How a file is read. If all members but struct_size are 0, tensors are copies. */
typedef struct libdl_file_options {
  uint32_t struct_size; /**< sizeof(libdl_file_options) */
  libdl_bool share;     /**< tensors are read-only views of the mapped file, or of the caller's
                             memory, where elements are aligned. If a mapped file shrinks, the
                             operating system kills a process that reads past its end */
} libdl_file_options;

LIBDL_BEGIN

/** Sets struct_size, and all else to 0, the default. NULL is ignored. Threads: free. */
LIBDL_API void libdl_file_options_init(libdl_file_options *options);

/** Opens a file.
 *
 *  path     path_length bytes, or NUL-terminated if path_length is -1
 *  options  or NULL for the default
 *
 *  Errors: NULL, VALUE (path), OPTION, IO, FORMAT (not a safetensors file, or a dtype that libdl
 *  does not have), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_open(
    const char *path, int64_t path_length, LIBDL_NULLABLE const libdl_file_options *options,
    LIBDL_NEW libdl_file **out);

/** Opens the file behind a descriptor, from its beginning. The caller keeps the descriptor and may
 *  close it as soon as this call returns; its position is neither used nor changed.
 *
 *  Errors: as libdl_file_open.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_open_descriptor(
    int32_t descriptor, LIBDL_NULLABLE const libdl_file_options *options,
    LIBDL_NEW libdl_file **out);

/** Opens a file whose contents are in memory.
 *
 *  data     the file's `bytes` bytes; nobody may write to them while they are in use
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

/** Releases one reference; NULL is allowed. Shared tensors keep what they need. Threads: free. */
LIBDL_API void libdl_file_release(libdl_file *file);

/** The number of tensors; 0 for NULL. Threads: free. */
LIBDL_API int64_t libdl_file_count(const libdl_file *file);

/** The name of tensor `index`, counted from 0 in the header's order, NUL-terminated, valid as long
 *  as the file; NULL if there is no such tensor.
 *
 *  length  receives its length in bytes, or NULL; a name may contain NUL
 *
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_file_name(const libdl_file *file, int64_t index,
                                                     LIBDL_NULLABLE int64_t *length);

/** The dtype of tensor `index`, or LIBDL_DTYPE_NONE if there is no such tensor. Threads: free. */
LIBDL_API libdl_dtype libdl_file_dtype(const libdl_file *file, int64_t index);

/** The number of dimensions of tensor `index`, or -1 if there is no such tensor. Threads: free. */
LIBDL_API int32_t libdl_file_ndim(const libdl_file *file, int64_t index);

/** The sizes of tensor `index`, valid as long as the file, or NULL if there is no such tensor.
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const int64_t *libdl_file_shape(const libdl_file *file, int64_t index);

/** The index of the tensor of that name, or -1.
 *
 *  name  name_length bytes, or NUL-terminated if name_length is -1
 *
 *  Threads: free. */
LIBDL_API int64_t libdl_file_find(const libdl_file *file, const char *name, int64_t name_length);

/** Reads tensor `index`: a copy, or a read-only view if the file was opened with share.
 *
 *  Errors: NULL, INDEX, IO, FORMAT (the file has shrunk, or its bytes are not those that were
 *  saved), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_tensor(const libdl_file *file, int64_t index,
                                                         LIBDL_NEW libdl_tensor **out);

/** Reads the tensor of that name.
 *
 *  name  name_length bytes, or NUL-terminated if name_length is -1
 *
 *  Errors: NULL, VALUE (there is none), IO, FORMAT (as libdl_file_tensor), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_tensor_by_name(const libdl_file *file,
                                                                 const char *name,
                                                                 int64_t name_length,
                                                                 LIBDL_NEW libdl_tensor **out);

/** The number of metadata pairs; 0 for NULL. Threads: free. */
LIBDL_API int64_t libdl_file_metadata_count(const libdl_file *file);

/** Key and text of metadata pair `index`, NUL-terminated, valid as long as the file; NULL if there
 *  is no such pair.
 *
 *  length  its bytes, or NULL
 *
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_file_metadata_key(const libdl_file *file, int64_t index,
                                                             LIBDL_NULLABLE int64_t *length);
LIBDL_API LIBDL_BORROWED const char *libdl_file_metadata_text(const libdl_file *file, int64_t index,
                                                              LIBDL_NULLABLE int64_t *length);

/** Saves tensors. The data is written to a new file in the same folder, which has no name as long
 *  as the file system can do without (O_TMPFILE), synced, and renamed into place: a failure before
 *  that leaves an old file intact and no new one behind. A file that is replaced passes its
 *  permissions on to the new one, and owner and group where the process may give files away. A
 *  file that the process may not write is refused. Only regular files and names that do not exist
 *  are written: a folder, a device, a FIFO or a socket is refused, even behind a symbolic link.
 *  Any other symbolic link is itself replaced; the file that it points to stays as it is.
 *
 *  path            path_length bytes, or NUL-terminated if path_length is -1
 *  names           a NUL-terminated UTF-8 name for each tensor, all different
 *  tensors, count  the tensors; any strides
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

/** Saves tensors into memory: the same bytes that the file would have.
 *
 *  Errors: as libdl_file_save, except IO.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_file_save_memory(
    const char *const *names, const libdl_tensor *const *tensors, int64_t count,
    LIBDL_NULLABLE const char *const *metadata_keys,
    LIBDL_NULLABLE const char *const *metadata_texts, int64_t metadata_count,
    LIBDL_NEW libdl_text **out);

LIBDL_END

#endif
