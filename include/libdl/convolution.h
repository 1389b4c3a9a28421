/* SPDX-License-Identifier: Apache-2.0 */

/** Convolutions in one to three dimensions, and transposed ones.
 *
 *  As everywhere in deep learning these are cross-correlations: the window is not turned. In two
 *  dimensions and with one group, a result is
 *
 *      out[n, k, i, j] = bias[k] + sum over c, t, u of weight[k, c, t, u] *
 *          input[n, c, i stride[0] - padding[0] + t dilation[0],
 *                      j stride[1] - padding[1] + u dilation[1]]
 *
 *  where input counts as 0 outside. To the reader a result is row-major; in memory its channels lie
 *  innermost until its bytes are asked for. */
#ifndef LIBDL_CONVOLUTION_H
#define LIBDL_CONVOLUTION_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Convolution over signals.
 *
 *  input     numeric, [n, c, l] or [c, l], of which only n and c may be 0
 *  weight    [k, c / groups, t], input's dtype; k is a multiple of groups
 *  bias      [k]; NULL: 0
 *  stride    the step of the window, 1 or more: one number; NULL: 1
 *  padding   zeros around input: one number, or two, before and after; NULL: 0
 *  dilation  the step between a window's elements, 1 or more, as stride; NULL: 1
 *  groups    how many parts the channels are cut into; each part of the result reads one of input
 *  out       new, input's dtype, with k channels and sizes of (size + padding on both sides -
 *            dilation (window - 1) - 1) / stride + 1, rounded down
 *
 *  16-bit dtypes are summed in float32; integers wrap.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes that do not fit each other, or a window larger than the padded input),
 *  VALUE (an argument's numbers, or how many there are), DTYPE (bool, or they differ).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_conv1d(
    const libdl_tensor *input, const libdl_tensor *weight, LIBDL_NULLABLE const libdl_tensor *bias,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, int64_t groups,
    LIBDL_NEW libdl_tensor **out);

/** Convolution over images.
 *
 *  input     numeric, [n, c, h, w] or [c, h, w], of which only n and c may be 0
 *  weight    [k, c / groups, t, u], input's dtype; k is a multiple of groups
 *  bias      [k]; NULL: 0
 *  stride    the step of the window, 1 or more: one number, or one for each dimension; NULL: 1
 *  padding   zeros around input: one number, one for each dimension, or two for each, before and
 *            after; NULL: 0
 *  dilation  the step between a window's elements, 1 or more, as stride; NULL: 1
 *  groups    how many parts the channels are cut into; each part of the result reads one of input
 *  out       new, input's dtype, with k channels and sizes of (size + padding on both sides -
 *            dilation (window - 1) - 1) / stride + 1, rounded down
 *
 *  16-bit dtypes are summed in float32; integers wrap.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes that do not fit each other, or a window larger than the padded input),
 *  VALUE (an argument's numbers, or how many there are), DTYPE (bool, or they differ).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_conv2d(
    const libdl_tensor *input, const libdl_tensor *weight, LIBDL_NULLABLE const libdl_tensor *bias,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, int64_t groups,
    LIBDL_NEW libdl_tensor **out);

/** Convolution over volumes.
 *
 *  input     numeric, [n, c, d, h, w] or [c, d, h, w], of which only n and c may be 0
 *  weight    [k, c / groups, t, u, v], input's dtype; k is a multiple of groups
 *  bias      [k]; NULL: 0
 *  stride    the step of the window, 1 or more: one number, or one for each dimension; NULL: 1
 *  padding   zeros around input: one number, one for each dimension, or two for each, before and
 *            after; NULL: 0
 *  dilation  the step between a window's elements, 1 or more, as stride; NULL: 1
 *  groups    how many parts the channels are cut into; each part of the result reads one of input
 *  out       new, input's dtype, with k channels and sizes of (size + padding on both sides -
 *            dilation (window - 1) - 1) / stride + 1, rounded down
 *
 *  16-bit dtypes are summed in float32; integers wrap.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes that do not fit each other, or a window larger than the padded input),
 *  VALUE (an argument's numbers, or how many there are), DTYPE (bool, or they differ).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_conv3d(
    const libdl_tensor *input, const libdl_tensor *weight, LIBDL_NULLABLE const libdl_tensor *bias,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, int64_t groups,
    LIBDL_NEW libdl_tensor **out);

/** Transposed convolution over signals: what the gradient of libdl_conv1d by its input computes.
 *
 *  input           numeric, [n, c, l] or [c, l], of which only n and c may be 0
 *  weight          [c, k / groups, t], input's dtype; c is a multiple of groups
 *  bias            [k]; NULL: 0
 *  stride          the step of the window over the result, 1 or more: one number; NULL: 1
 *  padding         what is left out on both sides of the result, as stride; NULL: 0
 *  output_padding  what is added to its end, less than stride or dilation; NULL: 0
 *  groups          how many parts the channels are cut into
 *  dilation        the step between a window's elements, 1 or more, as stride; NULL: 1
 *  out             new, input's dtype, with k channels and sizes of (size - 1) stride - 2 padding +
 *                  dilation (window - 1) + output_padding + 1
 *
 *  Gradient: any order, forward mode.
 *  Errors: as libdl_conv1d; SHAPE also if the result would have no elements.
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0,
 *    groups=1, dilation=1) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_conv_transpose1d(
    const libdl_tensor *input, const libdl_tensor *weight, LIBDL_NULLABLE const libdl_tensor *bias,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *output_padding, int32_t output_padding_count, int64_t groups,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, LIBDL_NEW libdl_tensor **out);

/** Transposed convolution over images: what the gradient of libdl_conv2d by its input computes.
 *
 *  input           numeric, [n, c, h, w] or [c, h, w], of which only n and c may be 0
 *  weight          [c, k / groups, t, u], input's dtype; c is a multiple of groups
 *  bias            [k]; NULL: 0
 *  stride          the step of the window over the result, 1 or more: one number, or one for each
 *                  dimension; NULL: 1
 *  padding         what is left out on both sides of the result, as stride; NULL: 0
 *  output_padding  what is added to its end, less than stride or dilation; NULL: 0
 *  groups          how many parts the channels are cut into
 *  dilation        the step between a window's elements, 1 or more, as stride; NULL: 1
 *  out             new, input's dtype, with k channels and sizes of (size - 1) stride - 2 padding +
 *                  dilation (window - 1) + output_padding + 1
 *
 *  Gradient: any order, forward mode.
 *  Errors: as libdl_conv2d; SHAPE also if the result would have no elements.
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0,
 *    groups=1, dilation=1) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_conv_transpose2d(
    const libdl_tensor *input, const libdl_tensor *weight, LIBDL_NULLABLE const libdl_tensor *bias,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *output_padding, int32_t output_padding_count, int64_t groups,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, LIBDL_NEW libdl_tensor **out);

/** Transposed convolution over volumes: what the gradient of libdl_conv3d by its input computes.
 *
 *  input           numeric, [n, c, d, h, w] or [c, d, h, w], of which only n and c may be 0
 *  weight          [c, k / groups, t, u, v], input's dtype; c is a multiple of groups
 *  bias            [k]; NULL: 0
 *  stride          the step of the window over the result, 1 or more: one number, or one for each
 *                  dimension; NULL: 1
 *  padding         what is left out on both sides of the result, as stride; NULL: 0
 *  output_padding  what is added to its end, less than stride or dilation; NULL: 0
 *  groups          how many parts the channels are cut into
 *  dilation        the step between a window's elements, 1 or more, as stride; NULL: 1
 *  out             new, input's dtype, with k channels and sizes of (size - 1) stride - 2 padding +
 *                  dilation (window - 1) + output_padding + 1
 *
 *  Gradient: any order, forward mode.
 *  Errors: as libdl_conv3d; SHAPE also if the result would have no elements.
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0,
 *    groups=1, dilation=1) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_conv_transpose3d(
    const libdl_tensor *input, const libdl_tensor *weight, LIBDL_NULLABLE const libdl_tensor *bias,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *output_padding, int32_t output_padding_count, int64_t groups,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, LIBDL_NEW libdl_tensor **out);

/** libdl_conv1d over steps that come first: of input [t, n, c], weight [w, c, k] and bias [k].
 *
 *  input   numeric, [t, n, c]
 *  weight  [w, c, k], input's dtype
 *  bias    [k]; NULL: 0
 *  pad     how many steps of zeros stand before the first and behind the last one
 *  out     new, [t + 2 pad - w + 1, n, k], input's dtype; a view of what is new
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes that do not fit each other, or fewer steps than the window), VALUE (pad is
 *  negative), DTYPE (bool, or they differ).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: conv_tbc(input, weight, bias, pad=0) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_conv_tbc(const libdl_tensor *input,
                                                      const libdl_tensor *weight,
                                                      LIBDL_NULLABLE const libdl_tensor *bias,
                                                      int64_t pad, LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
