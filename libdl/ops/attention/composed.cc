// SPDX-License-Identifier: Apache-2.0

#include "ops/attention/composed.h"

#include <limits>

#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/linalg.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/creation/draw.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {

static Tensor minus_infinity() { return number(-std::numeric_limits<double>::infinity()); }

Tensor bias_of(const Tensor* mask, Dtype dtype) {
  if (!mask) return {};
  if (mask->dtype() != Dtype::kBool) return cast(*mask, dtype);
  return masked_fill(zeros(mask->shape(), dtype, mask->device()), eq(*mask, number(false)),
                     minus_infinity());
}

// True for the keys that row i does not take: those after i.
static Tensor later_keys(const Tensor& scores) {
  const auto count = [&](int d) {
    return arange(nullptr, number(scores.size(d)), nullptr, Dtype::kInt64, scores.device());
  };
  const int last = scores.ndim() - 1;
  return gt(count(last), unsqueeze(count(last - 1), 1));
}

Tensor attention_weights(const Attention& a, const Tensor& query, const Tensor& key,
                         const Tensor& bias) {
  Tensor scores = matmul(query, transpose(key, -2, -1)) * a.scale;
  if (a.causal) scores = masked_fill(scores, later_keys(scores), minus_infinity());
  if (!bias.defined()) return softmax(scores, -1, Dtype::kNone);
  scores = scores + bias;
  // A softmax of nothing but -inf would be NaN, and so would its derivatives.
  const int64_t last[] = {-1};
  const Tensor empty = all(eq(scores, minus_infinity()), Dims(last), true);
  const Tensor zero = number(0.0);
  return masked_fill(softmax(masked_fill(scores, empty, zero), -1, Dtype::kNone), empty, zero);
}

Tensor composed_attention(const Attention& a, const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& bias, Generator* generator) {
  const Tensor weights = attention_weights(a, query, key, bias);
  if (a.dropout == 0) return matmul(weights, value);
  Refund refund(generator);
  const Tensor kept = dropout(weights, a.dropout, true, generator);
  refund.drawn();
  Tensor y = matmul(kept, value);
  refund.spent();
  return y;
}

}  // namespace libdl
