/* SPDX-License-Identifier: Apache-2.0 */

/** Pooling over windows of one to three dimensions, and its reverse. (libdl_max_pool2d and
 *  libdl_max_pool2d_with_indices are in nn.h.)
 *
 *  A window's sizes, steps and padding are one number for all dimensions, or one for each. With
 *  padding p, dilation d and ceil_mode false a dimension of n elements has
 *
 *      (n + 2 p - d (kernel_size - 1) - 1) / stride + 1
 *
 *  windows, rounded down; with ceil_mode rounded up, but no window begins behind the padding on the
 *  left and the elements. To the reader results are row-major, unless input's strides have the
 *  channels innermost; in memory they lie innermost if input's do. 16-bit dtypes are computed in
 *  float32. */
#ifndef LIBDL_POOLING_H
#define LIBDL_POOLING_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Max pooling over signals: the largest element of each window.
 *
 *  input        real but not bool, [n, c, l] or [c, l], of which only n may be 0
 *  kernel_size  the window's sizes, 1 or more: one number
 *  stride       the step from window to window, likewise; NULL or none: kernel_size
 *  padding      how far windows reach beyond each side, where there are no elements: at most half a
 *               window; NULL: 0
 *  dilation     the step between a window's elements, 1 or more; NULL: 1
 *  ceil_mode    whether a last window may reach beyond the padding, if it begins before it
 *  out          new, input's dtype, the windows instead of input's sizes
 *
 *  Of equal elements the first in the window is chosen; NaN counts as largest, and of several the
 *  last is chosen.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has another shape, or no room for a window), VALUE (an argument's numbers,
 *  or how many there are), DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False)
 *    [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_pool1d(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, libdl_bool ceil_mode,
    LIBDL_NEW libdl_tensor **out);

/** libdl_max_pool1d, and the indices of the elements in input.
 *
 *  input, kernel_size, stride, padding, dilation, ceil_mode  as in libdl_max_pool1d
 *  values   new, as in libdl_max_pool1d
 *  indices  new, int64, values' shape: each element's place in input
 *
 *  Gradient: any order, forward mode, of values.
 *  Errors: as libdl_max_pool1d.
 *  Threads: concurrent-read.
 *  Python: max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1,
 *    ceil_mode=False) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_pool1d_with_indices(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, libdl_bool ceil_mode,
    LIBDL_NEW libdl_tensor **values, LIBDL_NEW libdl_tensor **indices);

/** Max pooling over volumes: the largest element of each window.
 *
 *  input        real but not bool, [n, c, d, h, w] or [c, d, h, w], of which only n may be 0
 *  kernel_size  the window's sizes, 1 or more: one number, or one for each dimension
 *  stride       the step from window to window, likewise; NULL or none: kernel_size
 *  padding      how far windows reach beyond each side, where there are no elements: at most half a
 *               window; NULL: 0
 *  dilation     the step between a window's elements, 1 or more; NULL: 1
 *  ceil_mode    whether a last window may reach beyond the padding, if it begins before it
 *  out          new, input's dtype, the windows instead of input's sizes
 *
 *  Of equal elements the first in the window is chosen; NaN counts as largest, and of several the
 *  last is chosen.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has another shape, or no room for a window), VALUE (an argument's numbers,
 *  or how many there are), DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False)
 *    [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_pool3d(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, libdl_bool ceil_mode,
    LIBDL_NEW libdl_tensor **out);

/** libdl_max_pool3d, and the indices of the elements in input.
 *
 *  input, kernel_size, stride, padding, dilation, ceil_mode  as in libdl_max_pool3d
 *  values   new, as in libdl_max_pool3d
 *  indices  new, int64, values' shape: each element's place in input, as (plane * h + row) * w +
 *           column
 *
 *  Gradient: any order, forward mode, of values.
 *  Errors: as libdl_max_pool3d.
 *  Threads: concurrent-read.
 *  Python: max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1,
 *    ceil_mode=False) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_pool3d_with_indices(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, libdl_bool ceil_mode,
    LIBDL_NEW libdl_tensor **values, LIBDL_NEW libdl_tensor **indices);

/** Average pooling over signals: the mean of each window.
 *
 *  input              real but not bool, [n, c, l] or [c, l], of which only n may be 0
 *  kernel_size        the window's sizes, 1 or more: one number
 *  stride             the step from window to window, likewise; NULL or none: kernel_size
 *  padding            zeros around input, at most half a window; NULL: 0
 *  ceil_mode          whether a last window may reach beyond the padding, if it begins before it
 *  count_include_pad  whether a window is divided by all of its positions that lie in input or its
 *                     padding; else by those in input
 *  out                new, input's dtype, the windows instead of input's sizes
 *
 *  Means of integers are rounded towards 0; their sums wrap.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has another shape, or no room for a window), VALUE (an argument's numbers,
 *  or how many there are), DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
 *    count_include_pad=True) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_avg_pool1d(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count, libdl_bool ceil_mode,
    libdl_bool count_include_pad, LIBDL_NEW libdl_tensor **out);

/** Average pooling over images: the mean of each window.
 *
 *  input              real but not bool, [n, c, h, w] or [c, h, w], of which only n may be 0
 *  kernel_size        the window's sizes, 1 or more: one number, or one for each dimension
 *  stride             the step from window to window, likewise; NULL or none: kernel_size
 *  padding            zeros around input, at most half a window; NULL: 0
 *  ceil_mode          whether a last window may reach beyond the padding, if it begins before it
 *  count_include_pad  whether a window is divided by all of its positions that lie in input or its
 *                     padding; else by those in input
 *  divisor_override   by what sums are divided instead, not 0; NULL: as above
 *  out                new, input's dtype, the windows instead of input's sizes
 *
 *  Means of integers are rounded towards 0; their sums wrap.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has another shape, or no room for a window), VALUE (an argument's numbers,
 *  or how many there are), DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
 *    count_include_pad=True, divisor_override=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_avg_pool2d(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count, libdl_bool ceil_mode,
    libdl_bool count_include_pad, LIBDL_NULLABLE const int64_t *divisor_override,
    LIBDL_NEW libdl_tensor **out);

/** Average pooling over volumes: the mean of each window.
 *
 *  input              real but not bool, [n, c, d, h, w] or [c, d, h, w], of which only n may be 0
 *  kernel_size        the window's sizes, 1 or more: one number, or one for each dimension
 *  stride             the step from window to window, likewise; NULL or none: kernel_size
 *  padding            zeros around input, at most half a window; NULL: 0
 *  ceil_mode          whether a last window may reach beyond the padding, if it begins before it
 *  count_include_pad  whether a window is divided by all of its positions that lie in input or its
 *                     padding; else by those in input
 *  divisor_override   by what sums are divided instead, not 0; NULL: as above
 *  out                new, input's dtype, the windows instead of input's sizes
 *
 *  Means of integers are rounded towards 0; their sums wrap.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has another shape, or no room for a window), VALUE (an argument's numbers,
 *  or how many there are), DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
 *    count_include_pad=True, divisor_override=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_avg_pool3d(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count, libdl_bool ceil_mode,
    libdl_bool count_include_pad, LIBDL_NULLABLE const int64_t *divisor_override,
    LIBDL_NEW libdl_tensor **out);

/** Average pooling over signals to sizes that are given: window i of n spans the elements from i
 *  size / n, rounded down, up to (i + 1) size / n, rounded up.
 *
 *  input        floating or complex, [n, c, l] or [c, l], of which only n and c may be 0
 *  output_size  the result's sizes, 0 or more: one number
 *  out          new, input's dtype, with these sizes
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has another shape), VALUE (an argument's numbers, or how many there are),
 *  DTYPE (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Python: adaptive_avg_pool1d(input, output_size) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adaptive_avg_pool1d(const libdl_tensor *input,
                                                                 const int64_t *output_size,
                                                                 int32_t output_size_count,
                                                                 LIBDL_NEW libdl_tensor **out);

/** Average pooling over images to sizes that are given: window i of n spans the elements from i
 *  size / n, rounded down, up to (i + 1) size / n, rounded up.
 *
 *  input        floating or complex, [n, c, h, w] or [c, h, w], of which only n and c may be 0
 *  output_size  the result's sizes, 0 or more: one number, or one for each dimension
 *  out          new, input's dtype, with these sizes
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has another shape), VALUE (an argument's numbers, or how many there are),
 *  DTYPE (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Python: adaptive_avg_pool2d(input, output_size) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adaptive_avg_pool2d(const libdl_tensor *input,
                                                                 const int64_t *output_size,
                                                                 int32_t output_size_count,
                                                                 LIBDL_NEW libdl_tensor **out);

/** Average pooling over volumes to sizes that are given: window i of n spans the elements from i
 *  size / n, rounded down, up to (i + 1) size / n, rounded up.
 *
 *  input        floating or complex, [n, c, d, h, w] or [c, d, h, w], of which only n and c may be
 *               0
 *  output_size  the result's sizes, 0 or more: one number, or one for each dimension
 *  out          new, input's dtype, with these sizes
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has another shape), VALUE (an argument's numbers, or how many there are),
 *  DTYPE (neither floating nor complex).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: adaptive_avg_pool3d(input, output_size) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adaptive_avg_pool3d(const libdl_tensor *input,
                                                                 const int64_t *output_size,
                                                                 int32_t output_size_count,
                                                                 LIBDL_NEW libdl_tensor **out);

/** Max pooling over signals to sizes that are given, with the windows of libdl_adaptive_avg_pool1d.
 *
 *  input        real but not bool, [n, c, l] or [c, l], of which only the first may be 0
 *  output_size  the result's sizes, 0 or more: one number
 *  values       new, input's dtype, with these sizes
 *  indices      new, int64, values' shape: each element's place in input
 *
 *  Equal elements and NaN are chosen as in libdl_max_pool1d.
 *  Gradient: any order, forward mode, of values.
 *  Errors: SHAPE (input has another shape), VALUE (an argument's numbers, or how many there are),
 *  DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: adaptive_max_pool1d(input, output_size) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adaptive_max_pool1d(const libdl_tensor *input,
                                                                 const int64_t *output_size,
                                                                 int32_t output_size_count,
                                                                 LIBDL_NEW libdl_tensor **values,
                                                                 LIBDL_NEW libdl_tensor **indices);

/** Max pooling over images to sizes that are given, with the windows of libdl_adaptive_avg_pool2d.
 *
 *  input        real but not bool, [n, c, h, w] or [c, h, w], of which only the first may be 0
 *  output_size  the result's sizes, 0 or more: one number, or one for each dimension
 *  values       new, input's dtype, with these sizes
 *  indices      new, int64, values' shape: each element's place in input, as row * w + column
 *
 *  Equal elements and NaN are chosen as in libdl_max_pool2d.
 *  Gradient: any order, forward mode, of values.
 *  Errors: SHAPE (input has another shape), VALUE (an argument's numbers, or how many there are),
 *  DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: adaptive_max_pool2d(input, output_size) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adaptive_max_pool2d(const libdl_tensor *input,
                                                                 const int64_t *output_size,
                                                                 int32_t output_size_count,
                                                                 LIBDL_NEW libdl_tensor **values,
                                                                 LIBDL_NEW libdl_tensor **indices);

/** Max pooling over volumes to sizes that are given, with the windows of libdl_adaptive_avg_pool3d.
 *
 *  input        real but not bool, [n, c, d, h, w] or [c, d, h, w], of which only the first may be
 *               0
 *  output_size  the result's sizes, 0 or more: one number, or one for each dimension
 *  values       new, input's dtype, with these sizes
 *  indices      new, int64, values' shape: each element's place in input, as (plane * h + row) * w
 *               + column
 *
 *  Equal elements and NaN are chosen as in libdl_max_pool3d.
 *  Gradient: any order, forward mode, of values.
 *  Errors: SHAPE (input has another shape), VALUE (an argument's numbers, or how many there are),
 *  DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: adaptive_max_pool3d(input, output_size) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_adaptive_max_pool3d(const libdl_tensor *input,
                                                                 const int64_t *output_size,
                                                                 int32_t output_size_count,
                                                                 LIBDL_NEW libdl_tensor **values,
                                                                 LIBDL_NEW libdl_tensor **indices);

/** Power-average pooling over signals: (sum of x^norm_type)^(1 / norm_type) of each window.
 *
 *  input        real but not bool, [n, c, l] or [c, l], of which only n may be 0
 *  norm_type    the power, not 0; infinity: the largest |x| of each window, -infinity: the smallest
 *  kernel_size  the window's sizes, 1 or more: one number
 *  stride       the step from window to window, likewise; NULL or none: kernel_size
 *  ceil_mode    whether a last window may reach beyond input: its mean is then taken for the
 *               elements that it lacks
 *  out          new, input's dtype or, of integers, the default one (theirs if norm_type is
 *               infinite); the windows instead of input's sizes
 *
 *  Gradient: any order, forward mode; NaN or infinite where the sum is 0, as the formula gives it.
 *  Errors: SHAPE (input has another shape, or no room for a window), VALUE (an argument's numbers,
 *  or how many there are), DTYPE (not floating).
 *  Threads: concurrent-read.
 *  Python: lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lp_pool1d(const libdl_tensor *input, double norm_type,
                                                       const int64_t *kernel_size,
                                                       int32_t kernel_size_count,
                                                       LIBDL_NULLABLE const int64_t *stride,
                                                       int32_t stride_count, libdl_bool ceil_mode,
                                                       LIBDL_NEW libdl_tensor **out);

/** Power-average pooling over images: (sum of x^norm_type)^(1 / norm_type) of each window.
 *
 *  input        real but not bool, [n, c, h, w] or [c, h, w], of which only n may be 0
 *  norm_type    the power, not 0; infinity: the largest |x| of each window, -infinity: the smallest
 *  kernel_size  the window's sizes, 1 or more: one number, or one for each dimension
 *  stride       the step from window to window, likewise; NULL or none: kernel_size
 *  ceil_mode    whether a last window may reach beyond input: its mean is then taken for the
 *               elements that it lacks
 *  out          new, input's dtype or, of integers, the default one (theirs if norm_type is
 *               infinite); the windows instead of input's sizes
 *
 *  Gradient: any order, forward mode; NaN or infinite where the sum is 0, as the formula gives it.
 *  Errors: SHAPE (input has another shape, or no room for a window), VALUE (an argument's numbers,
 *  or how many there are), DTYPE (not floating).
 *  Threads: concurrent-read.
 *  Python: lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lp_pool2d(const libdl_tensor *input, double norm_type,
                                                       const int64_t *kernel_size,
                                                       int32_t kernel_size_count,
                                                       LIBDL_NULLABLE const int64_t *stride,
                                                       int32_t stride_count, libdl_bool ceil_mode,
                                                       LIBDL_NEW libdl_tensor **out);

/** Power-average pooling over volumes: (sum of x^norm_type)^(1 / norm_type) of each window.
 *
 *  input        real but not bool, [n, c, d, h, w] or [c, d, h, w], of which only n may be 0
 *  norm_type    the power, not 0; infinity: the largest |x| of each window, -infinity: the smallest
 *  kernel_size  the window's sizes, 1 or more: one number, or one for each dimension
 *  stride       the step from window to window, likewise; NULL or none: kernel_size
 *  ceil_mode    whether a last window may reach beyond input: its mean is then taken for the
 *               elements that it lacks
 *  out          new, input's dtype or, of integers, the default one (theirs if norm_type is
 *               infinite); the windows instead of input's sizes
 *
 *  Gradient: any order, forward mode; NaN or infinite where the sum is 0, as the formula gives it.
 *  Errors: SHAPE (input has another shape, or no room for a window), VALUE (an argument's numbers,
 *  or how many there are), DTYPE (not floating).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lp_pool3d(const libdl_tensor *input, double norm_type,
                                                       const int64_t *kernel_size,
                                                       int32_t kernel_size_count,
                                                       LIBDL_NULLABLE const int64_t *stride,
                                                       int32_t stride_count, libdl_bool ceil_mode,
                                                       LIBDL_NEW libdl_tensor **out);

/** Reverses libdl_max_pool1d_with_indices: a tensor of zeros, with each element in its place.
 *
 *  input        any dtype, [n, c, l] or [c, l], of which only n and c may be 0
 *  indices      int64, input's shape: each element's place in the result; if several have one
 *               place, the last of them is found there
 *  kernel_size  the window's sizes, 1 or more: one number
 *  stride       the step from window to window, likewise; NULL or none: kernel_size
 *  padding      how far windows reached beyond each side, 0 or more; NULL: 0
 *  output_size  the result's sizes, with or without those of n and c before them: they differ by
 *               less than a step from (size - 1) stride + kernel_size - 2 padding, of which the
 *               result has exactly as many if this is NULL
 *  out          new, input's dtype, with these sizes
 *
 *  Gradient: any order, forward mode, of input.
 *  Errors: SHAPE (shapes), VALUE (an argument's numbers, or how many there are), INDEX (an index
 *  out of range), DTYPE (indices not int64).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None)
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_unpool1d(
    const libdl_tensor *input, const libdl_tensor *indices, const int64_t *kernel_size,
    int32_t kernel_size_count, LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *output_size, int32_t output_size_count,
    LIBDL_NEW libdl_tensor **out);

/** Reverses libdl_max_pool2d_with_indices: a tensor of zeros, with each element in its place.
 *
 *  input        any dtype, [n, c, h, w] or [c, h, w], of which only n and c may be 0
 *  indices      int64, input's shape: each element's place in the result, as row * w + column; if
 *               several have one place, the last of them is found there
 *  kernel_size  the window's sizes, 1 or more: one number, or one for each dimension
 *  stride       the step from window to window, likewise; NULL or none: kernel_size
 *  padding      how far windows reached beyond each side, 0 or more; NULL: 0
 *  output_size  the result's sizes, with or without those of n and c before them: they differ by
 *               less than a step from (size - 1) stride + kernel_size - 2 padding, of which the
 *               result has exactly as many if this is NULL
 *  out          new, input's dtype, with these sizes
 *
 *  Gradient: any order, forward mode, of input.
 *  Errors: SHAPE (shapes), VALUE (an argument's numbers, or how many there are), INDEX (an index
 *  out of range), DTYPE (indices not int64).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None)
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_unpool2d(
    const libdl_tensor *input, const libdl_tensor *indices, const int64_t *kernel_size,
    int32_t kernel_size_count, LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *output_size, int32_t output_size_count,
    LIBDL_NEW libdl_tensor **out);

/** Reverses libdl_max_pool3d_with_indices: a tensor of zeros, with each element in its place.
 *
 *  input        any dtype, [n, c, d, h, w] or [c, d, h, w], of which only n and c may be 0
 *  indices      int64, input's shape: each element's place in the result, as (plane * h + row) * w
 *               + column; if several have one place, the last of them is found there
 *  kernel_size  the window's sizes, 1 or more: one number, or one for each dimension
 *  stride       the step from window to window, likewise; NULL or none: kernel_size
 *  padding      how far windows reached beyond each side, 0 or more; NULL: 0
 *  output_size  the result's sizes, with or without those of n and c before them: they differ by
 *               less than a step from (size - 1) stride + kernel_size - 2 padding, of which the
 *               result has exactly as many if this is NULL
 *  out          new, input's dtype, with these sizes
 *
 *  Gradient: any order, forward mode, of input.
 *  Errors: SHAPE (shapes), VALUE (an argument's numbers, or how many there are), INDEX (an index
 *  out of range), DTYPE (indices not int64).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None)
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_unpool3d(
    const libdl_tensor *input, const libdl_tensor *indices, const int64_t *kernel_size,
    int32_t kernel_size_count, LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *output_size, int32_t output_size_count,
    LIBDL_NEW libdl_tensor **out);

/** Max pooling over images with windows at random distances (Graham, Fractional Max-Pooling, 2014).
 *
 *  input           floating, [n, c, h, w] or [c, h, w], of which only the first may be 0
 *  kernel_size     the window's sizes, 1 or more: one number, or one for each dimension
 *  output_size     the result's sizes, 0 or more, likewise; at most size - kernel_size + 1
 *  random_samples  [n, c, 2], input's dtype, n = 1 for input without a batch: in [0, 1), how the
 *                  windows are shifted in w and h; in dimensions of output_size o window i begins
 *                  at floor((i + sample) a) - floor(sample a) with a = (size - kernel_size) / (o -
 *                  1), the last one at size - kernel_size
 *  values          new, input's dtype, with these sizes
 *  indices         new, int64, values' shape: each element's place in input, as row * w + column
 *
 *  Equal elements and NaN are chosen as in libdl_max_pool2d.
 *  Gradient: any order, forward mode, of values.
 *  Errors: SHAPE (shapes), VALUE (an argument's numbers, or how many there are), DTYPE (not
 *  floating, or random_samples of another dtype). Windows of samples outside of [0, 1) are moved
 *  into input.
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: fractional_max_pool2d(input, kernel_size, output_size, random_samples) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fractional_max_pool2d(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    const int64_t *output_size, int32_t output_size_count, const libdl_tensor *random_samples,
    LIBDL_NEW libdl_tensor **values, LIBDL_NEW libdl_tensor **indices);

/** Max pooling over volumes with windows at random distances (Graham, Fractional Max-Pooling,
 *  2014).
 *
 *  input           floating, [n, c, d, h, w] or [c, d, h, w], of which only the first may be 0
 *  kernel_size     the window's sizes, 1 or more: one number, or one for each dimension
 *  output_size     the result's sizes, 0 or more, likewise; at most size - kernel_size + 1
 *  random_samples  [n, c, 3], input's dtype, n = 1 for input without a batch: in [0, 1), how the
 *                  windows are shifted in d, h and w; in dimensions of output_size o window i
 *                  begins at floor((i + sample) a) - floor(sample a) with a = (size - kernel_size)
 *                  / (o - 1), the last one at size - kernel_size
 *  values          new, input's dtype, with these sizes
 *  indices         new, int64, values' shape: each element's place in input, as (plane * h + row) *
 *                  w + column
 *
 *  Equal elements and NaN are chosen as in libdl_max_pool3d.
 *  Gradient: any order, forward mode, of values.
 *  Errors: SHAPE (shapes), VALUE (an argument's numbers, or how many there are), DTYPE (not
 *  floating, or random_samples of another dtype). Windows of samples outside of [0, 1) are moved
 *  into input.
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: fractional_max_pool3d(input, kernel_size, output_size, random_samples) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fractional_max_pool3d(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    const int64_t *output_size, int32_t output_size_count, const libdl_tensor *random_samples,
    LIBDL_NEW libdl_tensor **values, LIBDL_NEW libdl_tensor **indices);

LIBDL_END

#endif
