/* SPDX-License-Identifier: Apache-2.0 */

/** Operators that move or resample the pixels of images, of one to three dimensions. */
#ifndef LIBDL_IMAGE_H
#define LIBDL_IMAGE_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** input with more elements around it, or fewer.
 *
 *  input  any dtype
 *  pad    how many elements are added before and after the last dimension, then before and after
 *         the one before it, and so on; below 0: how many are left out
 *  mode   what is added. "constant": value. "reflect": what lies as far inside, the edge not
 *         repeated; fewer than input has. "replicate": the edge. "circular": what lies at the
 *         other end; at most as many as input has. All but "constant" take the last dimension of
 *         [c, w] or [n, c, w], the last two of [c, h, w] or [n, c, h, w], or the last three of
 *         [c, d, h, w] or [n, c, d, h, w]
 *  value  NULL: 0
 *  out    new
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (dimensions that do not fit pad; an empty one to take elements from), VALUE (pad's
 *  numbers, or how many there are; mode; a value in another mode than "constant", or one that
 *  input's dtype cannot hold).
 *  Threads: concurrent-read.
 *  Python: pad(input, pad, mode='constant', value=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_pad(const libdl_tensor *input, const int64_t *pad,
                                                 int32_t pad_count, const char *mode,
                                                 int64_t mode_length,
                                                 LIBDL_NULLABLE const double *value,
                                                 LIBDL_NEW libdl_tensor **out);

/** Moves channels into space: a new contiguous tensor with out[..., c, h r + i, w r + j] =
 *  input[..., c r r + i r + j, h, w], for r = upscale_factor.
 *
 *  input           any dtype, [..., c r r, h, w]
 *  upscale_factor  1 or more
 *  out             new, [..., c, h r, w r]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (less than three dimensions, channels that r r does not divide), VALUE.
 *  Threads: concurrent-read.
 *  Python: pixel_shuffle(input, upscale_factor) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_pixel_shuffle(const libdl_tensor *input,
                                                           int64_t upscale_factor,
                                                           LIBDL_NEW libdl_tensor **out);

/** The inverse of libdl_pixel_shuffle.
 *
 *  input             any dtype, [..., c, h r, w r]
 *  downscale_factor  r, 1 or more
 *  out               new, [..., c r r, h, w]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (less than three dimensions, sizes that r does not divide), VALUE.
 *  Threads: concurrent-read.
 *  Python: pixel_unshuffle(input, downscale_factor) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_pixel_unshuffle(const libdl_tensor *input,
                                                             int64_t downscale_factor,
                                                             LIBDL_NEW libdl_tensor **out);

/** Takes channels from each group in turn: channel k g + i of the result, for g = groups, is
 *  channel i c / g + k of input.
 *
 *  input   any dtype, [n, c, ...] with at least three dimensions
 *  groups  a divisor of c
 *  out     new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (less than three dimensions, channels that groups does not divide), VALUE.
 *  Threads: concurrent-read.
 *  Python: channel_shuffle(input, groups) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_channel_shuffle(const libdl_tensor *input,
                                                             int64_t groups,
                                                             LIBDL_NEW libdl_tensor **out);

/** The windows of images as columns, which Python calls functional.unfold (libdl_unfold is the view
 *  Tensor.unfold).
 *
 *  input        any dtype, [n, c, h, w] or [c, h, w], of which only n may be 0
 *  kernel_size  of the window, 1 or more: one number, or height and width
 *  dilation     the step between a window's elements, likewise; NULL: 1
 *  padding      zeros around input, likewise, 0 or more; NULL: 0
 *  stride       the step of the window, likewise, 1 or more; NULL: 1
 *  out          new, [n, c t u, windows] or [c t u, windows], with the windows in row-major order
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (another shape, or a window larger than the padded input), VALUE (an argument's
 *  numbers, or how many there are).
 *  Threads: concurrent-read.
 *  Python: unfold(input, kernel_size, dilation=1, padding=0, stride=1) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_im2col(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count, LIBDL_NEW libdl_tensor **out);

/** The sums of columns over the windows that they are of: the gradient of libdl_im2col. Python
 *  calls it functional.fold.
 *
 *  input        numeric, [n, c t u, windows] or [c t u, windows], of which only n may be 0
 *  output_size  of the images, 1 or more: one number, or height and width
 *  kernel_size, dilation, padding, stride  as of libdl_im2col
 *  out          new, [n, c, h, w] or [c, h, w]
 *
 *  16-bit dtypes are summed in float32; integers wrap.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (another shape than libdl_im2col makes of out's), VALUE (an argument's numbers, or
 *  how many there are), DTYPE (bool).
 *  Threads: concurrent-read.
 *  Python: fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_col2im(
    const libdl_tensor *input, const int64_t *output_size, int32_t output_size_count,
    const int64_t *kernel_size, int32_t kernel_size_count, LIBDL_NULLABLE const int64_t *dilation,
    int32_t dilation_count, LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count, LIBDL_NEW libdl_tensor **out);

/** Images of another size.
 *
 *  input           [n, c, w], [n, c, h, w] or [n, c, d, h, w], of which only n may be 0; floating,
 *                  or uint8 for "nearest", "nearest-exact" and images by "bilinear" and "bicubic"
 *  size            of the result: one number, or one for each dimension; NULL: scale_factor_* are
 *                  given
 *  scale_factor_d  the result's depth divided by input's; NULL where there is no depth, or if size
 *                  is given
 *  scale_factor_h  the same for the height
 *  scale_factor_w  the same for the width
 *  mode            "nearest" (the element at or before the place), "nearest-exact" (the nearest
 *                  one); "linear", "bilinear" or "trilinear", by dimensions; "bicubic" (images;
 *                  cubic convolution with a = -0.75, with antialias a = -0.5); "area" (the mean of
 *                  what an element of the result covers)
 *  align_corners   whether the centres of the outermost elements coincide, or else their edges;
 *                  for "linear", "bilinear", "trilinear" and "bicubic" only
 *  recompute_scale_factor  whether places follow from the sizes, or else from scale_factor_*, which
 *                  the rounded sizes may not match
 *  antialias       whether an image that becomes smaller is smoothed; for "bilinear" and "bicubic"
 *                  only
 *  out             new, input's dtype
 *
 *  16-bit dtypes are computed in float32, and rounded once. uint8 is computed with integers, by
 *  dimensions, as PyTorch does.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (another shape), VALUE (size, scale_factor_*, mode, and flags that do not fit it),
 *  DTYPE.
 *  Threads: concurrent-read.
 *  Python: interpolate(input, size=None, scale_factor_d=None, scale_factor_h=None,
 *    scale_factor_w=None, mode='nearest', align_corners=False, recompute_scale_factor=False,
 *    antialias=False) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_interpolate(
    const libdl_tensor *input, LIBDL_NULLABLE const int64_t *size, int32_t size_count,
    LIBDL_NULLABLE const double *scale_factor_d, LIBDL_NULLABLE const double *scale_factor_h,
    LIBDL_NULLABLE const double *scale_factor_w, const char *mode, int64_t mode_length,
    libdl_bool align_corners, libdl_bool recompute_scale_factor, libdl_bool antialias,
    LIBDL_NEW libdl_tensor **out);

/** The grid for libdl_grid_sample that applies an affine map to the places of a result's pixels.
 *
 *  theta          floating, [n, 2, 3] for images or [n, 3, 4] for volumes
 *  size           of the result: [n, c, h, w] or [n, c, d, h, w], 1 or more each
 *  align_corners  as of libdl_grid_sample
 *  out            new, [n, h, w, 2] or [n, d, h, w, 3]: theta times (x, y, 1) or (x, y, z, 1)
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (of theta), VALUE (size), DTYPE.
 *  Threads: concurrent-read.
 *  Python: affine_grid(theta, size, align_corners=False) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_affine_grid(const libdl_tensor *theta,
                                                         const int64_t *size, int32_t size_count,
                                                         libdl_bool align_corners,
                                                         LIBDL_NEW libdl_tensor **out);

/** Images at the places that a grid names.
 *
 *  input          floating, [n, c, h, w] or [n, c, d, h, w], of which only n and c may be 0
 *  grid           input's dtype, [n, h', w', 2] or [n, d', h', w', 3]: places as (x, y) or
 *                 (x, y, z), -1 and 1 the ends of a dimension. NaN counts as -1, but makes the
 *                 result NaN with "bicubic", and with "bilinear" and "zeros"
 *  mode           "bilinear" (for volumes trilinear), "nearest" (of two the one with an even
 *                 number) or "bicubic" (for volumes tricubic; cubic convolution with a =
 *                 -0.75)
 *  padding_mode   what lies outside: "zeros"; "border", the edge; "reflection", the mirrored image
 *  align_corners  whether -1 and 1 are the centres of the outermost pixels, or else their edges
 *  out            new, [n, c, h', w'] or [n, c, d', h', w']
 *
 *  16-bit dtypes are computed in float32.
 *  Gradient: any order, forward mode; by grid 0 for "nearest".
 *  Errors: SHAPE (shapes that do not fit each other, an empty image), VALUE (mode, padding_mode),
 *  DTYPE.
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=False)
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_grid_sample(
    const libdl_tensor *input, const libdl_tensor *grid, const char *mode, int64_t mode_length,
    const char *padding_mode, int64_t padding_mode_length, libdl_bool align_corners,
    LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
