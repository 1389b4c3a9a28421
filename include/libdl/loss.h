/* SPDX-License-Identifier: Apache-2.0 */

/** Losses. More of them are in nn.h: nll_loss, cross_entropy, mse_loss.
 *
 *  reduction is "mean" (NULL means this), "sum" or "none". A mean over no element is NaN. */
#ifndef LIBDL_LOSS_H
#define LIBDL_LOSS_H

#include <libdl/abi.h>
#include <libdl/dtype.h>

LIBDL_BEGIN

/** Absolute difference: l = weight * |input - target|.
 *
 *  input      any but bool; promoted and broadcast with target
 *  target     likewise
 *  reduction  "mean" divides by the number of elements, or by the sum of weight if given
 *  weight     of the broadcast shape, a factor for each element; NULL: ones
 *  out        new, 0-d, or the broadcast shape for "none"
 *
 *  Gradient: any order, forward mode; 0 where the difference is 0.
 *  Errors: SHAPE (shapes do not broadcast, or weight has another), DTYPE (bool; a mean of
 *  integers), VALUE (another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: l1_loss(input, target, reduction='mean', weight=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_l1_loss(const libdl_tensor *input,
                                                     const libdl_tensor *target,
                                                     LIBDL_NULLABLE const char *reduction,
                                                     int64_t reduction_length,
                                                     LIBDL_NULLABLE const libdl_tensor *weight,
                                                     LIBDL_NEW libdl_tensor **out);

/** Squared near 0 and absolute elsewhere: with d = |input - target|, l = d^2 / (2 beta) where d is
 *  below beta, else d - beta / 2.
 *
 *  input      floating; promoted and broadcast with target
 *  target     likewise
 *  reduction  "mean", "sum" or "none"
 *  beta       >= 0; with 0, this is libdl_l1_loss
 *  out        new, 0-d, or the broadcast shape for "none"
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (not floating), VALUE (another reduction; beta),
 *  OVERFLOW (beta is too large for float32, unless input or target is float64).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: smooth_l1_loss(input, target, reduction='mean', beta=1.0) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_smooth_l1_loss(const libdl_tensor *input,
                                                            const libdl_tensor *target,
                                                            LIBDL_NULLABLE const char *reduction,
                                                            int64_t reduction_length, double beta,
                                                            LIBDL_NEW libdl_tensor **out);

/** Squared near 0 and linear elsewhere: with d = |input - target|, l = weight * d^2 / 2 where d is
 *  at most delta, else weight * delta * (d - delta / 2).
 *
 *  input      floating; promoted and broadcast with target
 *  target     likewise
 *  reduction  "mean", "sum" or "none"; the mean divides by the number of elements
 *  delta      above 0
 *  weight     of the broadcast shape, a factor for each element; NULL: ones
 *  out        new, 0-d, or the broadcast shape for "none"
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast, or weight has another), DTYPE (not floating), VALUE
 *  (another reduction; delta), OVERFLOW (delta is too large for float32, unless input or target is
 *  float64).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: huber_loss(input, target, reduction='mean', delta=1.0, weight=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_huber_loss(const libdl_tensor *input,
                                                        const libdl_tensor *target,
                                                        LIBDL_NULLABLE const char *reduction,
                                                        int64_t reduction_length, double delta,
                                                        LIBDL_NULLABLE const libdl_tensor *weight,
                                                        LIBDL_NEW libdl_tensor **out);

/** Cross entropy of probabilities: l = -weight * (target * log(input) + (1 - target) *
 *  log(1 - input)), where logarithms below -100 count as -100.
 *
 *  input      floating, from 0 to 1
 *  target     of input's shape and dtype, from 0 to 1
 *  weight     of input's dtype, a factor that broadcasts to input's shape; NULL: ones
 *  reduction  "mean", "sum" or "none"; the mean divides by the number of elements
 *  out        new, 0-d, or input's shape for "none"
 *
 *  On the CPU a number out of range is an error; elsewhere its loss is NaN, for nobody waits.
 *  Gradient: any order, forward mode; x (1 - x) counts as 1e-12 at least.
 *  Errors: SHAPE (shapes differ), DTYPE (not floating, or differing dtypes), VALUE (another
 *  reduction; an input or target out of range).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: binary_cross_entropy(input, target, weight=None, reduction='mean') [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_binary_cross_entropy(
    const libdl_tensor *input, const libdl_tensor *target,
    LIBDL_NULLABLE const libdl_tensor *weight, LIBDL_NULLABLE const char *reduction,
    int64_t reduction_length, LIBDL_NEW libdl_tensor **out);

/** Cross entropy of scores (logits): l = -weight * (pos_weight * target * log(p) + (1 - target) *
 *  log(1 - p)) with p = sigmoid(input), without its rounding.
 *
 *  input       floating
 *  target      floating, of input's shape; promoted with input
 *  weight      a factor that broadcasts to input's shape; NULL: ones
 *  reduction   "mean", "sum" or "none"; the mean divides by the number of elements
 *  pos_weight  the weight of the positive class, broadcasts to input's shape; NULL: 1
 *  out         new, 0-d, or input's shape for "none"
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not fit), DTYPE (not floating), VALUE (another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: binary_cross_entropy_with_logits(input, target, weight=None, reduction='mean',
 *    pos_weight=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_binary_cross_entropy_with_logits(
    const libdl_tensor *input, const libdl_tensor *target,
    LIBDL_NULLABLE const libdl_tensor *weight, LIBDL_NULLABLE const char *reduction,
    int64_t reduction_length, LIBDL_NULLABLE const libdl_tensor *pos_weight,
    LIBDL_NEW libdl_tensor **out);

/** Kullback-Leibler divergence: l = target * (log(target) - input).
 *
 *  input       log-probabilities, floating; promoted and broadcast with target
 *  target      probabilities, floating; the product is 0 where they are
 *  reduction   as in the other losses, or "batchmean": the sum divided by input's first size
 *  log_target  whether target holds logarithms, too
 *  out         new, 0-d, or the broadcast shape for "none"
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (not floating), VALUE (another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: kl_div(input, target, reduction='mean', log_target=False) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_kl_div(const libdl_tensor *input,
                                                    const libdl_tensor *target,
                                                    LIBDL_NULLABLE const char *reduction,
                                                    int64_t reduction_length, libdl_bool log_target,
                                                    LIBDL_NEW libdl_tensor **out);

/** Negative log likelihood of counts: l = exp(input) - target * input.
 *
 *  input      the logarithm of the expected count, real; promoted and broadcast with target
 *  target     counts
 *  log_input  false: input is the expected count, and l = input - target * log(input + eps)
 *  full       whether Stirling's approximation of log(target!) is added where target is above 1
 *  eps        keeps the logarithm finite; usually 1e-8
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or the broadcast shape for "none"
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (bool or complex), VALUE (another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: poisson_nll_loss(input, target, log_input=True, full=False, eps=1e-8, reduction='mean')
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_poisson_nll_loss(
    const libdl_tensor *input, const libdl_tensor *target, libdl_bool log_input, libdl_bool full,
    double eps, LIBDL_NULLABLE const char *reduction, int64_t reduction_length,
    LIBDL_NEW libdl_tensor **out);

/** Negative log likelihood of normal distributions: l = (log(var) + (input - target)^2 / var) / 2.
 *
 *  input      means, real; broadcasts with target
 *  target     samples, real
 *  var        variances, 0 or more, counted as at least eps: a number, input's shape, that shape
 *             without its last dimension, or with a 1 in one place
 *  full       whether log(2 pi) / 2 is added
 *  eps        the least variance; the gradient of var does not notice it
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or the broadcast shape for "none"
 *
 *  On the CPU a negative variance is an error; elsewhere it counts as eps.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not fit), DTYPE (complex; var not floating), VALUE (another
 *  reduction; a negative variance).
 *  Threads: concurrent-read.
 *  Python: gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction='mean')
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gaussian_nll_loss(
    const libdl_tensor *input, const libdl_tensor *target, LIBDL_NUMBER const libdl_tensor *var,
    libdl_bool full, double eps, LIBDL_NULLABLE const char *reduction, int64_t reduction_length,
    LIBDL_NEW libdl_tensor **out);

/** l = input where target is 1, max(0, margin - input) where it is -1, the sum of both elsewhere.
 *
 *  input      distances, real, not bool; broadcasts with target
 *  target     1 or -1, real
 *  margin     the distance from which on dissimilar pairs cost nothing; usually 1; beside
 *             integers without its fraction
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or the broadcast shape for "none"
 *
 *  Gradient: any order, forward mode, of input.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (complex; a mean of integers), VALUE (another
 *  reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: hinge_embedding_loss(input, target, margin=1.0, reduction='mean') [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_hinge_embedding_loss(
    const libdl_tensor *input, const libdl_tensor *target, double margin,
    LIBDL_NULLABLE const char *reduction, int64_t reduction_length, LIBDL_NEW libdl_tensor **out);

/** With c the cosine of the angle between two vectors, l = 1 - c where target is 1,
 *  max(0, c - margin) where it is -1, 0 elsewhere.
 *
 *  input1     real, [n, d], or [d]
 *  input2     likewise; promoted and broadcast with input1
 *  target     1 or -1, real: [n], or 0-d for vectors
 *  margin     the cosine up to which dissimilar pairs cost nothing; usually 0
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or [n] for "none"
 *
 *  Gradient: any order, forward mode, of input1 and input2.
 *  Errors: SHAPE (shapes do not fit), DTYPE (complex), VALUE (another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: cosine_embedding_loss(input1, input2, target, margin=0.0, reduction='mean')
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_cosine_embedding_loss(
    const libdl_tensor *input1, const libdl_tensor *input2, const libdl_tensor *target,
    double margin, LIBDL_NULLABLE const char *reduction, int64_t reduction_length,
    LIBDL_NEW libdl_tensor **out);

/** l = max(0, margin - target * (input1 - input2)).
 *
 *  input1     real, not bool; promoted and broadcast with the others
 *  input2     likewise
 *  target     1 if input1 should be larger, -1 if input2 should; real, not bool
 *  margin     usually 0
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or the broadcast shape for "none"
 *
 *  Gradient: any order, forward mode; it counts at the margin itself.
 *  Errors: SHAPE (numbers of dimensions differ, or shapes do not broadcast), DTYPE (bool or
 *  complex; a mean of integers), VALUE (another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: margin_ranking_loss(input1, input2, target, margin=0.0, reduction='mean') [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_margin_ranking_loss(
    const libdl_tensor *input1, const libdl_tensor *input2, const libdl_tensor *target,
    double margin, LIBDL_NULLABLE const char *reduction, int64_t reduction_length,
    LIBDL_NEW libdl_tensor **out);

/** l = log(1 + exp(-target * input)).
 *
 *  input      scores, floating; promoted and broadcast with target
 *  target     1 or -1, of one dtype with input or promoted
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or the broadcast shape for "none"
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (no floating one, or complex), VALUE (another
 *  reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: soft_margin_loss(input, target, reduction='mean') [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_soft_margin_loss(const libdl_tensor *input,
                                                              const libdl_tensor *target,
                                                              LIBDL_NULLABLE const char *reduction,
                                                              int64_t reduction_length,
                                                              LIBDL_NEW libdl_tensor **out);

/** Hinge over classes: l = sum over classes c other than t of
 *  weight[t] * max(0, margin - input[t] + input[c])^p, divided by the number of classes.
 *
 *  input      scores, floating: [n, classes], [classes], or 0-d, one class
 *  target     int64, [n], or 0-d or [1]: the right class t, from 0 to classes - 1
 *  p          1 or 2
 *  margin     usually 1
 *  weight     of input's dtype, [classes]; NULL: ones
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or target's shape for "none"
 *
 *  Gradient: any order, forward mode, of input; weight's raises AUTOGRAD if one is needed.
 *  Errors: SHAPE (shapes do not fit), INDEX (a target out of range), DTYPE (input is not floating,
 *  weight's differs, target is not int64), VALUE (p, or another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: multi_margin_loss(input, target, p=1, margin=1.0, weight=None, reduction='mean')
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_multi_margin_loss(
    const libdl_tensor *input, const libdl_tensor *target, int64_t p, double margin,
    LIBDL_NULLABLE const libdl_tensor *weight, LIBDL_NULLABLE const char *reduction,
    int64_t reduction_length, LIBDL_NEW libdl_tensor **out);

/** Hinge over pairs of a right and a wrong class: l = sum of max(0, 1 - input[t] + input[c]),
 *  divided by the number of classes.
 *
 *  input      scores, floating: [n, classes], [classes], or 0-d, one class
 *  target     int64, of input's shape: the right classes t, from 0 to classes - 1; -1 ends a list
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or [n] for "none" of a batch
 *
 *  Gradient: any order, forward mode, of input.
 *  Errors: SHAPE (shapes do not fit), INDEX (a target out of range), DTYPE (input is not floating,
 *  target is not int64), VALUE (another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: multilabel_margin_loss(input, target, reduction='mean') [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_multilabel_margin_loss(
    const libdl_tensor *input, const libdl_tensor *target, LIBDL_NULLABLE const char *reduction,
    int64_t reduction_length, LIBDL_NEW libdl_tensor **out);

/** libdl_binary_cross_entropy_with_logits, averaged over the last dimension, the classes.
 *
 *  input      scores, floating, ndim >= 1; promoted and broadcast with target
 *  target     0 or 1 for each class
 *  weight     a factor for each class, broadcasts with the losses; NULL: ones
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or the shape without classes for "none"
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (input is 0-d, or shapes do not broadcast), DTYPE (not floating), VALUE (another
 *  reduction).
 *  Threads: concurrent-read.
 *  Python: multilabel_soft_margin_loss(input, target, weight=None, reduction='mean')
 *    [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_multilabel_soft_margin_loss(
    const libdl_tensor *input, const libdl_tensor *target,
    LIBDL_NULLABLE const libdl_tensor *weight, LIBDL_NULLABLE const char *reduction,
    int64_t reduction_length, LIBDL_NEW libdl_tensor **out);

/** l = max(0, margin + d(anchor, positive) - d(anchor, negative)), with d the p-norm of the
 *  difference plus eps along the last dimension.
 *
 *  anchor     not bool, ndim >= 1; promoted and broadcast with the others; differences of
 *             integers have their dtype
 *  positive   likewise
 *  negative   likewise
 *  margin     above 0; usually 1
 *  p          the order of the norm; usually 2
 *  eps        added to each difference; usually 1e-6
 *  swap       whether d(positive, negative) counts where it is smaller than d(anchor, negative)
 *  reduction  "mean", "sum" or "none"
 *  out        new, 0-d, or the shape without the last dimension for "none"
 *
 *  Gradient: any order, forward mode; it counts at the margin itself.
 *  Errors: SHAPE (numbers of dimensions differ, or shapes do not broadcast), DTYPE (bool),
 *  VALUE (margin, or another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False,
 *    reduction='mean') [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_triplet_margin_loss(
    const libdl_tensor *anchor, const libdl_tensor *positive, const libdl_tensor *negative,
    double margin, double p, double eps, libdl_bool swap, LIBDL_NULLABLE const char *reduction,
    int64_t reduction_length, LIBDL_NEW libdl_tensor **out);

/** Connectionist temporal classification (Graves et al. 2006): the negative log-probability that a
 *  sequence of outputs, with repetitions merged and blanks removed, is the target.
 *
 *  log_probs       log-probabilities, float32 or float64: [t, n, classes], or [t, classes]
 *  targets         int64 or int32 classes other than blank: [n, s], of which the first
 *                  target_lengths count, or all of them joined, [sum of target_lengths]
 *  input_lengths   int64 or int32, [n], or 0-d without a batch: from 0 to t
 *  target_lengths  int64 or int32, likewise: from 0 to s
 *  blank           from 0 to classes - 1: the class of the blank
 *  reduction       "mean" divides each loss by its target's length, at least 1, before averaging
 *  zero_infinity   whether infinite losses, of targets too long for their input, become 0, and so
 *                  do their gradients
 *  out             new, 0-d, or [n] for "none" of a batch
 *
 *  Gradient: any order, forward mode, of log_probs. As in PyTorch it is that of the scores whose
 *  log_softmax log_probs is: exp(log_probs) minus the share of paths through the class. It is NaN
 *  where the loss is infinite.
 *  Errors: SHAPE (shapes do not fit), INDEX (a class out of range), DTYPE (dtypes differ from
 *  these), VALUE (a length or blank out of range, or another reduction).
 *  Threads: concurrent-read.
 *  Autocast: float32.
 *  Python: ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean',
 *    zero_infinity=False) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ctc_loss(
    const libdl_tensor *log_probs, const libdl_tensor *targets, const libdl_tensor *input_lengths,
    const libdl_tensor *target_lengths, int64_t blank, LIBDL_NULLABLE const char *reduction,
    int64_t reduction_length, libdl_bool zero_infinity, LIBDL_NEW libdl_tensor **out);

/** libdl_cross_entropy of the scores of a linear layer: of libdl_linear(input, linear_weight,
 *  linear_bias).
 *
 *  input            floating, [n, features] or [features]
 *  linear_weight    [classes, features], or [classes, d1, ..., features] for scores and losses of
 *                   more dimensions
 *  target           classes or their probabilities, as in libdl_cross_entropy
 *  linear_bias      [classes] or [classes, d1, ...], added to the scores; NULL: none
 *  weight           [classes], a factor for each class; NULL: ones
 *  reduction        "mean" (NULL means this), "sum" or "none"
 *  ignore_index     the class that does not count; NULL: -100; not with probabilities
 *  label_smoothing  from 0 to 1: the share of the target that is spread evenly over all classes
 *  dtype            what scores, weight and probabilities are converted to; NONE: input's, with
 *                   probabilities the promoted one
 *  out              new, 0-d, or the shape without classes for "none"
 *
 *  Gradient: any order, forward mode; weight's raises AUTOGRAD if one is needed.
 *  Errors: SHAPE (shapes do not fit), VALUE (ignore_index with probabilities, and as in
 *  libdl_cross_entropy), INDEX (a target out of range), DTYPE (dtypes that do not fit).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None,
 *    reduction='mean', ignore_index=None, label_smoothing=0.0, dtype=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_linear_cross_entropy(
    const libdl_tensor *input, const libdl_tensor *linear_weight, const libdl_tensor *target,
    LIBDL_NULLABLE const libdl_tensor *linear_bias, LIBDL_NULLABLE const libdl_tensor *weight,
    LIBDL_NULLABLE const char *reduction, int64_t reduction_length,
    LIBDL_NULLABLE const int64_t *ignore_index, double label_smoothing, libdl_dtype dtype,
    LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
