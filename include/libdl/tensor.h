/* SPDX-License-Identifier: Apache-2.0 */

/** Tensor handles: life, metadata, host numbers, and the host's own object for a handle.
 *
 *  Plain getters never fail: for NULL, another kind of handle, or a handle whose scope has ended
 *  they answer 0, NULL or LIBDL_DTYPE_NONE. They cost a few nanoseconds.
 *  Threads: metadata never changes under a concurrent reader; every getter is free. */
#ifndef LIBDL_TENSOR_H
#define LIBDL_TENSOR_H

#include <libdl/device.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Adds a reference and returns the same handle. NULL stays NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_tensor *libdl_tensor_retain(libdl_tensor *tensor);

/** Gives one reference up; with the last one storage and history go at once. NULL is allowed.
 *  Threads: free. */
LIBDL_API void libdl_tensor_release(libdl_tensor *tensor);

/* -- metadata ------------------------------------------------------------------------------- */

/** The number of dimensions, 0 to 64. Threads: free. */
LIBDL_API int32_t libdl_tensor_ndim(const libdl_tensor *tensor);

/** The sizes, ndim of them, valid as long as the handle; for 0-d a pointer that is not read.
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const int64_t *libdl_tensor_shape(const libdl_tensor *tensor);

/** The strides in elements, ndim of them, valid as long as the handle. Threads: free. */
LIBDL_API LIBDL_BORROWED const int64_t *libdl_tensor_strides(const libdl_tensor *tensor);

/** The number of elements. Threads: free. */
LIBDL_API int64_t libdl_tensor_numel(const libdl_tensor *tensor);

/** The element type. Threads: free. */
LIBDL_API libdl_dtype libdl_tensor_dtype(const libdl_tensor *tensor);

/** Where the bytes are; {0, 0} for no tensor. Threads: free. */
LIBDL_API libdl_device libdl_tensor_device(const libdl_tensor *tensor);

/** Elements between the storage's start and the first element. Threads: free. */
LIBDL_API int64_t libdl_tensor_storage_offset(const libdl_tensor *tensor);

/** Bytes of the whole storage, which views share; 0 for host numbers. Threads: free. */
LIBDL_API int64_t libdl_tensor_storage_nbytes(const libdl_tensor *tensor);

/** A number that equal storages, and only they, have in common while they live. Threads: free. */
LIBDL_API uint64_t libdl_tensor_storage_id(const libdl_tensor *tensor);

/** How often the storage has been written: views and detached aliases share it. Threads: free. */
LIBDL_API uint64_t libdl_tensor_version(const libdl_tensor *tensor);

/** Row-major without gaps. Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_contiguous(const libdl_tensor *tensor);

/** A host number, made by libdl_number_f64 and its siblings. Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_number(const libdl_tensor *tensor);

/** Made in inference mode: can never be recorded. Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_inference(const libdl_tensor *tensor);

/** The handle's scope has ended: every call but retain and release answers EMPTIED.
 *  Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_emptied(const libdl_tensor *tensor);

/** The memory may not be written (an imported read-only buffer). Threads: free. */
LIBDL_API libdl_bool libdl_tensor_is_read_only(const libdl_tensor *tensor);

/** Two elements may share an address, as after expand. Threads: free. */
LIBDL_API libdl_bool libdl_tensor_overlaps_itself(const libdl_tensor *tensor);

/** The tensor that this one is a view of, a new reference, or NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_tensor *libdl_tensor_base(const libdl_tensor *tensor);

/** The same elements without history, as detach() gives them, for a host that says so itself: a
 *  write through the alias or its views does not make stale what was saved of other tensors.
 *  Backward then computes with the new elements.
 *  Errors: OUT_OF_MEMORY. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_alias_data(const libdl_tensor *tensor,
                                                               LIBDL_NEW libdl_tensor **out);

/** Gives `tensor` the storage, geometry and dtype of `source`, which keeps its own; history stays,
 *  aliases made before keep the old storage. What comes back in backward is summed to the shape
 *  that the history has, or refused (AUTOGRAD). A view that gets another storage, or its bytes as
 *  another dtype, is a view no more. Views of `tensor` made before that do not see its new
 *  elements keep the history that they had when they were last looked at; they raise AUTOGRAD
 *  where they are written in place and recorded, and where a recorded write of `tensor` came
 *  between the two.
 *
 *  Errors: AUTOGRAD (tensor requires grad and source's dtype is integer), VALUE (a number; the
 *  shape changes and tensor is a leaf whose gradient has been accumulated), DEVICE.
 *  Threads: exclusive (tensor). */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_set_data(libdl_tensor *tensor,
                                                             const libdl_tensor *source);

/* -- host numbers ---------------------------------------------------------------------------- */

/** Host numbers as operands: 0-d, weakest in promotion (only their kind counts), without a
 *  storage. They are released like any tensor; refused as destination, view source and leaf.
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

/** How many tensors a list holds; 0 for NULL. Threads: free. */
LIBDL_API int64_t libdl_tensor_list_count(const libdl_tensor_list *list);

/** Entry `index`, a new reference; NULL where the index is out of range or the entry is absent
 *  (the gradient of an unused input). Threads: free. */
LIBDL_API LIBDL_NEW libdl_tensor *libdl_tensor_list_get(const libdl_tensor_list *list,
                                                        int64_t index);

/** Gives the list up, with its references; NULL is allowed. Threads: free. */
LIBDL_API void libdl_tensor_list_release(libdl_tensor_list *list);

/** An array of libdl_tensor pointers as the functions take it that only read them: the conversion
 *  is safe, and yet C (unlike C++) asks for a cast. An array of anything else draws a warning. */
#define LIBDL_READ_ONLY(tensors) \
  ((const libdl_tensor *const *)(1 ? (tensors) : (libdl_tensor *const *)0))

/* -- the host's object ------------------------------------------------------------------------ */

/** A language runtime that keeps an object for a handle, so that the same handle comes back as the
 *  same object while that lives. Each runtime of the process has a number of its own; 0 is the
 *  fastest and Python's, a program that knows its others may choose 1 to 3, and libdl_host_new
 *  gives out as many more as are asked for. */
enum { LIBDL_HOST_PYTHON = 0 };

/** The number of one more runtime: nobody else's, for the life of the process.
 *  Errors: NULL. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_host_new(int32_t *out);

/** The object of runtime `host`, or NULL. The library never touches it. Threads: exclusive per
 *  runtime (Python: under its lock). */
LIBDL_API LIBDL_BORROWED void *libdl_tensor_host_object(const libdl_tensor *tensor, int32_t host);

/** Sets or clears (NULL) the object. Who dies first clears it: the object's finaliser before it
 *  releases the handle. Errors: VALUE (no such runtime), OUT_OF_MEMORY.
 *  Threads: exclusive per runtime. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_set_host_object(libdl_tensor *tensor,
                                                                    int32_t host, void *object);

/** The number of references to the handle, for runtimes that decide who keeps whom.
 *  Threads: free. */
LIBDL_API uint32_t libdl_tensor_use_count(const libdl_tensor *tensor);

LIBDL_END

#endif
