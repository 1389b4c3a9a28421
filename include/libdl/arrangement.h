/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that arrange elements anew: diagonals, grids, stacks, parts and turned matrices. */
#ifndef LIBDL_ARRANGEMENT_H
#define LIBDL_ARRANGEMENT_H

#include <libdl/abi.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Matrices of zeros whose diagonals are the vectors along input's last dimension.
 *
 *  input   any, ndim >= 1
 *  offset  which diagonal; 0: the main one, positive: above it, negative: below
 *  dim1    the rows' dimension in the result
 *  dim2    the columns' dimension in the result, another one
 *  out     new, contiguous; ndim + 1 dimensions, two of them of the last one's size + |offset|
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range), VALUE (both the same), LIMIT (64 dimensions already),
 *  OVERFLOW (the size in bytes exceeds 63 bits).
 *  Threads: concurrent-read.
 *  Python: diag_embed(input, offset=0, dim1=-2, dim2=-1) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diag_embed(const libdl_tensor *input, int64_t offset,
                                                        int32_t dim1, int32_t dim2,
                                                        LIBDL_NEW libdl_tensor **out);

/** A vector as the diagonal of a matrix of zeros; or the diagonal of a matrix, copied.
 *
 *  input     1-d or 2-d
 *  diagonal  which one; 0: the main one, positive: above it, negative: below
 *  out       new; 2-d for a vector, 1-d for a matrix
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (neither 1-d nor 2-d), OVERFLOW (the size in bytes exceeds 63 bits).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: diag(input, diagonal=0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diag(const libdl_tensor *input, int64_t diagonal,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_diag into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diag_into(const libdl_tensor *input, int64_t diagonal,
                                                       libdl_tensor *dst);

/** A matrix of zeros whose diagonal holds all elements, in row-major order.
 *
 *  input   any
 *  offset  which diagonal; 0: the main one, positive: above it, negative: below
 *  out     new, 2-d
 *
 *  Gradient: any order, forward mode.
 *  Errors: OVERFLOW (the size in bytes exceeds 63 bits).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: diagflat(input, offset=0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diagflat(const libdl_tensor *input, int64_t offset,
                                                      LIBDL_NEW libdl_tensor **out);

/** The sum of a matrix's diagonal.
 *
 *  input  2-d
 *  out    new, 0-d; int64 for integers and bool
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not 2-d).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Autocast: float32.
 *  Python: trace(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_trace(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** Copies of a tensor side by side: libdl_repeat, with missing counts in front taken as 1.
 *
 *  input  any
 *  dims   how often along each dimension, each >= 0, the last ones last
 *  out    new, contiguous
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (more than 64 dimensions), VALUE (a negative count), OVERFLOW (the size in bytes
 *  exceeds 63 bits).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: tile(input, *dims) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tile(const libdl_tensor *input, const int64_t *dims,
                                                  int32_t ndims, LIBDL_NEW libdl_tensor **out);

/** Turned by quarters in the plane of two dimensions.
 *
 *  input  any, ndim >= 2
 *  k      how many quarters, from the first of the two towards the second
 *  dims   two different dimensions; NULL: the first two
 *  out    new, but for odd k a view of what is new
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (ndim < 2), VALUE (not two different dimensions), INDEX (one out of range).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: rot90(input, k=1, dims=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rot90(const libdl_tensor *input, int64_t k,
                                                   LIBDL_NULLABLE const int64_t *dims,
                                                   int32_t ndims, LIBDL_NEW libdl_tensor **out);

/** Columns in the opposite order.
 *
 *  input  any, ndim >= 2
 *  out    new, with dimension 1 reversed
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (ndim < 2).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: fliplr(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fliplr(const libdl_tensor *input,
                                                    LIBDL_NEW libdl_tensor **out);

/** Rows in the opposite order.
 *
 *  input  any, ndim >= 1
 *  out    new, with dimension 0 reversed
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (0-d).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: flipud(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_flipud(const libdl_tensor *input,
                                                    LIBDL_NEW libdl_tensor **out);

/** The last two dimensions exchanged, and complex numbers conjugated.
 *
 *  input  any but 1-d
 *  out    a view of input if it is real, else new
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (1-d).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: adjoint(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adjoint(const libdl_tensor *input,
                                                     LIBDL_NEW libdl_tensor **out);

/** The elements in one contiguous dimension, in row-major order.
 *
 *  input  any
 *  out    a view of input if it is contiguous, else new
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: ravel(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ravel(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** A tensor of one dimension at least.
 *
 *  input  any
 *  out    input itself, or a view: [1] of a 0-d tensor
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: atleast_1d(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_atleast_1d(const libdl_tensor *input,
                                                        LIBDL_NEW libdl_tensor **out);

/** A tensor of two dimensions at least.
 *
 *  input  any
 *  out    input itself, or a view: [1, n] of a vector, [1, 1] of a 0-d tensor
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: atleast_2d(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_atleast_2d(const libdl_tensor *input,
                                                        LIBDL_NEW libdl_tensor **out);

/** A tensor of three dimensions at least.
 *
 *  input  any
 *  out    input itself, or a view: [n, m, 1] of a matrix, [1, n, 1] of a vector, [1, 1, 1] of a 0-d
 *         tensor
 *
 *  Gradient: any order, forward mode.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: atleast_3d(input) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_atleast_3d(const libdl_tensor *input,
                                                        LIBDL_NEW libdl_tensor **out);

/** Tensors joined side by side: along dimension 1, or 0 where they are vectors.
 *
 *  tensors  at least one; 0-d ones count as [1]; shapes agree in all other dimensions
 *  out      new, the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors), SHAPE (a shape does not fit).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: hstack(tensors) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hstack(const libdl_tensor *const *tensors,
                                                    int64_t count, LIBDL_NEW libdl_tensor **out);

/** libdl_hstack into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hstack_into(const libdl_tensor *const *tensors,
                                                         int64_t count, libdl_tensor *dst);

/** Tensors joined one below the other: along dimension 0; vectors are rows.
 *
 *  tensors  at least one; shapes agree in all other dimensions
 *  out      new, the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors), SHAPE (a shape does not fit).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: vstack(tensors) [function]
 *  Python: row_stack(tensors) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_vstack(const libdl_tensor *const *tensors,
                                                    int64_t count, LIBDL_NEW libdl_tensor **out);

/** libdl_vstack into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_vstack_into(const libdl_tensor *const *tensors,
                                                         int64_t count, libdl_tensor *dst);

/** Tensors joined one behind the other: along dimension 2; vectors are [1, n, 1].
 *
 *  tensors  at least one; shapes agree in all other dimensions
 *  out      new, the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors), SHAPE (a shape does not fit).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: dstack(tensors) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dstack(const libdl_tensor *const *tensors,
                                                    int64_t count, LIBDL_NEW libdl_tensor **out);

/** libdl_dstack into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dstack_into(const libdl_tensor *const *tensors,
                                                         int64_t count, libdl_tensor *dst);

/** Tensors joined along dimension 1; vectors are columns.
 *
 *  tensors  at least one; 0-d ones count as [1, 1]; shapes agree in all other dimensions
 *  out      new, the promoted dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors), SHAPE (a shape does not fit).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: column_stack(tensors) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_column_stack(const libdl_tensor *const *tensors,
                                                          int64_t count,
                                                          LIBDL_NEW libdl_tensor **out);

/** libdl_column_stack into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_column_stack_into(const libdl_tensor *const *tensors,
                                                               int64_t count, libdl_tensor *dst);

/** A matrix of zeros with matrices along its diagonal.
 *
 *  tensors  2-d, or vectors, which are rows, or 0-d, which are [1, 1]
 *  out      new, the promoted dtype; [1, 0] without tensors
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (more than two dimensions), OVERFLOW (the size in bytes exceeds 63 bits).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: block_diag(tensors) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_block_diag(const libdl_tensor *const *tensors,
                                                        int64_t count,
                                                        LIBDL_NEW libdl_tensor **out);

/** Coordinates of a grid: tensor i along dimension i of [n_0, n_1, ...].
 *
 *  tensors   at least one; [n_i], or 0-d, which counts as [1]; of one dtype
 *  indexing  "ij", also if NULL, or "xy", which swaps the first two dimensions
 *  out       a new list of views, one of each tensor
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors, another word, dtypes differ), SHAPE (more than one dimension).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: meshgrid(tensors, indexing=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_meshgrid(const libdl_tensor *const *tensors,
                                                      int64_t count,
                                                      LIBDL_NULLABLE const char *indexing,
                                                      int64_t indexing_length,
                                                      LIBDL_NEW libdl_tensor_list **out);

/** All combinations of one element of each vector, as rows; the last one changes first.
 *
 *  tensors  at least one, 1-d, of one dtype
 *  out      new, [n_0 n_1 ..., count]; of one vector itself
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (no tensors, dtypes differ), SHAPE (not 1-d), OVERFLOW (the size in bytes exceeds
 *  63 bits).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: cartesian_prod(tensors) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cartesian_prod(const libdl_tensor *const *tensors,
                                                            int64_t count,
                                                            LIBDL_NEW libdl_tensor **out);

/** All choices of some elements of a vector, as rows, in its order.
 *
 *  input             1-d
 *  r                 how many each time, >= 0
 *  with_replacement  whether an element may be chosen again
 *  out               new, [choices, r]; [0] if r is 0
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not 1-d), VALUE (r is negative), OVERFLOW (too many choices).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: combinations(input, r=2, with_replacement=False) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_combinations(const libdl_tensor *input, int64_t r,
                                                          libdl_bool with_replacement,
                                                          LIBDL_NEW libdl_tensor **out);

/** The tensors expanded to the shape that they broadcast to.
 *
 *  tensors  any
 *  out      a new list: tensors of the shape themselves, and views of the others
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (a shape does not broadcast with the ones before).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: broadcast_tensors(tensors) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_broadcast_tensors(const libdl_tensor *const *tensors,
                                                               int64_t count,
                                                               LIBDL_NEW libdl_tensor_list **out);

/** Summed over what an expansion from the shape to input's has repeated.
 *
 *  input  any
 *  shape  one that broadcasts to input's
 *  out    new, of this shape; input itself if it has the shape and dimensions
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the shape does not broadcast to input's).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: sum_to_size(input, *size) [method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sum_to_size(const libdl_tensor *input,
                                                         const int64_t *shape, int32_t ndim,
                                                         LIBDL_NEW libdl_tensor **out);

/** Equal parts along a dimension; the first ones are larger by one where they must.
 *
 *  input     any, ndim >= 1
 *  sections  how many, >= 1
 *  dim       from -ndim to ndim - 1
 *  out       a new list of views of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (0-d input), VALUE (sections < 1), LIMIT (more parts
 *  than memory holds).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: tensor_split(input, sections, dim=0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_split(const libdl_tensor *input,
                                                          int64_t sections, int32_t dim,
                                                          LIBDL_NEW libdl_tensor_list **out);

/** Parts along a dimension between indices, as Python's slices up to each and after the last.
 *
 *  input    any, ndim >= 1
 *  indices  where parts end; negative ones count from the dimension's end
 *  dim      from -ndim to ndim - 1
 *  out      a new list of views of input, one more than indices
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), SHAPE (0-d input).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: tensor_split(input, indices, dim=0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_split_indices(
    const libdl_tensor *input, const int64_t *indices, int32_t indices_count, int32_t dim,
    LIBDL_NEW libdl_tensor_list **out);

/** Equal parts side by side: along dimension 1, or 0 of a vector.
 *
 *  input     any, ndim >= 1
 *  sections  how many, a divisor of the dimension's size
 *  out       a new list of views of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (0-d), VALUE (no divisor), LIMIT (more parts than memory holds).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: hsplit(input, sections) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hsplit(const libdl_tensor *input, int64_t sections,
                                                    LIBDL_NEW libdl_tensor_list **out);

/** Parts side by side, between indices: see libdl_tensor_split_indices.
 *
 *  input    any, ndim >= 1
 *  indices  where parts end along dimension 1, or 0 of a vector
 *  out      a new list of views of input, one more than indices
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (0-d).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: hsplit(input, indices) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hsplit_indices(const libdl_tensor *input,
                                                            const int64_t *indices,
                                                            int32_t indices_count,
                                                            LIBDL_NEW libdl_tensor_list **out);

/** Equal parts one below the other: along dimension 0.
 *
 *  input     any, ndim >= 2
 *  sections  how many, a divisor of the dimension's size
 *  out       a new list of views of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (ndim < 2), VALUE (no divisor), LIMIT (more parts than memory holds).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: vsplit(input, sections) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_vsplit(const libdl_tensor *input, int64_t sections,
                                                    LIBDL_NEW libdl_tensor_list **out);

/** Parts one below the other, between indices: see libdl_tensor_split_indices.
 *
 *  input    any, ndim >= 2
 *  indices  where parts end along dimension 0
 *  out      a new list of views of input, one more than indices
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (ndim < 2).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: vsplit(input, indices) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_vsplit_indices(const libdl_tensor *input,
                                                            const int64_t *indices,
                                                            int32_t indices_count,
                                                            LIBDL_NEW libdl_tensor_list **out);

/** Equal parts one behind the other: along dimension 2.
 *
 *  input     any, ndim >= 3
 *  sections  how many, a divisor of the dimension's size
 *  out       a new list of views of input
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (ndim < 3), VALUE (no divisor), LIMIT (more parts than memory holds).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: dsplit(input, sections) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dsplit(const libdl_tensor *input, int64_t sections,
                                                    LIBDL_NEW libdl_tensor_list **out);

/** Parts one behind the other, between indices: see libdl_tensor_split_indices.
 *
 *  input    any, ndim >= 3
 *  indices  where parts end along dimension 2
 *  out      a new list of views of input, one more than indices
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (ndim < 3).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: dsplit(input, indices) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dsplit_indices(const libdl_tensor *input,
                                                            const int64_t *indices,
                                                            int32_t indices_count,
                                                            LIBDL_NEW libdl_tensor_list **out);

/** A copy of a tensor in which src is what libdl_select shows.
 *
 *  input  any, ndim >= 1
 *  src    of the part's shape; converted to input's dtype
 *  dim    from -ndim to ndim - 1
 *  index  from -size to size - 1
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or index out of range, 0-d input), SHAPE (src has another shape), DTYPE
 *  (complex numbers into real ones).
 *  Threads: concurrent-read.
 *  Python: select_scatter(input, src, dim, index) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_select_scatter(const libdl_tensor *input,
                                                            const libdl_tensor *src, int32_t dim,
                                                            int64_t index,
                                                            LIBDL_NEW libdl_tensor **out);

/** A copy of a tensor in which src is every step-th index of a dimension from start to end.
 *
 *  input  any, ndim >= 1
 *  src    of the part's shape; converted to input's dtype
 *  dim    from -ndim to ndim - 1
 *  start  the first, negative counts from the end, clamped; NULL: 0
 *  end    where to stop, likewise; NULL: the dimension's size
 *  step   >= 1
 *  out    new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range, 0-d input), VALUE (step < 1), SHAPE (src has another shape),
 *  DTYPE (complex numbers into real ones).
 *  Threads: concurrent-read.
 *  Python: slice_scatter(input, src, dim=0, start=None, end=None, step=1) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_slice_scatter(const libdl_tensor *input,
                                                           const libdl_tensor *src, int32_t dim,
                                                           LIBDL_NULLABLE const int64_t *start,
                                                           LIBDL_NULLABLE const int64_t *end,
                                                           int64_t step,
                                                           LIBDL_NEW libdl_tensor **out);

/** A copy of a tensor in which src is what libdl_diagonal shows.
 *
 *  input   any, ndim >= 2
 *  src     of the diagonal's shape; converted to input's dtype
 *  offset  0: the main diagonal; positive: above it, negative: below
 *  dim1    the rows' dimension
 *  dim2    the columns' dimension, another one
 *  out     new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range), VALUE (both the same), SHAPE (src has another shape),
 *  DTYPE (complex numbers into real ones).
 *  Threads: concurrent-read.
 *  Python: diagonal_scatter(input, src, offset=0, dim1=0, dim2=1) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_diagonal_scatter(const libdl_tensor *input,
                                                              const libdl_tensor *src,
                                                              int64_t offset, int32_t dim1,
                                                              int32_t dim2,
                                                              LIBDL_NEW libdl_tensor **out);

/** A copy of a tensor and what lies between its elements, in which src is what libdl_as_strided
 *  shows.
 *
 *  input           any
 *  src             of the shape size; converted to input's dtype
 *  size            sizes of the part, each >= 0
 *  stride          in elements, each >= 0, as many as sizes
 *  storage_offset  the part's first element in input's storage; NULL: input's
 *  out             new, with input's shape, dtype and strides
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (a negative size or stride, or an element lies outside of input), SHAPE (src has
 *  another shape, or differing numbers of sizes and strides), DTYPE (complex numbers into real
 *  ones).
 *  Threads: concurrent-read.
 *  Python: as_strided_scatter(input, src, size, stride, storage_offset=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_as_strided_scatter(
    const libdl_tensor *input, const libdl_tensor *src, const int64_t *size, int32_t size_count,
    const int64_t *stride, int32_t stride_count, LIBDL_NULLABLE const int64_t *storage_offset,
    LIBDL_NEW libdl_tensor **out);

/** The indices of what is not 0, as rows: see libdl_nonzero.
 *
 *  input  any
 *  out    new, [n, ndim], int64
 *
 *  Gradient: none; indices have no derivative.
 *  Errors: UNSUPPORTED (a meta tensor).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: argwhere(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_argwhere(const libdl_tensor *input,
                                                      LIBDL_NEW libdl_tensor **out);

/** The first rows of libdl_nonzero, a given number of them, filled up where there are fewer.
 *
 *  input       any
 *  size        how many rows, >= 0
 *  fill_value  what the rows that are missing consist of
 *  out         new, [size, ndim], int64
 *
 *  Gradient: none; indices have no derivative.
 *  Errors: VALUE (size is negative), OVERFLOW (the size in bytes exceeds 63 bits).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: nonzero_static(input, *, size, fill_value=-1) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nonzero_static(const libdl_tensor *input, int64_t size,
                                                            int64_t fill_value,
                                                            LIBDL_NEW libdl_tensor **out);

/** libdl_nonzero_static into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nonzero_static_into(const libdl_tensor *input,
                                                                 int64_t size, int64_t fill_value,
                                                                 libdl_tensor *dst);

/** The values in ascending order along dimension 0.
 *
 *  input  any real dtype
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: msort(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_msort(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_msort into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_msort_into(const libdl_tensor *input,
                                                        libdl_tensor *dst);

/** The powers of a vector's elements as rows: x^(n - 1), ..., x, 1, or in ascending order.
 *
 *  x           1-d
 *  n           how many powers, >= 0; NULL: as many as elements
 *  increasing  whether the powers ascend
 *  out         new, [elements, n]; int64 for integers and bool
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (not 1-d), VALUE (n is negative).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: vander(x, N=None, increasing=False) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_vander(const libdl_tensor *x,
                                                    LIBDL_NULLABLE const int64_t *n,
                                                    libdl_bool increasing,
                                                    LIBDL_NEW libdl_tensor **out);

/** The powers of each element in a new last dimension: 1, x, ..., x^(n - 1).
 *
 *  x    any numbers; 0-d counts as [1]
 *  n    how many powers, >= 2; NULL: the size of the last dimension
 *  out  new, [..., n]; int64 for integers
 *
 *  Gradient: any order, forward mode.
 *  Errors: UNSUPPORTED (bool), VALUE (n is below 2).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: linalg_vander(x, *, N=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linalg_vander(const libdl_tensor *x,
                                                           LIBDL_NULLABLE const int64_t *n,
                                                           LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
