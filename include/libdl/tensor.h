/* SPDX-License-Identifier: Apache-2.0 */

/** Tensor handles: reference counts, metadata, host numbers, and the host's own object for a
 *  handle.
 *
 *  Plain getters never fail: for NULL, another kind of handle, or a handle whose scope has ended
 *  they return 0, NULL or LIBDL_DTYPE_NONE. They cost a few nanoseconds.
 *  Threads: metadata never changes under a concurrent reader; every getter is free. */
#ifndef LIBDL_TENSOR_H
#define LIBDL_TENSOR_H

#include <libdl/device.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Adds a reference and returns the same handle. NULL stays NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_tensor *libdl_tensor_retain(libdl_tensor *tensor);

/** Releases one reference; the last one frees storage and history at once. NULL is allowed.
 *  Threads: free. */
LIBDL_API void libdl_tensor_release(libdl_tensor *tensor);

/* -- metadata ------------------------------------------------------------------------------- */

/** The number of dimensions, 0 to 64. Threads: free. */
LIBDL_API int32_t libdl_tensor_ndim(const libdl_tensor *tensor);

/** The sizes, ndim of them, valid as long as the handle; for 0-d a pointer that must not be read.
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const int64_t *libdl_tensor_shape(const libdl_tensor *tensor);

/** The strides in elements, ndim of them, valid as long as the handle. Threads: free. */
LIBDL_API LIBDL_BORROWED const int64_t *libdl_tensor_strides(const libdl_tensor *tensor);

/** The number of elements. Threads: free. */
LIBDL_API int64_t libdl_tensor_numel(const libdl_tensor *tensor);

/** The element type. Threads: free. */
LIBDL_API libdl_dtype libdl_tensor_dtype(const libdl_tensor *tensor);

/** Where the bytes are; {0, 0} if it is not a tensor. Threads: free. */
LIBDL_API libdl_device libdl_tensor_device(const libdl_tensor *tensor);

/** Elements between the storage's start and the first element. Threads: free. */
LIBDL_API int64_t libdl_tensor_storage_offset(const libdl_tensor *tensor);

/** Bytes of the whole storage, which views share; 0 for host numbers. Threads: free. */
LIBDL_API int64_t libdl_tensor_storage_nbytes(const libdl_tensor *tensor);

/** A number that identifies the storage while it lives; tensors that share it have the same one.
 *  Threads: free. */
LIBDL_API uint64_t libdl_tensor_storage_id(const libdl_tensor *tensor);

/** How often the storage has been written to; views and detached aliases share it.
 *  Threads: free. */
LIBDL_API uint64_t libdl_tensor_version(const libdl_tensor *tensor);

/** Whether the elements are row-major without gaps. Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_contiguous(const libdl_tensor *tensor);

/** Whether it is a host number, made by libdl_number_f64 and its siblings. Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_number(const libdl_tensor *tensor);

/** Whether it was made in inference mode, and so can never be recorded. Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_inference(const libdl_tensor *tensor);

/** Whether the handle's scope has ended: every call but retain and release then fails with EMPTIED.
 *  Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_emptied(const libdl_tensor *tensor);

/** Whether the memory must not be written (an imported read-only buffer). Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_read_only(const libdl_tensor *tensor);

/** Whether it is sparse: a matrix that holds few rows and is 0 in all others, as the gradient of a
 *  table read with sparse=True. libdl_sparse_rows returns the rows; to everything else it is a
 *  matrix like others. A sum of two, a multiple, a copy, and what clipping makes of one are sparse
 *  again; another write, or a writable mapping of the bytes, ends it.
 *  Threads: concurrent-read. */
LIBDL_API libdl_bool libdl_tensor_is_sparse(const libdl_tensor *tensor);

/** Whether the elements are in pinned memory of the host (libdl_pin_memory). Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_pinned(const libdl_tensor *tensor);

/** Whether two elements may share an address, as after expand. Threads: free. */
LIBDL_API libdl_bool libdl_tensor_overlaps_itself(const libdl_tensor *tensor);

/** A new reference to the tensor that this one is a view of, or NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_tensor *libdl_tensor_base(const libdl_tensor *tensor);

/** The same elements without history, as libdl_detach returns them, but writes through the alias or
 *  its views do not count as overwriting what was saved of other tensors: backward then computes
 *  with the new elements. This is Python's Tensor.data.
 *  Errors: OUT_OF_MEMORY. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_alias_data(const libdl_tensor *tensor,
                                                               LIBDL_NEW libdl_tensor **out);

/** Gives `tensor` the storage, geometry and dtype of `source`, which keeps its own. The history
 *  stays, and aliases made before keep the old storage. In backward, gradients are summed to the
 *  shape in the history, or refused (AUTOGRAD). A view that gets another storage, or its bytes as
 *  another dtype, is no longer a view. Views of `tensor` made before that do not see its new
 *  elements keep the history that they had when they were last used; they fail with AUTOGRAD if
 *  they are written in place while recording, or if a recorded write to `tensor` came in between.
 *
 *  Errors: AUTOGRAD (tensor requires grad and source's dtype is integer), VALUE (a number; the
 *  shape changes and tensor is a leaf whose gradient has been accumulated), DEVICE.
 *  Threads: exclusive (tensor). */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_set_data(libdl_tensor *tensor,
                                                             const libdl_tensor *source);

/** Makes `tensor` what `view`, a view of it, is: the view's geometry over the same elements, and
 *  the history of the view's call behind its own. `view` stays as it is. So a tensor is transposed
 *  in place while recording. Views of `tensor` made before remain its views. Hooks that it had stay
 *  with the gradient of the old geometry; one that it retains is that of the new one, and .grad is
 *  cleared. `view` may be `tensor` itself, and then nothing changes.
 *
 *  Errors: VALUE (a number; view is no view of tensor, or of its bytes as another dtype; tensor is
 *  a view itself), AUTOGRAD (tensor is a leaf that requires grad; the view was made while nothing
 *  was recorded, or before tensor was written). Threads: exclusive (tensor). */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_become_view(libdl_tensor *tensor,
                                                                const libdl_tensor *view);

/** A stand-in for one slice of `batch` along dimension 0: a new tensor with a slice's sizes,
 *  strides, dtype and device, and without elements. The questions above about these answer for it.
 *  An operator that is composed of others (its comment says so) takes it, and shows each of these
 *  to interceptors, which may answer in their place; every other call fails with EMPTIED, whatever
 *  it would read or write. A host that computes with all slices at once shows its users such a
 *  tensor, and an interceptor or the host itself finds the batch that belongs to it. `batch` may be
 *  a stand-in.
 *
 *  Errors: NULL, KIND, EMPTIED, SHAPE (batch has no dimension), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_stand_in(const libdl_tensor *batch,
                                                             LIBDL_NEW libdl_tensor **out);

/* -- host numbers ---------------------------------------------------------------------------- */

/** Host numbers as operands: 0-d, without a storage, and weakest in promotion (only their kind
 *  counts). They are released like any tensor; they cannot be a destination, the source of a view,
 *  or a leaf.
 *
 *  Errors: OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_number_f64(double value, LIBDL_NEW libdl_tensor **out);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_number_i64(int64_t value,
                                                        LIBDL_NEW libdl_tensor **out);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_number_bool(libdl_bool value,
                                                         LIBDL_NEW libdl_tensor **out);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_number_c128(double real, double imag,
                                                         LIBDL_NEW libdl_tensor **out);

/* -- lists ------------------------------------------------------------------------------------ */

/** The number of tensors in a list; 0 for NULL. Threads: free. */
LIBDL_API int64_t libdl_tensor_list_count(const libdl_tensor_list *list);

/** Entry `index`, a new reference; NULL where the index is out of range or the entry is absent
 *  (the gradient of an unused input). Threads: free. */
LIBDL_API LIBDL_NEW libdl_tensor *libdl_tensor_list_get(const libdl_tensor_list *list,
                                                        int64_t index);

/** Releases the list and its references; NULL is allowed. Threads: free. */
LIBDL_API void libdl_tensor_list_release(libdl_tensor_list *list);

/** Passes an array of libdl_tensor pointers to a function that only reads the tensors: the
 *  conversion is safe, but C (unlike C++) requires a cast. An array of any other type causes a
 *  warning. */
#define LIBDL_READ_ONLY(tensors) \
  ((const libdl_tensor *const *)(1 ? (tensors) : (libdl_tensor *const *)0))

/* -- the host's object ------------------------------------------------------------------------ */

/** The number of a language runtime. A runtime may attach an object to a handle, so that the same
 *  handle always appears as the same object while that object lives. Each runtime of the process
 *  has its own number: 0 is the fastest, and Python's; a program that knows all its runtimes may
 *  choose 1 to 3 for the others; libdl_host_new allocates any number of further ones. */
enum { LIBDL_HOST_PYTHON = 0 };

/** Allocates a number for one more runtime, unique for the life of the process.
 *  Errors: NULL. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_host_new(int32_t *out);

/** The object of runtime `host`, or NULL. The library never touches it. Threads: exclusive per
 *  runtime (Python: under its lock). */
LIBDL_API LIBDL_BORROWED void *libdl_tensor_host_object(const libdl_tensor *tensor, int32_t host);

/** Sets or clears (NULL) the object. The object's finaliser must clear it before it releases the
 *  handle. Errors: VALUE (no such runtime), OUT_OF_MEMORY.
 *  Threads: exclusive per runtime. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_set_host_object(libdl_tensor *tensor,
                                                                    int32_t host, void *object);

/** The number of references to the handle, for runtimes that decide whether the object keeps the
 *  handle alive or the handle the object.
 *  Threads: free. */
LIBDL_API uint32_t libdl_tensor_use_count(const libdl_tensor *tensor);

LIBDL_END

#endif
