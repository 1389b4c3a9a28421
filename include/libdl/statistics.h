/* SPDX-License-Identifier: Apache-2.0 */

/** Distributions of elements: their moments, medians, quantiles and counts, and which there are.
 *
 *  dims and keepdim are those of <libdl/reduction.h>. What depends on the values in its shape, or
 *  counts them, reads elements on the host: a tensor on meta has none (UNSUPPORTED). */
#ifndef LIBDL_STATISTICS_H
#define LIBDL_STATISTICS_H

#include <libdl/abi.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Sum along dims of the elements that are no NaN; 0 where there are none.
 *
 *  input    real
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  dtype    as of libdl_sum
 *  out      new, the dims removed
 *
 *  Gradient: any order, forward mode; 0 where an element is NaN.
 *  Errors: INDEX (a dimension out of range or named twice), UNSUPPORTED (complex).
 *  Threads: concurrent-read.
 *  Python: nansum(input, dim=None, keepdim=False, *, dtype=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nansum(const libdl_tensor *input,
                                                    LIBDL_NULLABLE const int64_t *dims,
                                                    int32_t ndims, libdl_bool keepdim,
                                                    libdl_dtype dtype,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_nansum into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nansum_into(const libdl_tensor *input,
                                                         LIBDL_NULLABLE const int64_t *dims,
                                                         int32_t ndims, libdl_bool keepdim,
                                                         libdl_dtype dtype, libdl_tensor *dst);

/** Mean along dims of the elements that are no NaN; NaN where there are none.
 *
 *  input    floating
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay with size 1
 *  dtype    the sum's; NONE: input's
 *  out      new, the dims removed
 *
 *  Gradient: any order, forward mode; 0 where an element is NaN.
 *  Errors: INDEX (a dimension out of range or named twice), UNSUPPORTED (not floating).
 *  Threads: concurrent-read.
 *  Python: nanmean(input, dim=None, keepdim=False, *, dtype=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nanmean(const libdl_tensor *input,
                                                     LIBDL_NULLABLE const int64_t *dims,
                                                     int32_t ndims, libdl_bool keepdim,
                                                     libdl_dtype dtype,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_nanmean into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nanmean_into(const libdl_tensor *input,
                                                          LIBDL_NULLABLE const int64_t *dims,
                                                          int32_t ndims, libdl_bool keepdim,
                                                          libdl_dtype dtype, libdl_tensor *dst);

/** Variance and mean along dims: libdl_var and libdl_mean.
 *
 *  input       floating or complex
 *  dims        which dimensions; NULL: all
 *  correction  a number; NULL: 1 (the unbiased estimate)
 *  keepdim     whether they stay with size 1
 *  variance    new, the dims removed, input's dtype, real for complex input
 *  mean        new, the dims removed, input's dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range or named twice), DTYPE (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: var_mean(input, dim=None, *, correction=1, keepdim=False) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_var_mean(
    const libdl_tensor *input, LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *correction, libdl_bool keepdim,
    LIBDL_NEW libdl_tensor **variance, LIBDL_NEW libdl_tensor **mean);

/** Standard deviation and mean along dims: libdl_std and libdl_mean.
 *
 *  input       floating or complex
 *  dims        which dimensions; NULL: all
 *  correction  a number; NULL: 1
 *  keepdim     whether they stay with size 1
 *  deviation   new, the dims removed, input's dtype, real for complex input
 *  mean        new, the dims removed, input's dtype
 *
 *  Gradient: any order, forward mode; that of the deviation is 0 where it is 0.
 *  Errors: INDEX (a dimension out of range or named twice), DTYPE (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: std_mean(input, dim=None, *, correction=1, keepdim=False) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_std_mean(
    const libdl_tensor *input, LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *correction, libdl_bool keepdim,
    LIBDL_NEW libdl_tensor **deviation, LIBDL_NEW libdl_tensor **mean);

/** The least and the greatest element along one dimension, or of all; NaN where there is one.
 *
 *  input    real; the dimension is not empty
 *  dim      which dimension; NULL: all
 *  keepdim  whether it stays with size 1
 *  min      new, the dimension removed, input's dtype
 *  max      new, likewise
 *
 *  Gradient: any order, forward mode; shared evenly among equal elements.
 *  Errors: INDEX (dim out of range), SHAPE (no elements), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: aminmax(input, *, dim=None, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_aminmax(const libdl_tensor *input,
                                                     LIBDL_NULLABLE const int64_t *dim,
                                                     libdl_bool keepdim,
                                                     LIBDL_NEW libdl_tensor **min,
                                                     LIBDL_NEW libdl_tensor **max);

/** The lower median of all elements; NaN if any is NaN, or there are none.
 *
 *  input  real
 *  out    new, 0-d, input's dtype
 *
 *  Gradient: any order, forward mode; shared evenly among elements equal to it.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: median(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_median(const libdl_tensor *input,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_median into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_median_into(const libdl_tensor *input,
                                                         libdl_tensor *dst);

/** The lower median along a dimension, and its index; NaN if one of its elements is.
 *
 *  input    real; the dimension is not empty
 *  dim      from -ndim to ndim - 1
 *  keepdim  whether it stays with size 1
 *  values   new, the dimension removed, input's dtype
 *  indices  new, int64, likewise; of a NaN that of the first
 *
 *  Gradient: any order, forward mode; to the chosen element. indices carry no history.
 *  Errors: INDEX (dim out of range), SHAPE (the dimension is empty), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: median(input, dim, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_median_dim(const libdl_tensor *input, int32_t dim,
                                                        libdl_bool keepdim,
                                                        LIBDL_NEW libdl_tensor **values,
                                                        LIBDL_NEW libdl_tensor **indices);

/** The lower median of all elements that are no NaN; NaN if there are none.
 *
 *  input  real
 *  out    new, 0-d, input's dtype
 *
 *  Gradient: any order, forward mode; shared evenly among elements equal to it.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: nanmedian(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nanmedian(const libdl_tensor *input,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_nanmedian into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nanmedian_into(const libdl_tensor *input,
                                                            libdl_tensor *dst);

/** The lower median along a dimension of what is no NaN, and its index.
 *
 *  input    real; the dimension is not empty
 *  dim      from -ndim to ndim - 1
 *  keepdim  whether it stays with size 1
 *  values   new, the dimension removed, input's dtype; NaN if there is nothing else
 *  indices  new, int64, likewise
 *
 *  Gradient: any order, forward mode; to the chosen element. indices carry no history.
 *  Errors: INDEX (dim out of range), SHAPE (the dimension is empty), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: nanmedian(input, dim, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nanmedian_dim(const libdl_tensor *input, int32_t dim,
                                                           libdl_bool keepdim,
                                                           LIBDL_NEW libdl_tensor **values,
                                                           LIBDL_NEW libdl_tensor **indices);

/** The most frequent value along a dimension, the least of several, and its last index.
 *
 *  input    real; the dimension is not empty. A NaN equals none
 *  dim      from -ndim to ndim - 1
 *  keepdim  whether it stays with size 1
 *  values   new, the dimension removed, input's dtype
 *  indices  new, int64, likewise
 *
 *  Gradient: any order, forward mode; to the chosen element. indices carry no history.
 *  Errors: INDEX (dim out of range), SHAPE (the dimension is empty), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: mode(input, dim=-1, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mode(const libdl_tensor *input, int32_t dim,
                                                  libdl_bool keepdim,
                                                  LIBDL_NEW libdl_tensor **values,
                                                  LIBDL_NEW libdl_tensor **indices);

/** Quantiles along one dimension, or of all elements: where a share q of them lies below.
 *
 *  input          floating, with elements
 *  q              from 0 to 1: a number, or 0-d or [k] of input's dtype (or float32, for 16 bits)
 *  dim            which dimension; NULL: all
 *  keepdim        whether it stays with size 1
 *  interpolation  what lies between two elements: "linear" (NULL), "lower", "higher", "midpoint" or
 *                 "nearest"
 *  out            new, the dimension removed; k in front for a q of [k]; NaN where an element is
 *
 *  Gradient: any order, forward mode; to the elements beside the place, and to q.
 *  Errors: DTYPE (input is not floating, or q of another dtype), INDEX (dim out of range), VALUE (q
 *  out of range or of more dimensions, another interpolation), SHAPE (no elements).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Autocast: float32.
 *  Python: quantile(input, q, dim=None, keepdim=False, *,
 *          interpolation='linear') [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_quantile(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *q,
    LIBDL_NULLABLE const int64_t *dim, libdl_bool keepdim, LIBDL_NULLABLE const char *interpolation,
    int64_t interpolation_length, LIBDL_NEW libdl_tensor **out);

/** libdl_quantile into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_quantile_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *q,
    LIBDL_NULLABLE const int64_t *dim, libdl_bool keepdim, LIBDL_NULLABLE const char *interpolation,
    int64_t interpolation_length, libdl_tensor *dst);

/** Quantiles of the elements that are no NaN, along one dimension or of all.
 *
 *  input          floating, with elements
 *  q              from 0 to 1: a number, or 0-d or [k] of input's dtype (or float32, for 16 bits)
 *  dim            which dimension; NULL: all
 *  keepdim        whether it stays with size 1
 *  interpolation  what lies between two elements: "linear" (NULL), "lower", "higher", "midpoint" or
 *                 "nearest"
 *  out            new, the dimension removed; k in front for a q of [k]; NaN where nothing else is
 *
 *  Gradient: any order, forward mode; to the elements beside the place, and to q.
 *  Errors: DTYPE (input is not floating, or q of another dtype), INDEX (dim out of range), VALUE (q
 *  out of range or of more dimensions, another interpolation), SHAPE (no elements).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Autocast: float32.
 *  Python: nanquantile(input, q, dim=None, keepdim=False, *,
 *          interpolation='linear') [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nanquantile(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *q,
    LIBDL_NULLABLE const int64_t *dim, libdl_bool keepdim, LIBDL_NULLABLE const char *interpolation,
    int64_t interpolation_length, LIBDL_NEW libdl_tensor **out);

/** libdl_nanquantile into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nanquantile_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *q,
    LIBDL_NULLABLE const int64_t *dim, libdl_bool keepdim, LIBDL_NULLABLE const char *interpolation,
    int64_t interpolation_length, libdl_tensor *dst);

/** How often each number from 0 on occurs in a vector of integers, or the sums of its weights.
 *
 *  input      [n], integers or bool, none negative
 *  weights    NULL: 1 for each; else real, [n]
 *  minlength  the least length of the result
 *  out        new, [at least minlength]: int64; with weights float32 for such, else float64, but
 *             int64 where input has no elements
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (input is no vector of integers, or holds a negative number; minlength is
 *  negative), SHAPE (weights of another shape), UNSUPPORTED (meta).
 *  Threads: concurrent-read.
 *  Python: bincount(input, weights=None, minlength=0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bincount(const libdl_tensor *input,
                                                      LIBDL_NULLABLE const libdl_tensor *weights,
                                                      int64_t minlength,
                                                      LIBDL_NEW libdl_tensor **out);

/** How many elements lie in each of several parts of equal width of a range.
 *
 *  input  real
 *  bins   how many parts, above 0; the last one has its upper end, too
 *  min    the range's lower end
 *  max    its upper end; both 0: input's own least and greatest element
 *  out    new, [bins], input's dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: VALUE (bins is not above 0, min is above max, one of them is not finite), UNSUPPORTED
 *  (complex), OVERFLOW (more bins than memory has bytes).
 *  Threads: concurrent-read.
 *  Python: histc(input, bins=100, min=0.0, max=0.0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_histc(const libdl_tensor *input, int64_t bins,
                                                   double min, double max,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_histc into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_histc_into(const libdl_tensor *input, int64_t bins,
                                                        double min, double max, libdl_tensor *dst);

/** How many elements lie in each bin, and the bins' edges.
 *
 *  input      float32 or float64
 *  bins       how many bins of equal width there are, above 0
 *  low        the first edge; NULL: the least element
 *  high       the last edge; NULL: the greatest element
 *  weight     NULL: 1 for each; else what each element counts, real, as many as input's
 *  density    whether counts are divided by their sum and by the widths
 *  hist       new, [bins], input's dtype; a bin has its left edge, the last one its right edge, too
 *  bin_edges  new, [bins + 1], input's dtype
 *
 *  Gradient: none; the results carry no history.
 *  Errors: UNSUPPORTED (another dtype, meta), VALUE (bins below 1, edges that do not ascend or are
 *  not finite), SHAPE (weight has another number of elements).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_histogram(
    const libdl_tensor *input, int64_t bins, LIBDL_NULLABLE const double *low,
    LIBDL_NULLABLE const double *high, LIBDL_NULLABLE const libdl_tensor *weight,
    libdl_bool density, LIBDL_NEW libdl_tensor **hist, LIBDL_NEW libdl_tensor **bin_edges);

/** How many elements lie between each of given edges and the next.
 *
 *  input      float32 or float64
 *  bins       [n + 1], at least two edges, ascending, of input's dtype
 *  weight     NULL: 1 for each; else what each element counts, real, as many as input's
 *  density    whether counts are divided by their sum and by the widths
 *  hist       new, [n], input's dtype; a bin has its left edge, the last one its right edge, too
 *  bin_edges  new: a copy of bins
 *
 *  Gradient: none; the results carry no history.
 *  Errors: UNSUPPORTED (another dtype, meta), SHAPE (bins of another dtype or shape, weight of
 *  another number of elements).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_histogram_with_edges(
    const libdl_tensor *input, const libdl_tensor *bins, LIBDL_NULLABLE const libdl_tensor *weight,
    libdl_bool density, LIBDL_NEW libdl_tensor **hist, LIBDL_NEW libdl_tensor **bin_edges);

/** libdl_histogram_with_edges of points: counts with a dimension for each coordinate.
 *
 *  input    [.., d], float32 or float64: points of d coordinates
 *  bins     d vectors of edges, each as of libdl_histogram_with_edges
 *  weight   NULL: 1 for each; else what each point counts, real, as many as points
 *  density  whether counts are divided by their sum and by the widths
 *  out      new, one size for each coordinate, input's dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: UNSUPPORTED (another dtype, meta), SHAPE (input is no list of points, bins of another
 *  dtype or shape, weight of another number of elements), VALUE (another number of bins than
 *  coordinates).
 *  Threads: concurrent-read.
 *  Python: internal
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_histogramdd(
    const libdl_tensor *input, const libdl_tensor *const *bins, int64_t bins_count,
    LIBDL_NULLABLE const libdl_tensor *weight, libdl_bool density, LIBDL_NEW libdl_tensor **out);

/** The different elements, or slices along a dimension, in ascending order.
 *
 *  input           real
 *  sorted          changes nothing: they always are
 *  return_inverse  whether inverse is made
 *  return_counts   whether counts are made
 *  dim             NULL: of all elements; else which dimension's slices are compared
 *  values          new, [k], or input's shape with k along dim; NaN differs from NaN
 *  inverse         new, int64, input's shape, or [n] of slices: each one's place in values; or [0]
 *  counts          new, int64, [k]: how many there were of each, or [0]
 *
 *  Gradient: none; the results carry no history.
 *  Errors: INDEX (dim out of range), DTYPE (complex), UNSUPPORTED (meta).
 *  Threads: concurrent-read.
 *  Python: unique(input, sorted=True, return_inverse=False, return_counts=False,
 *          dim=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unique(
    const libdl_tensor *input, libdl_bool sorted, libdl_bool return_inverse,
    libdl_bool return_counts, LIBDL_NULLABLE const int64_t *dim, LIBDL_NEW libdl_tensor **values,
    LIBDL_NEW libdl_tensor **inverse, LIBDL_NEW libdl_tensor **counts);

/** The elements, or slices along a dimension, that differ from the one before.
 *
 *  input           any
 *  return_inverse  whether inverse is made
 *  return_counts   whether counts are made
 *  dim             NULL: of all elements; else which dimension's slices are compared
 *  values          new, [k], or input's shape with k along dim
 *  inverse         new, int64, input's shape, or [n] of slices: each one's place in values; or [0]
 *  counts          new, int64, [k]: how many there were of each, or [0]
 *
 *  Gradient: none; the results carry no history.
 *  Errors: INDEX (dim out of range), UNSUPPORTED (meta).
 *  Threads: concurrent-read.
 *  Python: unique_consecutive(input, return_inverse=False, return_counts=False,
 *          dim=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unique_consecutive(
    const libdl_tensor *input, libdl_bool return_inverse, libdl_bool return_counts,
    LIBDL_NULLABLE const int64_t *dim, LIBDL_NEW libdl_tensor **values,
    LIBDL_NEW libdl_tensor **inverse, LIBDL_NEW libdl_tensor **counts);

/** Whether each element occurs among the test elements.
 *
 *  elements       any, or a number
 *  test_elements  any, or a number
 *  assume_unique  changes nothing: whether neither has an element twice
 *  invert         whether the answers are turned around
 *  out            new, bool, elements' shape; a NaN occurs nowhere
 *
 *  Gradient: none; the result carries no history.
 *  Errors: DEVICE (two devices).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: isin(elements, test_elements, *, assume_unique=False, invert=False) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isin(LIBDL_NUMBER const libdl_tensor *elements,
                                                  LIBDL_NUMBER const libdl_tensor *test_elements,
                                                  libdl_bool assume_unique, libdl_bool invert,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_isin into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isin_into(
    LIBDL_NUMBER const libdl_tensor *elements, LIBDL_NUMBER const libdl_tensor *test_elements,
    libdl_bool assume_unique, libdl_bool invert, libdl_tensor *dst);

/** Elements of input, read as a vector.
 *
 *  input  any
 *  index  int64 or int32, from -n to n - 1 for n elements
 *  out    new, index's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (index out of range), DTYPE (index is no integer).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: take(input, index) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_take(const libdl_tensor *input,
                                                  const libdl_tensor *index,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_take into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_take_into(const libdl_tensor *input,
                                                       const libdl_tensor *index,
                                                       libdl_tensor *dst);

/** The coordinates that row-major places have in a tensor of a shape.
 *
 *  indices  integers
 *  shape    sizes, none negative, and above 0 where there are places
 *  out      new, for each dimension int64 of indices' shape
 *
 *  Gradient: none; the results carry no history.
 *  Errors: DTYPE (indices are no integers), VALUE (a size that is negative or 0).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: unravel_index(indices, shape) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_unravel_index(const libdl_tensor *indices,
                                                           const int64_t *shape, int32_t ndim,
                                                           LIBDL_NEW libdl_tensor_list **out);

/** Covariances of variables, the rows of [variables, observations]; of a vector its variance.
 *
 *  input       numbers, up to two dimensions
 *  correction  what is subtracted from the number of observations
 *  fweights    NULL; else how often each observation was made, integers, [observations]
 *  aweights    NULL; else how much each observation counts, floating, [observations]
 *  out         new, [variables, variables], or 0-d for one; not finite, with a warning, where the
 *              correction leaves no observations
 *
 *  Gradient: any order, forward mode.
 *  Errors: UNSUPPORTED (bool), SHAPE (more dimensions, weights of another shape), DTYPE (weights of
 *  another kind), VALUE (a negative weight).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: cov(input, *, correction=1, fweights=None, aweights=None) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cov(const libdl_tensor *input, int64_t correction,
                                                 LIBDL_NULLABLE const libdl_tensor *fweights,
                                                 LIBDL_NULLABLE const libdl_tensor *aweights,
                                                 LIBDL_NEW libdl_tensor **out);

/** Pearson's correlations of variables: libdl_cov divided by both standard deviations.
 *
 *  input  numbers, up to two dimensions
 *  out    new, [variables, variables], or 0-d for one; its parts lie between -1 and 1
 *
 *  Gradient: any order, forward mode.
 *  Errors: UNSUPPORTED (bool), SHAPE (more dimensions).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: corrcoef(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_corrcoef(const libdl_tensor *input,
                                                      LIBDL_NEW libdl_tensor **out);

/** The vector norm of the difference: libdl_norm of input - other.
 *
 *  input  floating or complex
 *  other  broadcasts with input
 *  p      as of libdl_norm
 *  out    new, 0-d
 *
 *  Gradient: any order, forward mode; 0 where the norm is 0.
 *  Errors: SHAPE (shapes that do not broadcast, an infinite p and no elements), DTYPE (neither
 *  floating nor complex).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: dist(input, other, p=2.0) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dist(const libdl_tensor *input,
                                                  const libdl_tensor *other, double p,
                                                  LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
