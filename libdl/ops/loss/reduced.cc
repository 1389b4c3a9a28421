// SPDX-License-Identifier: Apache-2.0

#include "ops/loss/reduced.h"

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/reduction.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/summed.h"

namespace libdl {

Reduce reduction_of(const char* op, std::optional<std::string_view> word) {
  if (!word || *word == "mean") return Reduce::kMean;
  if (*word == "sum") return Reduce::kSum;
  if (*word == "none") return Reduce::kNone;
  fail_argument(LIBDL_ERROR_VALUE, op, "reduction", "is \"" + std::string(*word) + "\"",
                "\"mean\", \"sum\" or \"none\"");
}

Tensor reduced(const Tensor& losses, Reduce how) {
  return how == Reduce::kMean ? mean(losses) : how == Reduce::kSum ? sum(losses) : losses;
}

Tensor divided_sum(const Tensor& x, std::optional<Dims> dims, const Tensor& divisor) {
  const Dtype wide = summed_as(x.dtype());
  return cast(div(sum(x, dims, false, wide), divisor), x.dtype());
}

static void check_shapes(const char* op, const Operand& a, const Operand& b) {
  const char* const names[] = {a.name, b.name};
  const Tensor* const operands[] = {&a.tensor, &b.tensor};
  broadcast_shape(op, names, operands);
}

void check_real_pair(const char* op, const Operand& a, const Operand& b) {
  check_shapes(op, a, b);
  refuse_complex(op, a);
  refuse_complex(op, b);
}

void check_pair(const char* op, const Operand& a, const Operand& b) {
  check_shapes(op, a, b);
  if (!is_floating(promote(a.tensor.dtype(), b.tensor.dtype()))) {
    const Operand& odd = b.tensor.is_complex() && !a.tensor.is_complex() ? b : a;
    fail_argument(LIBDL_ERROR_DTYPE, op, odd.name, std::string("is ") + name_of(odd.tensor.dtype()),
                  "floating");
  }
}

void check_factor(const char* op, const char* name, const Tensor* factor, Dims shape) {
  if (factor && !broadcasts_to(factor->shape(), shape))
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(factor->shape()),
                  "one that broadcasts to " + to_string(shape));
}

void check_weights(const char* op, const Tensor* weight, Dims shape) {
  if (weight && !same(weight->shape(), shape))
    fail_argument(LIBDL_ERROR_SHAPE, op, "weight", "has shape " + to_string(weight->shape()),
                  to_string(shape));
}

Tensor weighted(const Tensor& losses, const Tensor* factor) {
  return factor ? mul(losses, cast(*factor, losses.dtype())) : losses;
}

}  // namespace libdl
