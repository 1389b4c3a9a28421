/* SPDX-License-Identifier: Apache-2.0 */

/** Row-major copies of what the views of <libdl/view.h> show. */
#ifndef LIBDL_VIEW_COPY_H
#define LIBDL_VIEW_COPY_H

#include <libdl/abi.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** A copy of a tensor.
 *
 *  input  any
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: alias_copy(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_alias_copy(const libdl_tensor *input,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_alias_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_alias_copy_into(const libdl_tensor *input,
                                                             libdl_tensor *dst);

/** A copy of what libdl_detach shows.
 *
 *  input  any
 *  out    new, contiguous
 *
 *  Gradient: none; the copy has no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: detach_copy(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_detach_copy(const libdl_tensor *input,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_detach_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_detach_copy_into(const libdl_tensor *input,
                                                              libdl_tensor *dst);

/** A copy of what libdl_view shows.
 *
 *  input  any
 *  shape  as in libdl_view
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_view.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: view_copy(input, size) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_copy(const libdl_tensor *input,
                                                       const int64_t *shape, int32_t ndim,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_view_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_copy_into(const libdl_tensor *input,
                                                            const int64_t *shape, int32_t ndim,
                                                            libdl_tensor *dst);

/** A copy of the same bytes read as another dtype.
 *
 *  input  any
 *  dtype  the element type
 *  out    new, contiguous
 *
 *  Gradient: none where the dtype differs; raises AUTOGRAD if one is needed.
 *  Errors: DTYPE (no dtype), SHAPE (the last dimension does not divide, or is not contiguous),
 *  AUTOGRAD (input requires grad and the dtype differs).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: view_copy(input, dtype) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_dtype_copy(const libdl_tensor *input,
                                                             libdl_dtype dtype,
                                                             LIBDL_NEW libdl_tensor **out);

/** libdl_view_dtype_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_dtype_copy_into(const libdl_tensor *input,
                                                                  libdl_dtype dtype,
                                                                  libdl_tensor *dst);

/** A copy of what libdl_transpose shows.
 *
 *  input  any
 *  dim0   one of the two dimensions to exchange
 *  dim1   the other one
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_transpose.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: transpose_copy(input, dim0, dim1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_transpose_copy(const libdl_tensor *input, int32_t dim0,
                                                            int32_t dim1,
                                                            LIBDL_NEW libdl_tensor **out);

/** libdl_transpose_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_transpose_copy_into(const libdl_tensor *input,
                                                                 int32_t dim0, int32_t dim1,
                                                                 libdl_tensor *dst);

/** A copy of what libdl_permute shows.
 *
 *  input  any
 *  dims   each dimension once
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_permute.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: permute_copy(input, *dims) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_permute_copy(const libdl_tensor *input,
                                                          const int64_t *dims, int32_t ndims,
                                                          LIBDL_NEW libdl_tensor **out);

/** libdl_permute_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_permute_copy_into(const libdl_tensor *input,
                                                               const int64_t *dims, int32_t ndims,
                                                               libdl_tensor *dst);

/** A copy of what libdl_t shows.
 *
 *  input  at most 2-d
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_t.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: t_copy(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_t_copy(const libdl_tensor *input,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_t_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_t_copy_into(const libdl_tensor *input,
                                                         libdl_tensor *dst);

/** A copy of what libdl_squeeze shows.
 *
 *  input  any
 *  dims   which, where their size is 1; NULL: all of size 1
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_squeeze.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: squeeze_copy(input, dim=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_squeeze_copy(const libdl_tensor *input,
                                                          LIBDL_NULLABLE const int64_t *dims,
                                                          int32_t ndims,
                                                          LIBDL_NEW libdl_tensor **out);

/** libdl_squeeze_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_squeeze_copy_into(const libdl_tensor *input,
                                                               LIBDL_NULLABLE const int64_t *dims,
                                                               int32_t ndims, libdl_tensor *dst);

/** A copy of what libdl_unsqueeze shows.
 *
 *  input  any
 *  dim    where the new dimension stands, from -ndim - 1 to ndim
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_unsqueeze.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: unsqueeze_copy(input, dim) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unsqueeze_copy(const libdl_tensor *input, int32_t dim,
                                                            LIBDL_NEW libdl_tensor **out);

/** libdl_unsqueeze_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unsqueeze_copy_into(const libdl_tensor *input,
                                                                 int32_t dim, libdl_tensor *dst);

/** A copy of what libdl_expand shows.
 *
 *  input  any
 *  shape  as in libdl_expand
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_expand.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: expand_copy(input, *size) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_expand_copy(const libdl_tensor *input,
                                                         const int64_t *shape, int32_t ndim,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_expand_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_expand_copy_into(const libdl_tensor *input,
                                                              const int64_t *shape, int32_t ndim,
                                                              libdl_tensor *dst);

/** A copy of what libdl_select shows.
 *
 *  input  any, ndim >= 1
 *  dim    from -ndim to ndim - 1
 *  index  from -size to size - 1
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_select.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: select_copy(input, dim, index) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_select_copy(const libdl_tensor *input, int32_t dim,
                                                         int64_t index,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_select_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_select_copy_into(const libdl_tensor *input,
                                                              int32_t dim, int64_t index,
                                                              libdl_tensor *dst);

/** A copy of what libdl_narrow shows.
 *
 *  input   any, ndim >= 1
 *  dim     from -ndim to ndim - 1
 *  start   the first index; negative counts from the end
 *  length  how many
 *  out     new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_narrow.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: narrow_copy(input, dim, start, length) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_narrow_copy(const libdl_tensor *input, int32_t dim,
                                                         int64_t start, int64_t length,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_narrow_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_narrow_copy_into(const libdl_tensor *input,
                                                              int32_t dim, int64_t start,
                                                              int64_t length, libdl_tensor *dst);

/** A copy of every step-th index of a dimension from start to end.
 *
 *  input  any, ndim >= 1
 *  dim    from -ndim to ndim - 1
 *  start  the first index, negative counts from the end, clamped; NULL: 0
 *  end    where to stop, likewise; NULL: the dimension's size
 *  step   >= 1
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range, 0-d input), VALUE (step < 1).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: slice_copy(input, dim=0, start=None, end=None, step=1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_slice_copy(const libdl_tensor *input, int32_t dim,
                                                        LIBDL_NULLABLE const int64_t *start,
                                                        LIBDL_NULLABLE const int64_t *end,
                                                        int64_t step, LIBDL_NEW libdl_tensor **out);

/** libdl_slice_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_slice_copy_into(const libdl_tensor *input, int32_t dim,
                                                             LIBDL_NULLABLE const int64_t *start,
                                                             LIBDL_NULLABLE const int64_t *end,
                                                             int64_t step, libdl_tensor *dst);

/** A copy of what libdl_diagonal shows.
 *
 *  input   any, ndim >= 2
 *  offset  0: the main diagonal; positive: above it, negative: below
 *  dim1    the rows' dimension
 *  dim2    the columns' dimension, another one
 *  out     new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_diagonal.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: diagonal_copy(input, offset=0, dim1=0, dim2=1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diagonal_copy(const libdl_tensor *input,
                                                           int64_t offset, int32_t dim1,
                                                           int32_t dim2,
                                                           LIBDL_NEW libdl_tensor **out);

/** libdl_diagonal_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diagonal_copy_into(const libdl_tensor *input,
                                                                int64_t offset, int32_t dim1,
                                                                int32_t dim2, libdl_tensor *dst);

/** A copy of what libdl_unfold shows.
 *
 *  input      any
 *  dimension  from -ndim to ndim - 1
 *  size       of a window
 *  step       from one window to the next
 *  out        new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_unfold.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: unfold_copy(input, dimension, size, step) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unfold_copy(const libdl_tensor *input,
                                                         int32_t dimension, int64_t size,
                                                         int64_t step,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_unfold_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unfold_copy_into(const libdl_tensor *input,
                                                              int32_t dimension, int64_t size,
                                                              int64_t step, libdl_tensor *dst);

/** A copy of what libdl_as_strided shows.
 *
 *  input           any
 *  shape           of the result
 *  stride          in elements, one for each dimension
 *  storage_offset  the first element in input's storage; NULL: input's
 *  out             new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_as_strided.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: as_strided_copy(input, size, stride, storage_offset=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_as_strided_copy(
    const libdl_tensor *input, const int64_t *shape, int32_t ndim, const int64_t *stride,
    int32_t stride_count, LIBDL_NULLABLE const int64_t *storage_offset,
    LIBDL_NEW libdl_tensor **out);

/** libdl_as_strided_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_as_strided_copy_into(
    const libdl_tensor *input, const int64_t *shape, int32_t ndim, const int64_t *stride,
    int32_t stride_count, LIBDL_NULLABLE const int64_t *storage_offset, libdl_tensor *dst);

/** A copy of what libdl_view_as_real shows.
 *
 *  input  complex
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_view_as_real.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: view_as_real_copy(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_as_real_copy(const libdl_tensor *input,
                                                               LIBDL_NEW libdl_tensor **out);

/** libdl_view_as_real_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_as_real_copy_into(const libdl_tensor *input,
                                                                    libdl_tensor *dst);

/** A copy of what libdl_view_as_complex shows.
 *
 *  input  float32 or float64, with a last dimension of 2
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_view_as_complex.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: view_as_complex_copy(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_as_complex_copy(const libdl_tensor *input,
                                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_view_as_complex_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_view_as_complex_copy_into(const libdl_tensor *input,
                                                                       libdl_tensor *dst);

/** A copy of what libdl_split shows.
 *
 *  input       any, ndim >= 1
 *  split_size  of a part, >= 1; the last one may be smaller
 *  dim         from -ndim to ndim - 1
 *  out         a new list of new tensors, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_split.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: split_copy(input, split_size, dim=0) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_split_copy(const libdl_tensor *input,
                                                        int64_t split_size, int32_t dim,
                                                        LIBDL_NEW libdl_tensor_list **out);

/** A copy of what libdl_split_with_sizes shows.
 *
 *  input        any, ndim >= 1
 *  split_sizes  of each part
 *  dim          from -ndim to ndim - 1
 *  out          a new list of new tensors, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_split_with_sizes.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: split_with_sizes_copy(input, split_sizes, dim=0) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_split_with_sizes_copy(
    const libdl_tensor *input, const int64_t *split_sizes, int32_t split_sizes_count, int32_t dim,
    LIBDL_NEW libdl_tensor_list **out);

/** A copy of what libdl_unbind shows.
 *
 *  input  any, ndim >= 1
 *  dim    from -ndim to ndim - 1
 *  out    a new list of new tensors, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: as of libdl_unbind.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: unbind_copy(input, dim=0) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unbind_copy(const libdl_tensor *input, int32_t dim,
                                                         LIBDL_NEW libdl_tensor_list **out);

LIBDL_END

#endif
