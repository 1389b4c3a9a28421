// SPDX-License-Identifier: Apache-2.0

// Attention by other operators: for every device, order of derivative and mode.
#pragma once

#include "ops/core/call.h"
#include "tensor/generator.h"

namespace libdl {

// How the weights are computed from query [..., l, e] and key [..., s, e].
struct Attention {
  double scale;
  bool causal;     // row i takes keys 0 to i
  double dropout;  // the probability
};

// What is added to the scores, as dtype: 0 and -inf for true and false. Undefined for NULL.
Tensor bias_of(const Tensor* mask, Dtype dtype);

// softmax(scale * query key^T + bias), [..., l, s]; 0 in a row whose scores are all -inf.
Tensor attention_weights(const Attention& a, const Tensor& query, const Tensor& key,
                         const Tensor& bias);

// The weights, with dropout, times value.
Tensor composed_attention(const Attention& a, const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& bias, Generator* generator);

}  // namespace libdl
