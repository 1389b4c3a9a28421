// SPDX-License-Identifier: Apache-2.0

// Losses. Meaning and errors: include/libdl/loss.h.
#pragma once

#include <string_view>

#include "ops/core/call.h"

namespace libdl {

using Word = std::optional<std::string_view>;

// -- of a difference: difference.cc ---------------------------------------------------------------
Tensor l1_loss(const Tensor& input, const Tensor& target, Word reduction, const Tensor* weight);
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Word reduction, double beta);
Tensor huber_loss(const Tensor& input, const Tensor& target, Word reduction, double delta,
                  const Tensor* weight);

// -- of two classes: binary.cc --------------------------------------------------------------------
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor* weight,
                            Word reduction);
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor* weight, Word reduction,
                                        const Tensor* pos_weight);
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor* weight,
                                   Word reduction);
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Word reduction);

// -- of distributions: likelihood.cc --------------------------------------------------------------
Tensor kl_div(const Tensor& input, const Tensor& target, Word reduction, bool log_target);
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, Word reduction);
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full,
                         double eps, Word reduction);

// -- of similarities: similarity.cc ---------------------------------------------------------------
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin,
                            Word reduction);
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, Word reduction);
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, Word reduction);
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, Word reduction);

// -- of several classes: multi_margin.cc ----------------------------------------------------------
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, int64_t p, double margin,
                         const Tensor* weight, Word reduction);
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Word reduction);

// -- of sequences: ctc.cc -------------------------------------------------------------------------
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, Word reduction, bool zero_infinity);

}  // namespace libdl
