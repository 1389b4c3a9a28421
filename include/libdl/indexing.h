/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that read and write by index, search and sort.
 *
 *  All index values are checked before anything is written. Where several indices name the same
 *  element, contributions are added in the order of the indices (many in runs, 16-bit ones in
 *  float32), so that the bits are always the same; of several values the last is kept. */
#ifndef LIBDL_INDEXING_H
#define LIBDL_INDEXING_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** The elements at index tensors, as PyTorch's input[indices].
 *
 *  input    any, ndim >= 1
 *  indices  at most ndim, one a dimension from the first on: int64, int32 or uint8 indices from
 *           -size to size - 1, or a bool mask for as many dimensions as it has; a NULL entry takes
 *           the whole dimension. Index tensors broadcast together
 *  out      new: the index tensors' shape replaces the indexed dimensions, or comes first if whole
 *           dimensions lie between them
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (an index out of range, more indices than dimensions), SHAPE (indices do not
 *  broadcast, or a mask's shape differs), DTYPE (an index of another dtype).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index(
    const libdl_tensor *input, const libdl_tensor *LIBDL_NULLABLE const *indices, int64_t count,
    LIBDL_NEW libdl_tensor **out);

/** libdl_index into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_into(
    const libdl_tensor *input, const libdl_tensor *LIBDL_NULLABLE const *indices, int64_t count,
    libdl_tensor *dst);

/** A copy of input with values written at, or added to, the elements at index tensors.
 *
 *  input       any, ndim >= 1
 *  indices     as in libdl_index
 *  values      of input's dtype; broadcasts to libdl_index's result
 *  accumulate  whether to add to the elements instead of replacing them
 *  out         new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (an index out of range, more indices than dimensions), SHAPE (indices or values
 *  do not broadcast, or a mask's shape differs), DTYPE (an index of another dtype, or values').
 *  Threads: concurrent-read.
 *  Python: index_put(input, indices, values, accumulate=False) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_put(
    const libdl_tensor *input, const libdl_tensor *LIBDL_NULLABLE const *indices, int64_t count,
    const libdl_tensor *values, libdl_bool accumulate, LIBDL_NEW libdl_tensor **out);

/** libdl_index_put into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_put_into(
    const libdl_tensor *input, const libdl_tensor *LIBDL_NULLABLE const *indices, int64_t count,
    const libdl_tensor *values, libdl_bool accumulate, libdl_tensor *dst);

/** Elements along a dimension, with an index for each element of the result: y[i][j] =
 *  input[index[i][j]][j] for dim 0.
 *
 *  input        any
 *  dim          from -ndim to ndim - 1
 *  index        int64 or int32, of as many dimensions; no larger than input but in dim; -size to
 *               size - 1
 *  sparse_grad  must be false: sparse gradients are not offered
 *  out          new, index's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or an index out of range), SHAPE (index does not fit), DTYPE (index is not
 *  int64 or int32), UNSUPPORTED (sparse_grad).
 *  Threads: concurrent-read.
 *  Python: gather(input, dim, index, *, sparse_grad=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gather(const libdl_tensor *input, int32_t dim,
                                                    const libdl_tensor *index,
                                                    libdl_bool sparse_grad,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_gather into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gather_into(const libdl_tensor *input, int32_t dim,
                                                         const libdl_tensor *index,
                                                         libdl_bool sparse_grad, libdl_tensor *dst);

/** Elements along a dimension, as libdl_gather, but input and indices broadcast in the other
 *  dimensions.
 *
 *  input    any
 *  indices  int64 or int32, of as many dimensions; -size to size - 1
 *  dim      from -ndim to ndim - 1; NULL: both are read as one dimension
 *  out      new, the broadcast shape, with indices' size along dim
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or an index out of range), SHAPE (other dimensions do not broadcast), DTYPE
 *  (indices are not integers).
 *  Threads: concurrent-read.
 *  Python: take_along_dim(input, indices, dim=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_take_along_dim(const libdl_tensor *input,
                                                            const libdl_tensor *indices,
                                                            LIBDL_NULLABLE const int64_t *dim,
                                                            LIBDL_NEW libdl_tensor **out);

/** libdl_take_along_dim into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_take_along_dim_into(const libdl_tensor *input,
                                                                 const libdl_tensor *indices,
                                                                 LIBDL_NULLABLE const int64_t *dim,
                                                                 libdl_tensor *dst);

/** A copy of input with src's elements written: y[index[i][j]][j] = src[i][j] for dim 0.
 *
 *  input   any
 *  dim     from -ndim to ndim - 1
 *  index   int64, of as many dimensions; no larger than src, and than input but in dim
 *  src     of input's dtype, or a number for all places
 *  reduce  NULL: replace, "add" or "multiply": combine with what is there
 *  out     new, input's shape
 *
 *  Gradient: any order, forward mode; with "multiply" none, raises AUTOGRAD if one is needed.
 *  Errors: INDEX (dim or an index out of range), SHAPE (index does not fit), DTYPE (index is not
 *  int64 or int32, or src's dtype differs), VALUE (another reduce).
 *  Threads: concurrent-read.
 *  Python: scatter(input, dim, index, src, *, reduce=None) [function, method, inplace]
 *  Python: scatter(input, dim, index, value, *, reduce=None) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scatter(const libdl_tensor *input, int32_t dim,
                                                     const libdl_tensor *index,
                                                     LIBDL_NUMBER const libdl_tensor *src,
                                                     LIBDL_NULLABLE const char *reduce,
                                                     int64_t reduce_length,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_scatter into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scatter_into(const libdl_tensor *input, int32_t dim,
                                                          const libdl_tensor *index,
                                                          LIBDL_NUMBER const libdl_tensor *src,
                                                          LIBDL_NULLABLE const char *reduce,
                                                          int64_t reduce_length, libdl_tensor *dst);

/** A copy of input with src's elements added: y[index[i][j]][j] += src[i][j] for dim 0.
 *
 *  input  any
 *  dim    from -ndim to ndim - 1
 *  index  int64, of as many dimensions; no larger than src, and than input but in dim
 *  src    of input's dtype
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or an index out of range), SHAPE (index does not fit), DTYPE (index is not
 *  int64 or int32, or src's dtype differs).
 *  Threads: concurrent-read.
 *  Python: scatter_add(input, dim, index, src) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scatter_add(const libdl_tensor *input, int32_t dim,
                                                         const libdl_tensor *index,
                                                         const libdl_tensor *src,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_scatter_add into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scatter_add_into(const libdl_tensor *input,
                                                              int32_t dim,
                                                              const libdl_tensor *index,
                                                              const libdl_tensor *src,
                                                              libdl_tensor *dst);

/** Slices of a dimension, selected by index.
 *
 *  input  any
 *  dim    from -ndim to ndim - 1
 *  index  int64 or int32, 1-d or 0-d; -size to size - 1
 *  out    new, with one slice along dim for each index
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or an index out of range), SHAPE (index has more dimensions), DTYPE (index
 *  is neither int64 nor int32).
 *  Threads: concurrent-read.
 *  Python: index_select(input, dim, index) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_select(const libdl_tensor *input, int32_t dim,
                                                          const libdl_tensor *index,
                                                          LIBDL_NEW libdl_tensor **out);

/** libdl_index_select into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_select_into(const libdl_tensor *input,
                                                               int32_t dim,
                                                               const libdl_tensor *index,
                                                               libdl_tensor *dst);

/** A copy of input with slices added: y[index[i]] += alpha * source[i] for dim 0.
 *
 *  input   any
 *  dim     from -ndim to ndim - 1
 *  index   int64 or int32, 1-d or 0-d; -size to size - 1
 *  source  of input's dtype and shape but for dim, where it has index's length
 *  alpha   a number; NULL: 1
 *  out     new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or an index out of range), SHAPE (index or source do not fit), DTYPE (index
 *  is neither int64 nor int32, source's differs, or alpha does not fit).
 *  Threads: concurrent-read.
 *  Python: index_add(input, dim, index, source, *, alpha=1) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_add(
    const libdl_tensor *input, int32_t dim, const libdl_tensor *index, const libdl_tensor *source,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, LIBDL_NEW libdl_tensor **out);

/** libdl_index_add into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_add_into(
    const libdl_tensor *input, int32_t dim, const libdl_tensor *index, const libdl_tensor *source,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *alpha, libdl_tensor *dst);

/** A copy of input with slices replaced: y[index[i]] = source[i] for dim 0.
 *
 *  input   any
 *  dim     from -ndim to ndim - 1
 *  index   int64 or int32, 1-d or 0-d; -size to size - 1
 *  source  of input's dtype and shape but for dim, where it has index's length
 *  out     new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or an index out of range), SHAPE (index or source do not fit), DTYPE (index
 *  is not an integer, or source's differs).
 *  Threads: concurrent-read.
 *  Autocast: promote.
 *  Python: index_copy(input, dim, index, source) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_copy(const libdl_tensor *input, int32_t dim,
                                                        const libdl_tensor *index,
                                                        const libdl_tensor *source,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_index_copy into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_copy_into(const libdl_tensor *input, int32_t dim,
                                                             const libdl_tensor *index,
                                                             const libdl_tensor *source,
                                                             libdl_tensor *dst);

/** A copy of input with slices filled: y[index[i]] = value for dim 0.
 *
 *  input  any
 *  dim    from -ndim to ndim - 1
 *  index  int64 or int32, 1-d or 0-d; -size to size - 1
 *  value  a number or 0-d tensor
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim or an index out of range), SHAPE (index or value has more dimensions), DTYPE
 *  (index is not an integer, or value is complex and input is not), OVERFLOW (input's dtype does
 *  not hold value).
 *  Threads: concurrent-read.
 *  Python: index_fill(input, dim, index, value) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_fill(const libdl_tensor *input, int32_t dim,
                                                        const libdl_tensor *index,
                                                        LIBDL_NUMBER const libdl_tensor *value,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_index_fill into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_fill_into(const libdl_tensor *input, int32_t dim,
                                                             const libdl_tensor *index,
                                                             LIBDL_NUMBER const libdl_tensor *value,
                                                             libdl_tensor *dst);

/** A copy of input with one value where the mask is true.
 *
 *  input  any
 *  mask   bool; broadcasts with input
 *  value  a number or 0-d tensor
 *  out    new, the broadcast shape, input's dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input and mask do not broadcast, or value is not 0-d), DTYPE (mask is not bool,
 *  or value is complex and input is not), OVERFLOW (input's dtype does not hold value).
 *  Threads: concurrent-read.
 *  Python: masked_fill(input, mask, value) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_masked_fill(const libdl_tensor *input,
                                                         const libdl_tensor *mask,
                                                         LIBDL_NUMBER const libdl_tensor *value,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_masked_fill into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_masked_fill_into(
    const libdl_tensor *input, const libdl_tensor *mask, LIBDL_NUMBER const libdl_tensor *value,
    libdl_tensor *dst);

/** The elements where the mask is true, in row-major order.
 *
 *  input  any
 *  mask   bool; broadcasts with input
 *  out    new, 1-d
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input and mask do not broadcast), DTYPE (mask is not bool).
 *  Threads: concurrent-read.
 *  Python: masked_select(input, mask) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_masked_select(const libdl_tensor *input,
                                                           const libdl_tensor *mask,
                                                           LIBDL_NEW libdl_tensor **out);

/** libdl_masked_select into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_masked_select_into(const libdl_tensor *input,
                                                                const libdl_tensor *mask,
                                                                libdl_tensor *dst);

/** A copy of input with source's elements, in row-major order, where the mask is true.
 *
 *  input   any
 *  mask    bool; broadcasts with input, in the into form to input
 *  source  of input's dtype, with at least as many elements as the mask has true ones
 *  out     new, the broadcast shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (mask does not broadcast, or source is too short), DTYPE (mask is not
 *  bool, or source's dtype differs).
 *  Threads: concurrent-read.
 *  Python: masked_scatter(input, mask, source) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_masked_scatter(const libdl_tensor *input,
                                                            const libdl_tensor *mask,
                                                            const libdl_tensor *source,
                                                            LIBDL_NEW libdl_tensor **out);

/** libdl_masked_scatter into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_masked_scatter_into(const libdl_tensor *input,
                                                                 const libdl_tensor *mask,
                                                                 const libdl_tensor *source,
                                                                 libdl_tensor *dst);

/** The indices of nonzero elements, in row-major order.
 *
 *  input  any
 *  out    new, int64, [how many, ndim]
 *
 *  Gradient: none; the result carries no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: nonzero(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nonzero(const libdl_tensor *input,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_nonzero into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nonzero_into(const libdl_tensor *input,
                                                          libdl_tensor *dst);

/** The elements sorted along a dimension; NaN counts as largest.
 *
 *  input       real
 *  dim         from -ndim to ndim - 1
 *  descending  whether the largest comes first
 *  stable      whether equal elements keep their order; they always do
 *  values      new, input's shape and dtype
 *  indices     new, int64, input's shape: each element's index in input
 *
 *  Gradient: any order, forward mode. indices carry no history.
 *  Errors: INDEX (dim out of range), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: sort(input, dim=-1, descending=False, stable=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sort(const libdl_tensor *input, int32_t dim,
                                                  libdl_bool descending, libdl_bool stable,
                                                  LIBDL_NEW libdl_tensor **values,
                                                  LIBDL_NEW libdl_tensor **indices);

/** libdl_sort into values_dst and indices_dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sort_into(const libdl_tensor *input, int32_t dim,
                                                       libdl_bool descending, libdl_bool stable,
                                                       libdl_tensor *values_dst,
                                                       libdl_tensor *indices_dst);

/** The indices that would sort a dimension; NaN counts as largest.
 *
 *  input       real
 *  dim         from -ndim to ndim - 1
 *  descending  whether the largest comes first
 *  stable      whether equal elements keep their order; they always do
 *  out         new, int64, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: INDEX (dim out of range), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: argsort(input, dim=-1, descending=False, stable=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_argsort(const libdl_tensor *input, int32_t dim,
                                                     libdl_bool descending, libdl_bool stable,
                                                     LIBDL_NEW libdl_tensor **out);

/** The k largest or smallest elements along a dimension.
 *
 *  input    real
 *  k        from 0 to the dimension's size
 *  dim      from -ndim to ndim - 1
 *  largest  whether the largest are wanted, else the smallest
 *  sorted   whether they come in order; they always do
 *  values   new, dim of size k, input's dtype
 *  indices  new, int64, likewise: each element's index in input
 *
 *  Gradient: any order, forward mode. indices carry no history.
 *  Errors: INDEX (dim out of range), VALUE (k out of range), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: topk(input, k, dim=-1, largest=True, sorted=True) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_topk(const libdl_tensor *input, int64_t k, int32_t dim,
                                                  libdl_bool largest, libdl_bool sorted,
                                                  LIBDL_NEW libdl_tensor **values,
                                                  LIBDL_NEW libdl_tensor **indices);

/** libdl_topk into values_dst and indices_dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_topk_into(const libdl_tensor *input, int64_t k,
                                                       int32_t dim, libdl_bool largest,
                                                       libdl_bool sorted, libdl_tensor *values_dst,
                                                       libdl_tensor *indices_dst);

/** The k-th smallest element along a dimension, counted from 1; NaN counts as largest.
 *
 *  input    real
 *  k        from 1 to the dimension's size
 *  dim      from -ndim to ndim - 1
 *  keepdim  whether the dimension stays, with size 1
 *  values   new, input's dtype
 *  indices  new, int64: the element's index in input; of equal elements the first counts first
 *
 *  Gradient: any order, forward mode. indices carry no history.
 *  Errors: INDEX (dim out of range), VALUE (k out of range), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: kthvalue(input, k, dim=-1, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_kthvalue(const libdl_tensor *input, int64_t k,
                                                      int32_t dim, libdl_bool keepdim,
                                                      LIBDL_NEW libdl_tensor **values,
                                                      LIBDL_NEW libdl_tensor **indices);

/** Where elements belong in what is sorted: how many elements of a row come before each.
 *
 *  sorted_sequence  real; its last dimension ascends. [n], or input's shape but for the last
 *                   dimension
 *  input            real, or a number
 *  out_int32        whether the result is int32
 *  right            whether equal elements come before it
 *  side             NULL: as right says, "left" or "right"
 *  sorter           NULL: sorted_sequence ascends; else int64, sorted_sequence's shape: the indices
 *                   that sort it
 *  out              new, int64 or int32, input's shape
 *
 *  A NaN comes after all.
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (sorted_sequence or sorter does not fit), VALUE (another side, or "left" with
 *  right), UNSUPPORTED (complex), DEVICE (two devices), INDEX (sorter is out of range), DTYPE
 *  (sorter is not int64 or int32).
 *  Threads: concurrent-read.
 *  Python: searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None,
 *          sorter=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_searchsorted(
    const libdl_tensor *sorted_sequence, LIBDL_NUMBER const libdl_tensor *input,
    libdl_bool out_int32, libdl_bool right, LIBDL_NULLABLE const char *side, int64_t side_length,
    LIBDL_NULLABLE const libdl_tensor *sorter, LIBDL_NEW libdl_tensor **out);

/** libdl_searchsorted into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_searchsorted_into(
    const libdl_tensor *sorted_sequence, LIBDL_NUMBER const libdl_tensor *input,
    libdl_bool out_int32, libdl_bool right, LIBDL_NULLABLE const char *side, int64_t side_length,
    LIBDL_NULLABLE const libdl_tensor *sorter, libdl_tensor *dst);

/** Between which boundaries elements lie: libdl_searchsorted in one row.
 *
 *  input       real, or a number
 *  boundaries  [n], real, ascending
 *  out_int32   whether the result is int32
 *  right       whether a boundary belongs to what is above it
 *  out         new, int64 or int32, input's shape: the index of the boundary above
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (boundaries are not one-dimensional), UNSUPPORTED (complex), DEVICE (two devices).
 *  Threads: concurrent-read.
 *  Python: bucketize(input, boundaries, *, out_int32=False, right=False) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bucketize(LIBDL_NUMBER const libdl_tensor *input,
                                                       const libdl_tensor *boundaries,
                                                       libdl_bool out_int32, libdl_bool right,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_bucketize into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bucketize_into(LIBDL_NUMBER const libdl_tensor *input,
                                                            const libdl_tensor *boundaries,
                                                            libdl_bool out_int32, libdl_bool right,
                                                            libdl_tensor *dst);

/** Elements that have one place along a dimension, reduced to one, for dim 0: y[index[i][j]][j] is
 *  the sum, product, mean, maximum or minimum of all src[i][j] with that place.
 *
 *  input         any
 *  dim           from -ndim to ndim - 1
 *  index         int64, of as many dimensions; no larger than src, and than input but in dim
 *  src           of input's dtype
 *  reduce        "sum", "prod", "mean", "amax" or "amin"; means of integers are rounded down
 *  include_self  whether the element of input that is there counts, too
 *  out           new, input's shape; input's elements where index names no place
 *
 *  Gradient: any order, forward mode; equal extrema share it evenly. That of products takes a step
 *  for each of index's places along dim.
 *  Errors: VALUE (another reduce), INDEX (dim or an index out of range), SHAPE (index does not
 *  fit), DTYPE (index is not int64 or int32, src's dtype differs, complex or uint64 extrema, or
 *  means of bool).
 *  Threads: concurrent-read.
 *  Python: scatter_reduce(input, dim, index, src, reduce, *, include_self=True) [function, method,
 *  inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scatter_reduce(
    const libdl_tensor *input, int32_t dim, const libdl_tensor *index, const libdl_tensor *src,
    const char *reduce, int64_t reduce_length, libdl_bool include_self,
    LIBDL_NEW libdl_tensor **out);

/** libdl_scatter_reduce into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scatter_reduce_into(
    const libdl_tensor *input, int32_t dim, const libdl_tensor *index, const libdl_tensor *src,
    const char *reduce, int64_t reduce_length, libdl_bool include_self, libdl_tensor *dst);

/** libdl_scatter_reduce of whole slices: slice i of source along dim goes to place index[i].
 *
 *  input         any
 *  dim           from -ndim to ndim - 1
 *  index         int64, a vector
 *  source        of input's dtype and shape, but of index's size along dim
 *  reduce        "prod", "mean", "amax" or "amin"
 *  include_self  whether the element of input that is there counts, too
 *  out           new, input's shape; input's slices where index names no place
 *
 *  Gradient: any order, forward mode; equal extrema share it evenly.
 *  Errors: VALUE (another reduce), INDEX (dim or an index out of range), SHAPE (index or source do
 *  not fit), DTYPE (as of libdl_scatter_reduce).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: index_reduce(input, dim, index, source, reduce, *, include_self=True) [function, method,
 *          inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_reduce(const libdl_tensor *input, int32_t dim,
                                                          const libdl_tensor *index,
                                                          const libdl_tensor *source,
                                                          const char *reduce, int64_t reduce_length,
                                                          libdl_bool include_self,
                                                          LIBDL_NEW libdl_tensor **out);

/** libdl_index_reduce into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_index_reduce_into(
    const libdl_tensor *input, int32_t dim, const libdl_tensor *index, const libdl_tensor *source,
    const char *reduce, int64_t reduce_length, libdl_bool include_self, libdl_tensor *dst);

/** Rows that are 1 at the class and 0 elsewhere.
 *
 *  tensor       int64, the classes, 0 or more
 *  num_classes  the length of a row; -1: one more than the largest class
 *  out          new, int64, tensor's shape with one more dimension
 *
 *  Gradient: none (integers).
 *  Errors: DTYPE (not int64), VALUE (a class is negative, or not less than num_classes), SHAPE (no
 *  class and no num_classes), OVERFLOW.
 *  Threads: concurrent-read.
 *  Python: one_hot(tensor, num_classes=-1) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_one_hot(const libdl_tensor *tensor,
                                                     int64_t num_classes,
                                                     LIBDL_NEW libdl_tensor **out);

/** A copy of input with elements written, or added, to places counted in row-major order.
 *
 *  input       any
 *  index       int64 or int32, any shape; from -n to n - 1 of input's n elements
 *  source      of input's dtype, with as many elements as index
 *  accumulate  whether to add to the elements instead of replacing them
 *  out         new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a place out of range), SHAPE (source has another number of elements), DTYPE
 *  (index is neither int64 nor int32, or source's differs).
 *  Threads: concurrent-read.
 *  Python: put(input, index, source, accumulate=False) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_put(const libdl_tensor *input,
                                                 const libdl_tensor *index,
                                                 const libdl_tensor *source, libdl_bool accumulate,
                                                 LIBDL_NEW libdl_tensor **out);

/** libdl_put into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_put_into(const libdl_tensor *input,
                                                      const libdl_tensor *index,
                                                      const libdl_tensor *source,
                                                      libdl_bool accumulate, libdl_tensor *dst);

LIBDL_END

#endif
