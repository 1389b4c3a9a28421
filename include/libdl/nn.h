/* SPDX-License-Identifier: Apache-2.0 */

/** Operators for neural networks.
 *
 *  reduction is "mean" (NULL means this), "sum" or "none". */
#ifndef LIBDL_NN_H
#define LIBDL_NN_H

#include <libdl/abi.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Affine map of the last dimension: y = input @ weight^T + bias.
 *
 *  input   [..., in]
 *  weight  [out, in], or [in]: then the last dimension is removed
 *  bias    [out], or broadcasts to out's shape; NULL: none
 *  out     new, [..., out]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (sizes do not fit), DTYPE (differing dtypes).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: linear(input, weight, bias=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linear(const libdl_tensor *input,
                                                    const libdl_tensor *weight,
                                                    LIBDL_NULLABLE const libdl_tensor *bias,
                                                    LIBDL_NEW libdl_tensor **out);

/** libdl_linear into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linear_into(const libdl_tensor *input,
                                                         const libdl_tensor *weight,
                                                         LIBDL_NULLABLE const libdl_tensor *bias,
                                                         libdl_tensor *dst);

/** Bilinear map of the last dimensions: y[..., k] = input1^T @ weight[k] @ input2 + bias[k].
 *
 *  input1  not bool, [..., in1]
 *  input2  of one dtype with the others, [..., in2]
 *  weight  likewise, [out, in1, in2]
 *  bias    likewise, [out]; NULL: none
 *  out     new, [..., out]
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (sizes do not fit), DTYPE (bool, or differing dtypes).
 *  Threads: concurrent-read.
 *  Python: bilinear(input1, input2, weight, bias=None) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bilinear(const libdl_tensor *input1,
                                                      const libdl_tensor *input2,
                                                      const libdl_tensor *weight,
                                                      LIBDL_NULLABLE const libdl_tensor *bias,
                                                      LIBDL_NEW libdl_tensor **out);

/** Softmax along one dimension, shifted by the maximum: y = exp(x - max) / sum(exp(x - max)).
 *
 *  input  x: floating, any strides
 *  dim    from -ndim to ndim - 1
 *  dtype  the dtype of the computation and the result; NONE: input's
 *  out    y: new, input's shape
 *
 *  Gradient: any order, forward mode. An empty dimension gives an empty result.
 *  Errors: INDEX (dim out of range), DTYPE (input not floating and no dtype given).
 *  Threads: concurrent-read.
 *  Python: softmax(input, dim, dtype=None) [function, method, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_softmax(const libdl_tensor *input, int32_t dim,
                                                     libdl_dtype dtype,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_softmax into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_softmax_into(const libdl_tensor *input, int32_t dim,
                                                          libdl_dtype dtype, libdl_tensor *dst);

/** Logarithm of the softmax along one dimension: y = x - max - log(sum(exp(x - max))).
 *
 *  input  x: floating, any strides
 *  dim    from -ndim to ndim - 1
 *  dtype  the dtype of the computation and the result; NONE: input's
 *  out    y: new, input's shape
 *
 *  Gradient: any order, forward mode. An empty dimension gives an empty result.
 *  Errors: INDEX (dim out of range), DTYPE (input not floating and no dtype given).
 *  Threads: concurrent-read.
 *  Python: log_softmax(input, dim, dtype=None) [function, method, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log_softmax(const libdl_tensor *input, int32_t dim,
                                                         libdl_dtype dtype,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_log_softmax into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_log_softmax_into(const libdl_tensor *input,
                                                              int32_t dim, libdl_dtype dtype,
                                                              libdl_tensor *dst);

/** Negative log likelihood: l[i] = -weight[target[i]] * input[i][target[i]].
 *
 *  input         log-probabilities, floating: [classes], [n, classes] or [n, classes, d1, ...]
 *  target        int64 or uint8: [], [n] or [n, d1, ...]; from 0 to classes - 1, or ignore_index
 *  weight        [classes], a factor for each class; NULL: ones
 *  ignore_index  a target whose element is ignored; usually -100, which is no class. 0 ignores the
 *                first class
 *  reduction     "mean" divides by the sum of the weights that were used: NaN if there are none,
 *                because all targets are ignored or there is no target
 *  out           new, 0-d, or target's shape for "none"
 *
 *  Gradient: any order, forward mode, of input; weight's raises AUTOGRAD if one is needed.
 *  Errors: SHAPE (shapes do not fit), INDEX (a target out of range), DTYPE (input is not floating,
 *  weight's differs, target is neither int64 nor uint8), VALUE (another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: nll_loss(input, target, weight=None, ignore_index=-100, reduction='mean') [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_nll_loss(
    const libdl_tensor *input, const libdl_tensor *target,
    LIBDL_NULLABLE const libdl_tensor *weight, int64_t ignore_index,
    LIBDL_NULLABLE const char *reduction, int64_t reduction_length, LIBDL_NEW libdl_tensor **out);

/** Cross entropy of scores (logits) and classes: the negative log likelihood of the scores'
 *  log-softmax.
 *
 *  input            scores, floating: [classes], [n, classes] or [n, classes, d1, ...]
 *  target           classes as in libdl_nll_loss, or probabilities of input's shape and dtype
 *  weight           [classes], a factor for each class; NULL: ones
 *  ignore_index     a target class whose element is ignored; usually -100, which is no class. 0
 *                   ignores the first class
 *  reduction        as in libdl_nll_loss; with probabilities "mean" divides by n * d1 * ...
 *  label_smoothing  from 0 to 1: the share of the target that is spread evenly over all classes
 *  out              new, 0-d, or the shape without classes for "none"
 *
 *  Gradient: any order, forward mode, of input and of a target of probabilities; weight's raises
 *  AUTOGRAD if one is needed.
 *  Errors: SHAPE (shapes do not fit), INDEX (a target out of range), DTYPE (input is not floating,
 *  or another dtype of weight or target), VALUE (another reduction, label_smoothing out of range).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: cross_entropy(input, target, weight=None, ignore_index=-100, reduction='mean',
 *    label_smoothing=0.0) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cross_entropy(
    const libdl_tensor *input, const libdl_tensor *target,
    LIBDL_NULLABLE const libdl_tensor *weight, int64_t ignore_index,
    LIBDL_NULLABLE const char *reduction, int64_t reduction_length, double label_smoothing,
    LIBDL_NEW libdl_tensor **out);

/** Squared difference: l = weight * (input - target)^2.
 *
 *  input, target  numbers, one of them floating at least; promoted and broadcast together
 *  reduction      "mean" divides by the number of elements, or by the sum of weight if given
 *  weight         of the broadcast shape, a factor for each element; NULL: ones
 *  out            new, 0-d, or the broadcast shape for "none"
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (no floating one; bool, complex), VALUE (another
 *  reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: mse_loss(input, target, reduction='mean', weight=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_mse_loss(const libdl_tensor *input,
                                                      const libdl_tensor *target,
                                                      LIBDL_NULLABLE const char *reduction,
                                                      int64_t reduction_length,
                                                      LIBDL_NULLABLE const libdl_tensor *weight,
                                                      LIBDL_NEW libdl_tensor **out);

/** Normalisation over the last dimensions: y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias,
 *  with the biased variance.
 *
 *  input             x: floating
 *  normalized_shape  the sizes of the last dimensions, at least one
 *  weight            of that shape; NULL: ones
 *  bias              of that shape; NULL: zeros
 *  eps               added to the variance; usually 1e-5
 *  out               y: new, input's shape and dtype
 *
 *  16-bit inputs are computed in float32; on the CPU the vectors may be float32 with them.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (normalized_shape does not match input's last dimensions, or weight or bias differ
 *  from it), DTYPE (not floating, or differing dtypes).
 *  Threads: concurrent-read.
 *  Python: layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_layer_norm(const libdl_tensor *input,
                                                        const int64_t *normalized_shape,
                                                        int32_t normalized_shape_count,
                                                        LIBDL_NULLABLE const libdl_tensor *weight,
                                                        LIBDL_NULLABLE const libdl_tensor *bias,
                                                        double eps, LIBDL_NEW libdl_tensor **out);

/** Normalisation of each channel: y = (x - mean) / sqrt(variance + eps) * weight + bias.
 *
 *  input         x: floating, [n, c, ...]
 *  running_mean  [c]; in training, if given, it is written: (1 - momentum) running_mean +
 *                momentum mean; without training, the mean. NULL: in training only
 *  running_var   likewise for the variance, which counts one element less in training
 *  weight        [c]; NULL: ones
 *  bias          [c]; NULL: zeros
 *  training      whether mean and variance are those of input over all but the channels; else they
 *                are running_mean and running_var
 *  momentum      how much a call in training changes the running statistics; usually 0.1
 *  eps           >= 0, added to the variance; usually 1e-5
 *  out           y: new, input's shape and dtype
 *
 *  16-bit inputs are computed in float32, and the vectors may be float32 with them.
 *  Gradient: any order, forward mode, of input, weight and bias.
 *  Errors: SHAPE (input has no channels' dimension or, in training, one element a channel; a vector
 *  is not [c]), DTYPE (not floating, or differing dtypes), NULL (no running statistics without
 *  training), VALUE (eps), READ_ONLY, OVERLAP, AUTOGRAD (running statistics that cannot be
 *  written). A failed call changes nothing.
 *  Threads: concurrent-read, exclusive of running_mean and running_var in training.
 *  Python: batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False,
 *    momentum=0.1, eps=1e-5) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_batch_norm(const libdl_tensor *input,
                                                        LIBDL_NULLABLE libdl_tensor *running_mean,
                                                        LIBDL_NULLABLE libdl_tensor *running_var,
                                                        LIBDL_NULLABLE const libdl_tensor *weight,
                                                        LIBDL_NULLABLE const libdl_tensor *bias,
                                                        libdl_bool training, double momentum,
                                                        double eps, LIBDL_NEW libdl_tensor **out);

/** Normalisation of groups of channels: mean 0 and variance 1 over each sample's group, then
 *  weight and bias of each channel.
 *
 *  input       x: floating, [n, c, ...]
 *  num_groups  a divisor of c
 *  weight      [c]; NULL: ones
 *  bias        [c]; NULL: zeros
 *  eps         added to the variance; usually 1e-5
 *  out         new, input's shape and dtype
 *
 *  16-bit inputs are computed in float32, and the vectors may be float32 with them.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has no channels' dimension, or one element a group and no batch; a vector
 *  is not [c]), VALUE (num_groups), DTYPE (not floating, or differing dtypes).
 *  Threads: concurrent-read.
 *  Python: group_norm(input, num_groups, weight=None, bias=None, eps=1e-5) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_group_norm(const libdl_tensor *input,
                                                        int64_t num_groups,
                                                        LIBDL_NULLABLE const libdl_tensor *weight,
                                                        LIBDL_NULLABLE const libdl_tensor *bias,
                                                        double eps, LIBDL_NEW libdl_tensor **out);

/** Normalisation of each channel of each sample; otherwise as libdl_batch_norm.
 *
 *  input            x: floating, [n, c, ...]
 *  running_mean     [c]; if use_input_stats, it is written: (1 - momentum) running_mean + momentum
 *                   times the samples' average mean; else the mean. NULL: with use_input_stats only
 *  running_var      likewise for the variance
 *  weight           [c]; NULL: ones
 *  bias             [c]; NULL: zeros
 *  use_input_stats  whether mean and variance are those of the sample's channel; else they are
 *                   running_mean and running_var
 *  momentum         how much a call changes the running statistics; usually 0.1
 *  eps              added to the variance; usually 1e-5
 *  out              new, input's shape and dtype
 *
 *  Gradient: any order, forward mode, of input, weight and bias.
 *  Errors: as of libdl_batch_norm.
 *  Threads: concurrent-read, exclusive of running_mean and running_var with use_input_stats.
 *  Python: instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None,
 *    use_input_stats=True, momentum=0.1, eps=1e-5) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_instance_norm(
    const libdl_tensor *input, LIBDL_NULLABLE libdl_tensor *running_mean,
    LIBDL_NULLABLE libdl_tensor *running_var, LIBDL_NULLABLE const libdl_tensor *weight,
    LIBDL_NULLABLE const libdl_tensor *bias, libdl_bool use_input_stats, double momentum,
    double eps, LIBDL_NEW libdl_tensor **out);

/** Division by the root of the mean square over the last dimensions:
 *  y = x / sqrt(mean(x^2) + eps) * weight.
 *
 *  input             x: floating or complex, whose squares are complex, too
 *  normalized_shape  the sizes of the last dimensions, at least one
 *  weight            floating, or complex if input is; of that shape; NULL: ones
 *  eps               added to the mean square; NULL: the distance from 1 to the next number in the
 *                    dtype of the computation
 *  out               y: new, input's shape and dtype
 *
 *  16-bit inputs are computed in float32.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (normalized_shape does not match input's last dimensions, or weight differs from
 *  it), DTYPE (integers; a complex weight of a floating input).
 *  Threads: concurrent-read.
 *  Python: rms_norm(input, normalized_shape, weight=None, eps=None) [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rms_norm(const libdl_tensor *input,
                                                      const int64_t *normalized_shape,
                                                      int32_t normalized_shape_count,
                                                      LIBDL_NULLABLE const libdl_tensor *weight,
                                                      LIBDL_NULLABLE const double *eps,
                                                      LIBDL_NEW libdl_tensor **out);

/** Division by the squares of neighbouring channels: y = x / (k + alpha * mean(x^2))^beta. The mean
 *  is over `size` channels around each, of which those that do not exist count as 0.
 *
 *  input  x: floating, [n, c, ...] with one dimension more at least
 *  size   >= 1: how many channels; size / 2 of them lie before
 *  alpha  usually 1e-4
 *  beta   usually 0.75
 *  k      usually 1
 *  out    y: new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (fewer than three dimensions), DTYPE (not floating), VALUE (size).
 *  Threads: concurrent-read.
 *  Python: local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_local_response_norm(const libdl_tensor *input,
                                                                 int64_t size, double alpha,
                                                                 double beta, double k,
                                                                 LIBDL_NEW libdl_tensor **out);

/** Elements set to zero with probability p, the others multiplied by 1 / (1 - p).
 *
 *  input      floating or complex
 *  p          from 0 to 1
 *  training   false: input is copied unchanged
 *  generator  the source; NULL: the device's default
 *  out        new, input's shape and dtype
 *
 *  Gradient: any order, forward mode.
 *  Errors: VALUE (p is not from 0 to 1), DTYPE (neither floating nor complex), DEVICE (the
 *  generator's differs).
 *  Threads: concurrent-read.
 *  Python: dropout(input, p=0.5, training=True, *, generator=None) [functional]
 *  Python: dropout(input, p, train) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dropout(const libdl_tensor *input, double p,
                                                     libdl_bool training,
                                                     LIBDL_NULLABLE libdl_generator *generator,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_dropout into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_dropout_into(const libdl_tensor *input, double p,
                                                          libdl_bool training,
                                                          LIBDL_NULLABLE libdl_generator *generator,
                                                          libdl_tensor *dst);

/** Rows of a table: y[i] = weight[input[i]].
 *
 *  input               int64 or int32 indices of rows, any shape
 *  weight              [rows, columns]
 *  padding_idx         a row that receives no gradient, negative counts from the end; NULL: none
 *  scale_grad_by_freq  whether a row's gradient is divided by how often it was read
 *  sparse              whether weight's gradient is sparse (libdl_tensor_is_sparse), unless it is
 *                      itself recorded; on the CPU only
 *  out                 new, input's shape and columns
 *
 *  Gradient: any order, forward mode, of weight. PyTorch's max_norm writes to weight and is left to
 *  the wrappers: renormalise weight before the call.
 *  Errors: INDEX (an index or padding_idx out of range), SHAPE (weight is not a matrix), DTYPE
 *  (input is neither int64 nor int32), UNSUPPORTED (sparse on another device).
 *  Threads: concurrent-read.
 *  Python: embedding(input, weight, padding_idx=None, scale_grad_by_freq=False, sparse=False)
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_embedding(const libdl_tensor *input,
                                                       const libdl_tensor *weight,
                                                       LIBDL_NULLABLE const int64_t *padding_idx,
                                                       libdl_bool scale_grad_by_freq,
                                                       libdl_bool sparse,
                                                       LIBDL_NEW libdl_tensor **out);

/** Rows of a table in bags, each reduced to one row: the sum, mean or maximum of weight[input[i]].
 *
 *  input                int64 or int32 indices of rows: [n], or [bags, n], where each row is a bag
 *  weight               floating, [rows, columns]
 *  offsets              int64 or int32, [bags]: where in input each bag begins, ascending from 0;
 *                       NULL if input has two dimensions
 *  scale_grad_by_freq   whether a row's gradient is divided by how often it was read; not of "max"
 *  mode                 "mean" (NULL means this), "sum" or "max"
 *  sparse               as in libdl_embedding; not of "max"
 *  per_sample_weights   of a "sum": the factor of each row that is read, of input's shape and
 *                       weight's dtype; NULL: ones
 *  include_last_offset  whether offsets has one entry more, where the last bag ends; what follows
 *                       is in no bag. Without it the last bag ends with input
 *  padding_idx          a row that is in no bag and receives no gradient, negative counts from the
 *                       end; NULL: none
 *  out                  new, [bags, columns]; 0 for an empty bag
 *
 *  Of equal elements of a bag the first is its maximum, and a NaN is one only if it comes first.
 *  16-bit rows are summed in float32. The host reads input and offsets, wherever they are.
 *  Gradient: any order, forward mode, of weight and per_sample_weights.
 *  Errors: INDEX (an index or padding_idx out of range), SHAPE (input, weight, offsets or
 *  per_sample_weights), DTYPE (input or offsets are neither int64 nor int32, weight is not
 *  floating, per_sample_weights differs), VALUE (offsets, mode, or what mode excludes),
 *  UNSUPPORTED (per_sample_weights without "sum", sparse on another device than the CPU).
 *  Threads: concurrent-read.
 *  Python: embedding_bag(input, weight, offsets=None, scale_grad_by_freq=False, mode='mean',
 *    sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None)
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_embedding_bag(
    const libdl_tensor *input, const libdl_tensor *weight,
    LIBDL_NULLABLE const libdl_tensor *offsets, libdl_bool scale_grad_by_freq,
    LIBDL_NULLABLE const char *mode, int64_t mode_length, libdl_bool sparse,
    LIBDL_NULLABLE const libdl_tensor *per_sample_weights, libdl_bool include_last_offset,
    LIBDL_NULLABLE const int64_t *padding_idx, LIBDL_NEW libdl_tensor **out);

/** Max pooling: the largest element of each window over the last two dimensions.
 *
 *  input        real but not bool, [n, c, h, w] or [c, h, w], of which only n may be 0
 *  kernel_size  the window's height and width, or one number for both; 1 or more
 *  stride       the step from window to window, likewise; NULL or none: kernel_size
 *  padding      how far windows reach beyond each side, where there are no elements: at most half a
 *               window; NULL: 0
 *  dilation     the step between a window's elements; NULL: 1
 *  ceil_mode    whether a last window may reach beyond the padding, if it begins before it
 *  out          new, input's dtype, [n, c, (h + 2 padding - dilation (kernel_size - 1) - 1) /
 *               stride + 1, likewise w]; channels are innermost in memory if input's are
 *
 *  Of equal elements the first in the window is chosen; NaN counts as largest, and of several the
 *  last is chosen.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input has another shape, or no room for a window), VALUE (an argument's numbers,
 *  or how many there are), DTYPE (bool or complex).
 *  Threads: concurrent-read.
 *  Python: max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False)
 *    [function, functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_pool2d(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, libdl_bool ceil_mode,
    LIBDL_NEW libdl_tensor **out);

/** libdl_max_pool2d, and the indices of the elements in input.
 *
 *  input, kernel_size, stride, padding, dilation, ceil_mode  as in libdl_max_pool2d
 *  values   new, as in libdl_max_pool2d
 *  indices  new, int64, values' shape: each element's place in input, as row * w + column
 *
 *  Gradient: any order, forward mode, of values.
 *  Errors: as libdl_max_pool2d.
 *  Threads: concurrent-read.
 *  Python: max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1,
 *    ceil_mode=False) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_max_pool2d_with_indices(
    const libdl_tensor *input, const int64_t *kernel_size, int32_t kernel_size_count,
    LIBDL_NULLABLE const int64_t *stride, int32_t stride_count,
    LIBDL_NULLABLE const int64_t *padding, int32_t padding_count,
    LIBDL_NULLABLE const int64_t *dilation, int32_t dilation_count, libdl_bool ceil_mode,
    LIBDL_NEW libdl_tensor **values, LIBDL_NEW libdl_tensor **indices);

/** libdl_softmax of the negated input: y = exp(-x) / sum(exp(-x)).
 *
 *  input  x: floating, or any number if dtype is given
 *  dim    from -ndim to ndim - 1
 *  dtype  the result's type, computed in it; NONE: input's
 *  out    new, input's shape
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (dim out of range), DTYPE (bool, or not floating and no dtype given).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: softmin(input, dim, dtype=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_softmin(const libdl_tensor *input, int32_t dim,
                                                     libdl_dtype dtype,
                                                     LIBDL_NEW libdl_tensor **out);

/** A sample of the Gumbel-softmax distribution (Jang et al. 2017): softmax((logits + g) / tau) with
 *  g = -log(-log(1 - u)), where u is uniform.
 *
 *  logits     floating, ndim >= 1: logarithms of probabilities up to a factor
 *  tau        the temperature, a number or a tensor that broadcasts to logits
 *  hard       whether the sample is 1 at the largest element and 0 elsewhere, with the gradient of
 *             the soft one
 *  dim        the dimension of the classes, from -ndim to ndim - 1
 *  generator  the source of u; NULL: the device's default
 *  out        new, logits' shape and dtype
 *
 *  Gradient: any order, forward mode, of logits and tau.
 *  Errors: INDEX (dim out of range), DTYPE (logits is not floating), SHAPE (tau does not broadcast;
 *  hard, and no class), DEVICE (the generator's differs).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: gumbel_softmax(logits, tau=1, hard=False, dim=-1, *, generator=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gumbel_softmax(
    const libdl_tensor *logits, LIBDL_NUMBER const libdl_tensor *tau, libdl_bool hard, int32_t dim,
    LIBDL_NULLABLE libdl_generator *generator, LIBDL_NEW libdl_tensor **out);

/** Shortens rows of a table, in place and without history: those that indices name and whose norm
 *  is above max_norm are multiplied by max_norm / (norm + 1e-7).
 *
 *  indices    int64 or int32 indices of rows, any shape
 *  max_norm   the largest norm
 *  norm_type  the p of the norm
 *  dst        the table, floating, [rows, columns]; it is written
 *
 *  Gradient: none; the table's history stays as it is.
 *  Errors: INDEX (an index out of range), SHAPE (dst is not a matrix), DTYPE (indices are neither
 *  int64 nor int32, dst is not floating).
 *  Threads: exclusive.
 *  Python: embedding_renorm_(dst, indices, max_norm, norm_type) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_embedding_renorm_into(const libdl_tensor *indices,
                                                                   double max_norm,
                                                                   double norm_type,
                                                                   libdl_tensor *dst);

LIBDL_END

#endif
