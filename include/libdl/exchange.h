/* SPDX-License-Identifier: Apache-2.0 */

/** Sharing memory with others: access to a tensor's bytes, tensors over host memory, DLPack.
 *
 *  The structs of DLPack 1.3 are only declared here; to access their members, include upstream's
 *  dlpack.h before or after this header. A tensor made from foreign memory keeps that memory until
 *  its storage is freed, on whichever thread that happens.
 *
 *  libdl notices writes by others when their access ends: at unmap, or when the deleter of an
 *  exported struct runs. That counts as a write and raises the version. The exception is a value
 *  saved for backward: its bytes are compared (by a 64-bit fingerprint, on the CPU). If they are
 *  unchanged, the version stays; if they have changed, backward reports the value as overwritten,
 *  even while the access still lasts. */
#ifndef LIBDL_EXCHANGE_H
#define LIBDL_EXCHANGE_H

#include <libdl/abi.h>
#include <libdl/device.h>
#include <libdl/dtype.h>

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/** One of the LIBDL_ACCESS_ constants. */
typedef int32_t libdl_access;

enum {
  LIBDL_ACCESS_READ = 1, /**< the bytes are only read */
  LIBDL_ACCESS_WRITE = 2 /**< the bytes are read and written */
};

/** One of the LIBDL_COPY_ constants. */
typedef int32_t libdl_copy_policy;

enum {
  LIBDL_COPY_IF_NEEDED = 0, /**< share the memory where that is possible */
  LIBDL_COPY_ALWAYS = 1,    /**< never share */
  LIBDL_COPY_NEVER = 2      /**< share, or fail */
};

/** Access to a tensor's bytes, from libdl_tensor_map to libdl_tensor_unmap. */
typedef struct libdl_mapping libdl_mapping;

/** How a tensor is exported. If all members but struct_size are 0: shared, as version 1.3. */
typedef struct libdl_dlpack_options {
  uint32_t struct_size;   /**< sizeof(libdl_dlpack_options) */
  libdl_copy_policy copy; /**< whether to copy; a host number is always copied */
  int64_t stream;         /**< the consumer's stream, numbered as in Python's __dlpack__: 0: none
                               given, -1: do not wait. On the CPU only these two */
  uint32_t max_major;     /**< the highest version that the consumer supports; 0.0 for any */
  uint32_t max_minor;
  libdl_device device;  /**< the device that the consumer wants; type 0 for the tensor's own */
  libdl_bool detach;    /**< export a tensor that requires grad, without its history */
  libdl_bool read_only; /**< promise that the consumer does not write */
} libdl_dlpack_options;

LIBDL_BEGIN

/** Sets struct_size, and all else to 0, the default. NULL is ignored. Threads: free. */
LIBDL_API void libdl_dlpack_options_init(libdl_dlpack_options *options);

/** Gives the host access to the tensor's bytes until libdl_tensor_unmap. Until then the memory
 *  stays valid and in place, whatever happens to the tensor.
 *
 *  access  LIBDL_ACCESS_READ, or LIBDL_ACCESS_WRITE
 *  data    the first element; the tensor's strides locate the others. Must not be read if there are
 *          no elements
 *  out     a handle for libdl_tensor_unmap
 *
 *  Errors: NULL, KIND, EMPTIED, VALUE (access is not a LIBDL_ACCESS_ constant; writing to a host
 *  number), READ_ONLY.
 *  Threads: concurrent-read; for writing, exclusive until unmap. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_map(const libdl_tensor *tensor,
                                                        libdl_access access,
                                                        LIBDL_BORROWED void **data,
                                                        LIBDL_NEW libdl_mapping **out);

/** Ends an access; NULL is allowed. Access for writing counts as a write now, except as described
 *  above.
 *  Threads: free. */
LIBDL_API void libdl_tensor_unmap(LIBDL_STEALS libdl_mapping *mapping);

/** The raw pointer to the first element, for callers that cannot tell when they are done with it.
 *
 *  A pointer for reading is valid until the storage is next written to, through any alias: call
 *  this again then. A pointer for writing is valid as long as the storage. From then on libdl must
 *  expect writes that it does not see: it compares a packed form of the storage with the bytes
 *  before each use, and cannot report that a value saved for backward was overwritten. Prefer
 *  libdl_tensor_map.
 *
 *  Errors: NULL, KIND, EMPTIED, VALUE (access is not a LIBDL_ACCESS_ constant; writing to a host
 *  number), READ_ONLY.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_data(const libdl_tensor *tensor,
                                                         libdl_access access,
                                                         LIBDL_BORROWED void **out);

/** A tensor over host memory, without a copy.
 *
 *  data, bytes  the memory; aligned to the dtype's real type
 *  shape, ndim  the sizes
 *  strides      in elements, strides_count of them, one for each dimension; may be negative; NULL:
 *               row-major
 *  offset       elements from data to element 0
 *  dtype        a dtype; bytes of a bool tensor are 0 or 1
 *  read_only    promises that nobody, libdl included, writes to the memory while the tensor lives;
 *               otherwise both sides may write to it, in turn
 *  destroy      runs once with ctx when the memory is no longer needed, on any thread, and also if
 *               this call fails; or NULL
 *
 *  Errors: NULL, VALUE (bytes negative, misaligned, sizes negative, elements outside the memory),
 *  DTYPE, SHAPE (strides_count, more than 64 dimensions), OVERFLOW.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_from_memory(
    void *data, int64_t bytes, const int64_t *shape, int32_t ndim,
    LIBDL_NULLABLE const int64_t *strides, int32_t strides_count, int64_t offset, libdl_dtype dtype,
    libdl_bool read_only, LIBDL_NULLABLE void *ctx, LIBDL_NULLABLE void (*destroy)(void *ctx),
    LIBDL_NEW libdl_tensor **out);

/** Writes the elements, in row-major order, to the caller's buffer.
 *
 *  data, bytes  the buffer; exactly as many bytes as the elements take
 *
 *  Errors: NULL, KIND, EMPTIED, VALUE (bytes).
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_copy_out(const libdl_tensor *tensor, void *data,
                                                             int64_t bytes);

/** Replaces the elements by the caller's, which are in row-major order. Not recorded.
 *
 *  data, bytes  exactly as many bytes as the elements take; those of a bool tensor are 0 or 1
 *
 *  Errors: NULL, KIND, EMPTIED, VALUE (bytes; a host number), READ_ONLY, OVERLAP (the tensor
 *  overlaps itself), AUTOGRAD (it requires grad, and recording is on).
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_copy_in(libdl_tensor *tensor, const void *data,
                                                            int64_t bytes);

/** Exports a tensor as a DLPack 1 struct. The struct keeps the storage alive; its deleter may be
 *  called on any thread and takes no lock of a host language. Strides are never NULL, byte_offset
 *  is 0, data is NULL if there are no elements. Read-only memory has the read-only flag set, and a
 *  copy the copied flag.
 *
 *  options  or NULL for the default
 *
 *  Errors: NULL, KIND, EMPTIED, OPTION, VALUE (options; a host number that may not be copied),
 *  DEVICE (another device is requested), AUTOGRAD (it requires grad, and detach is not set),
 *  UNSUPPORTED (max_major and max_minor are below 1.0).
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_to_dlpack(
    const libdl_tensor *tensor, LIBDL_NULLABLE const libdl_dlpack_options *options,
    LIBDL_NEW struct DLManagedTensorVersioned **out);

/** The same with the unversioned struct from before DLPack 1, for consumers that support no other.
 *  It has no flags, so read-only memory is refused. max_major and max_minor are ignored.
 *
 *  Errors: as libdl_tensor_to_dlpack; READ_ONLY.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_to_dlpack_unversioned(
    const libdl_tensor *tensor, LIBDL_NULLABLE const libdl_dlpack_options *options,
    LIBDL_NEW struct DLManagedTensor **out);

/** A tensor over another library's memory. The struct's deleter runs once: when the storage is
 *  freed, on any thread, or before this call returns if the elements were copied or the call fails.
 *  If the struct has another major version, only its deleter is used.
 *
 *  managed  taken over, also on failure
 *  copy     whether to copy; memory that is not aligned for its elements is copied, or refused if
 *           copying is forbidden
 *
 *  Errors: NULL, VALUE (copy; misaligned; negative sizes), UNSUPPORTED (another major version),
 *  DTYPE (not a dtype of libdl, or several lanes), DEVICE, SHAPE (dimensions), OVERFLOW.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_from_dlpack(
    LIBDL_STEALS struct DLManagedTensorVersioned *managed, libdl_copy_policy copy,
    LIBDL_NEW libdl_tensor **out);

/** The same for the unversioned struct from before DLPack 1. Errors: as libdl_tensor_from_dlpack.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_from_dlpack_unversioned(
    LIBDL_STEALS struct DLManagedTensor *managed, libdl_copy_policy copy,
    LIBDL_NEW libdl_tensor **out);

/** Fills a DLTensor without allocating. It points into the tensor and is valid as long as the
 *  caller keeps the tensor alive and its shape does not change. If access is for writing, this call
 *  counts as a write. For the DLPack exchange table of a host language.
 *
 *  dl_tensor  points to a DLTensor
 *
 *  Errors: NULL, KIND, EMPTIED, VALUE (access is not a LIBDL_ACCESS_ constant; a host number),
 *  READ_ONLY, AUTOGRAD (it requires grad).
 *  Threads: concurrent-read; for writing, exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_borrow_dlpack(const libdl_tensor *tensor,
                                                                  libdl_access access,
                                                                  void *dl_tensor);

/** A new uninitialised tensor with a prototype's shape, dtype and device, already exported. The
 *  prototype's data and strides are ignored. For a DLPack exchange table.
 *
 *  prototype  points to a DLTensor
 *
 *  Errors: NULL, DTYPE, DEVICE, SHAPE, VALUE, OVERFLOW, OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dlpack_allocate(
    const void *prototype, LIBDL_NEW struct DLManagedTensorVersioned **out);

/** The stream on which the calling thread's work for a device runs; NULL for the CPU. For a DLPack
 *  exchange table.
 *
 *  Errors: NULL, DEVICE (there is no such device).
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dlpack_current_stream(int32_t device_type,
                                                                   int32_t device_index,
                                                                   LIBDL_BORROWED void **out);

LIBDL_END

#endif
