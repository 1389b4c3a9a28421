// SPDX-License-Identifier: Apache-2.0

// Samples of classes that have a gradient (Jang et al. 2017).
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/exponential.h"
#include "entries/indexing.h"
#include "entries/nn.h"
#include "entries/random.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/creation/draw.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {

// 1 at the largest element, 0 elsewhere; without history.
static Tensor one_at_largest(const Tensor& soft, int32_t dim) {
  const Tensor position = std::get<1>(max_dim(soft, dim, true));
  return scatter(zeros_like(soft, Dtype::kNone, std::nullopt), dim, position, number(1.0));
}

Tensor gumbel_softmax_impl(const Tensor& logits, const Tensor& tau, bool hard, int32_t dim,
                           Generator* generator) {
  const char* const op = "gumbel_softmax";
  if (!is_floating(logits.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "logits", std::string("is ") + name_of(logits.dtype()),
                  "a floating dtype");
  checked_axis(op, "dim", dim, logits.ndim());
  DrawRollback refund(generator);
  const Tensor u = rand_like(detach(logits), generator, Dtype::kNone, std::nullopt);
  refund.drawn();
  const Tensor noise = -log(-log1p(-u));  // u may be 0, and is never 1
  Tensor soft =
      rename_error(op, {{"other", "tau"}}, [&] { return softmax((logits + noise) / tau, dim); });
  if (!hard) {
    refund.spent();
    return soft;
  }
  const Tensor value = detach(soft);
  Tensor y = rename_error(op, {{"input", "logits"}},
                          [&] { return one_at_largest(value, dim) - value + soft; });
  refund.spent();
  return y;
}

}  // namespace libdl
