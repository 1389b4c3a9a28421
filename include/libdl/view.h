/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that return the same memory in another shape.
 *
 *  A view shares storage and version with its input: writing one writes the other. Each view is
 *  checked against the storage's extent. A host number cannot be the source of a view (VALUE). */
#ifndef LIBDL_VIEW_H
#define LIBDL_VIEW_H

#include <libdl/abi.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** The same elements in another shape, without a copy.
 *
 *  input  any, with strides that allow the shape; its own shape always does
 *  shape  sizes; one may be -1: what is left
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (two sizes of -1 or one below -1), SHAPE (a different number of elements, strides
 *  that would need a copy: see libdl_reshape).
 *  Threads: concurrent-read.
 *  Python: view(input, *shape) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view(const libdl_tensor *input, const int64_t *shape,
                                                  int32_t ndim, LIBDL_NEW libdl_tensor **out);

/** The same bytes read as another dtype.
 *
 *  input  any; of another element size, then the last dimension is contiguous and grows or shrinks
 *  dtype  the new element type
 *  out    a view of input
 *
 *  Gradient: none where the dtype differs; raises AUTOGRAD if one is needed.
 *  Errors: DTYPE (no dtype), SHAPE (the last dimension does not divide, is not contiguous, or the
 *  tensor is 0-d and the element size differs), AUTOGRAD (input requires grad and the dtype
 *  differs).
 *  Threads: concurrent-read.
 *  Python: view(input, dtype) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_dtype(const libdl_tensor *input,
                                                        libdl_dtype dtype,
                                                        LIBDL_NEW libdl_tensor **out);

/** The same elements in another shape, as a view where strides allow it, else as a copy.
 *
 *  input  any
 *  shape  sizes; one may be -1: what is left
 *  out    a view of input, or new and contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (two sizes of -1 or one below -1), SHAPE (a different number of elements).
 *  Threads: concurrent-read.
 *  Python: reshape(input, shape) [function]
 *  Python: reshape(input, *shape) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_reshape(const libdl_tensor *input,
                                                     const int64_t *shape, int32_t ndim,
                                                     LIBDL_NEW libdl_tensor **out);

/** Two dimensions exchanged.
 *
 *  input  any
 *  dim0   from -ndim to ndim - 1
 *  dim1   from -ndim to ndim - 1
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range).
 *  Threads: concurrent-read.
 *  Python: transpose(input, dim0, dim1) [function, method]
 *  Python: swapaxes(input, axis0, axis1) [function, method]
 *  Python: swapdims(input, dim0, dim1) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_transpose(const libdl_tensor *input, int32_t dim0,
                                                       int32_t dim1, LIBDL_NEW libdl_tensor **out);

/** The dimensions in another order.
 *
 *  input  any
 *  dims   every dimension once: the result's dimension i is input's dims[i]
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range or named twice), SHAPE (not as many as input has).
 *  Threads: concurrent-read.
 *  Python: permute(input, dims) [function]
 *  Python: permute(input, *dims) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_permute(const libdl_tensor *input, const int64_t *dims,
                                                     int32_t ndims, LIBDL_NEW libdl_tensor **out);

/** Some dimensions moved to other places; the rest keep their order.
 *
 *  input        any
 *  source       which dimensions
 *  destination  where each goes, as many as source
 *  out          a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range or named twice), SHAPE (differing numbers of
 *  dimensions).
 *  Threads: concurrent-read.
 *  Python: movedim(input, source, destination) [function, method]
 *  Python: moveaxis(input, source, destination) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_movedim(const libdl_tensor *input,
                                                     const int64_t *source, int32_t source_count,
                                                     const int64_t *destination,
                                                     int32_t destination_count,
                                                     LIBDL_NEW libdl_tensor **out);

/** The transposed matrix; tensors of fewer dimensions are returned as they are.
 *
 *  input  any, ndim <= 2
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (ndim > 2).
 *  Threads: concurrent-read.
 *  Python: t(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_t(const libdl_tensor *input,
                                               LIBDL_NEW libdl_tensor **out);

/** Dimensions of size 1 removed.
 *
 *  input  any
 *  dims   which, where their size is 1; NULL: all of size 1
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range or named twice).
 *  Threads: concurrent-read.
 *  Python: squeeze(input, dim=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_squeeze(const libdl_tensor *input,
                                                     LIBDL_NULLABLE const int64_t *dims,
                                                     int32_t ndims, LIBDL_NEW libdl_tensor **out);

/** A dimension of size 1 inserted.
 *
 *  input  any, ndim < 64
 *  dim    its place in the result, from -ndim - 1 to ndim
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (64 dimensions already).
 *  Threads: concurrent-read.
 *  Python: unsqueeze(input, dim) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unsqueeze(const libdl_tensor *input, int32_t dim,
                                                       LIBDL_NEW libdl_tensor **out);

/** Dimensions of size 1 repeated without a copy (stride 0), and new ones in front.
 *
 *  input  any
 *  shape  sizes, at least as many as input has; -1 keeps input's
 *  out    a view of input whose elements share memory: clone it before writing
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (fewer sizes than dimensions, a size that differs from one that is not 1, -1 for
 *  a new dimension).
 *  Threads: concurrent-read.
 *  Python: expand(input, *shape) [method]
 *  Python: broadcast_to(input, size) [function]
 *  Python: broadcast_to(input, *size) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_expand(const libdl_tensor *input, const int64_t *shape,
                                                    int32_t ndim, LIBDL_NEW libdl_tensor **out);

/** The elements at one index of a dimension, which is removed.
 *
 *  input  any, ndim >= 1
 *  dim    from -ndim to ndim - 1
 *  index  from -size to size - 1
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or index out of range), SHAPE (0-d input).
 *  Threads: concurrent-read.
 *  Python: select(input, dim, index) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_select(const libdl_tensor *input, int32_t dim,
                                                    int64_t index, LIBDL_NEW libdl_tensor **out);

/** A contiguous range of a dimension's indices.
 *
 *  input   any, ndim >= 1
 *  dim     from -ndim to ndim - 1
 *  start   the first, from -size to size
 *  length  how many, >= 0
 *  out     a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or start out of range, a negative length, or the range passes the end), SHAPE
 *  (0-d input).
 *  Threads: concurrent-read.
 *  Python: narrow(input, dim, start, length) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_narrow(const libdl_tensor *input, int32_t dim,
                                                    int64_t start, int64_t length,
                                                    LIBDL_NEW libdl_tensor **out);

/** Every step-th index of a dimension from start to end, as Python's slice start:end:step.
 *
 *  input  any, ndim >= 1
 *  dim    from -ndim to ndim - 1
 *  start  the first, negative counts from the end, clamped; NULL: 0
 *  end    where to stop, likewise; NULL: the dimension's size
 *  step   >= 1
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (0-d input), VALUE (step < 1).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_slice(const libdl_tensor *input, int32_t dim,
                                                   LIBDL_NULLABLE const int64_t *start,
                                                   LIBDL_NULLABLE const int64_t *end, int64_t step,
                                                   LIBDL_NEW libdl_tensor **out);

/** The elements whose indices in two dimensions differ by offset, in a new last dimension.
 *
 *  input   any, ndim >= 2
 *  offset  0: the main diagonal; positive: above it, negative: below
 *  dim1    the rows' dimension
 *  dim2    the columns' dimension, another one
 *  out     a view of input, ndim - 1 dimensions
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range, or both the same), SHAPE (ndim < 2).
 *  Threads: concurrent-read.
 *  Python: diagonal(input, offset=0, dim1=0, dim2=1) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diagonal(const libdl_tensor *input, int64_t offset,
                                                      int32_t dim1, int32_t dim2,
                                                      LIBDL_NEW libdl_tensor **out);

/** Sliding windows over a dimension, their elements in a new last dimension.
 *
 *  input      any
 *  dimension  from -ndim to ndim - 1
 *  size       elements of a window, from 0 to the dimension's size
 *  step       the distance between the starts of two windows, >= 1
 *  out        a view of input; windows may share memory
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dimension out of range), VALUE (size or step out of range).
 *  Threads: concurrent-read.
 *  Python: unfold(input, dimension, size, step) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unfold(const libdl_tensor *input, int32_t dimension,
                                                    int64_t size, int64_t step,
                                                    LIBDL_NEW libdl_tensor **out);

/** Several adjacent dimensions merged into one.
 *
 *  input      any; 0-d gives one element in 1-d
 *  start_dim  the first of them
 *  end_dim    the last of them, not before start_dim
 *  out        a view of input where strides allow it, else new
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range, or start_dim after end_dim).
 *  Threads: concurrent-read.
 *  Python: flatten(input, start_dim=0, end_dim=-1) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_flatten(const libdl_tensor *input, int32_t start_dim,
                                                     int32_t end_dim, LIBDL_NEW libdl_tensor **out);

/** One dimension split into several.
 *
 *  input  any, ndim >= 1
 *  dim    from -ndim to ndim - 1
 *  sizes  whose product is the dimension's size; one may be -1: what is left
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (the product differs, no sizes), VALUE (two sizes of -1
 *  or one below -1).
 *  Threads: concurrent-read.
 *  Python: unflatten(input, dim, sizes) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unflatten(const libdl_tensor *input, int32_t dim,
                                                       const int64_t *sizes, int32_t sizes_count,
                                                       LIBDL_NEW libdl_tensor **out);

/** Any geometry over the storage's elements.
 *
 *  input           any
 *  shape           sizes, each >= 0
 *  stride          in elements, each >= 0, as many as sizes
 *  storage_offset  the first element's place in the storage, >= 0; NULL: input's
 *  out             a view of input
 *
 *  Gradient: any order, forward mode, also where elements overlap.
 *  Errors: VALUE (a negative size or stride, or an element lies outside the storage), SHAPE
 *  (differing numbers of sizes and strides).
 *  Threads: concurrent-read.
 *  Python: as_strided(input, size, stride, storage_offset=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_as_strided(
    const libdl_tensor *input, const int64_t *shape, int32_t ndim, const int64_t *stride,
    int32_t stride_count, LIBDL_NULLABLE const int64_t *storage_offset,
    LIBDL_NEW libdl_tensor **out);

/** A complex tensor as real numbers, with both parts in a new last dimension of size 2.
 *
 *  input  complex
 *  out    a view of input, float32 or float64
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (not complex), SHAPE (64 dimensions already).
 *  Threads: concurrent-read.
 *  Python: view_as_real(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_as_real(const libdl_tensor *input,
                                                          LIBDL_NEW libdl_tensor **out);

/** Real numbers as a complex tensor, with both parts taken from the last dimension of size 2.
 *
 *  input  float32 or float64; last stride 1, the others and the storage offset even
 *  out    a view of input, complex64 or complex128
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (neither float32 nor float64), SHAPE (the last dimension is not 2 or the strides
 *  do not allow it).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: view_as_complex(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_as_complex(const libdl_tensor *input,
                                                             LIBDL_NEW libdl_tensor **out);

/** The real parts; a real tensor is returned as it is.
 *
 *  input  any
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: real(input) [function, property]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_real(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** The imaginary parts.
 *
 *  input  complex
 *  out    a view of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (not complex).
 *  Threads: concurrent-read.
 *  Python: imag(input) [function, property]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_imag(const libdl_tensor *input,
                                                  LIBDL_NEW libdl_tensor **out);

/** The same elements without history.
 *
 *  input  any
 *  out    a view of input that does not require grad
 *
 *  Gradient: none; that is its purpose.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: detach(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_detach(const libdl_tensor *input,
                                                    LIBDL_NEW libdl_tensor **out);

/** Pieces of equal size along a dimension; the last one may be smaller.
 *
 *  input       any, ndim >= 1
 *  split_size  >= 1, or 0 for an empty dimension
 *  dim         from -ndim to ndim - 1
 *  out         a new list of views of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (0-d input), VALUE (split_size < 1), LIMIT (parts).
 *  Threads: concurrent-read.
 *  Python: split(input, split_size_or_sections, dim=0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_split(const libdl_tensor *input, int64_t split_size,
                                                   int32_t dim, LIBDL_NEW libdl_tensor_list **out);

/** Pieces of given sizes along a dimension.
 *
 *  input        any, ndim >= 1
 *  split_sizes  each >= 0, their sum the dimension's size
 *  dim          from -ndim to ndim - 1
 *  out          a new list of views of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (0-d input, another sum, or a negative
 *  size).
 *  Threads: concurrent-read.
 *  Python: split(input, split_size_or_sections, dim=0) [function, method]
 *  Python: split_with_sizes(input, split_sizes, dim=0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_split_with_sizes(const libdl_tensor *input,
                                                              const int64_t *split_sizes,
                                                              int32_t split_sizes_count,
                                                              int32_t dim,
                                                              LIBDL_NEW libdl_tensor_list **out);

/** At most `chunks` pieces along a dimension, all of equal size but the last.
 *
 *  input   any, ndim >= 1
 *  chunks  >= 1
 *  dim     from -ndim to ndim - 1
 *  out     a new list of views of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (0-d input), VALUE (chunks < 1), LIMIT (chunks).
 *  Threads: concurrent-read.
 *  Python: chunk(input, chunks, dim=0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_chunk(const libdl_tensor *input, int64_t chunks,
                                                   int32_t dim, LIBDL_NEW libdl_tensor_list **out);

/** One tensor for each index of a dimension, with that dimension removed.
 *
 *  input  any, ndim >= 1
 *  dim    from -ndim to ndim - 1
 *  out    a new list of views of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (0-d input), LIMIT (more parts than memory holds).
 *  Threads: concurrent-read.
 *  Python: unbind(input, dim=0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unbind(const libdl_tensor *input, int32_t dim,
                                                    LIBDL_NEW libdl_tensor_list **out);

LIBDL_END

#endif
