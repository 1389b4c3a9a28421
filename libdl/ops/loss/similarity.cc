// SPDX-License-Identifier: Apache-2.0

// Losses that tell similar from dissimilar, and larger from smaller.
#include <cmath>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/distance.h"
#include "entries/loss.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/loss/reduced.h"
#include "ops/nn/rescaled.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/summed.h"

namespace libdl {

// max(0, x), whose gradient counts at 0, too.
static Tensor hinge(const Tensor& x) {
  const Tensor zero = number(int64_t{0});
  return clamp(x, &zero, nullptr);
}

static void check_broadcast(const char* op, std::initializer_list<Operand> operands) {
  std::vector<const char*> names;
  std::vector<const Tensor*> tensors;
  for (const Operand& x : operands) names.push_back(x.name), tensors.push_back(&x.tensor);
  broadcast_shape(op, names.data(), tensors);
}

Tensor hinge_embedding_loss_impl(const Tensor& input, const Tensor& target, double margin,
                                 Word reduction) {
  const char* const op = "hinge_embedding_loss";
  const Reduce how = reduction_of(op, reduction);
  refuse_complex(op, {input, "input"});
  refuse_complex(op, {target, "target"});
  check_broadcast(op, {{input, "input"}, {target, "target"}});
  const Named named(op);
  const Tensor zero = number(int64_t{0});
  // Of the input's dtype, as in PyTorch: beside integers it has no fraction.
  const bool whole = !is_floating(input.dtype()) && std::abs(margin) < 0x1p63;
  const Tensor limit = whole ? number(static_cast<int64_t>(margin)) : number(margin);
  return named(rename_error(op, {{"input", "input"}, {"other", "input"}}, [&] {
    const Tensor apart = where(ne(target, number(int64_t{1})), hinge(limit - input), zero);
    const Tensor close = where(ne(target, number(int64_t{-1})), input, zero);
    return reduced(apart + close, how);
  }));
}

namespace {
struct Measured {
  Tensor x, size;  // a factor times the argument, and the sum of squares of that
};
}  // namespace

Tensor cosine_embedding_loss_impl(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                  double margin, Word reduction) {
  const char* const op = "cosine_embedding_loss";
  const Reduce how = reduction_of(op, reduction);
  const Operand operands[] = {{input1, "input1"}, {input2, "input2"}, {target, "target"}};
  for (const Operand& x : operands) refuse_complex(op, x);
  if (target.ndim() > 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "target", "has shape " + to_string(target.shape()),
                  "[n], or 0-d beside vectors");
  for (int i = 0; i < 2; ++i)
    if (operands[i].tensor.ndim() != target.ndim() + 1)
      fail_argument(LIBDL_ERROR_SHAPE, op, operands[i].name,
                    "has shape " + to_string(operands[i].tensor.shape()),
                    target.ndim() ? "[n, d] beside a target [n]" : "[d] beside a target 0-d");
  check_broadcast(op, {operands[0], operands[1]});
  const Named named(op);
  const int64_t dims[] = {target.ndim()};
  const auto total = [&](const Tensor& a, const Tensor& b) { return sum(a * b, Dims(dims)); };
  const double tiny = 1e-12;  // as in PyTorch: it keeps the quotient of zeros finite
  const auto squared = [&](const Tensor& x) -> Measured {
    const Tensor size = total(x, x) + tiny;
    const auto r = rescaled(x, size, Dims(dims), tiny);
    if (!r) return {x, size};
    const Tensor y = x * r->scale;
    return {y, total(y, y) + reshape(r->eps, size.shape())};
  };
  // In 16 bits the product of two sums of squares would soon be infinite, and what it keeps from 0
  // would be 0.
  const Dtype promoted = promote(input1.dtype(), input2.dtype());
  const Dtype made = is_floating(promoted) ? promoted : default_dtype();
  const auto wide = [&](const Tensor& x) {
    return cast(x, summed_as(is_floating(x.dtype()) ? x.dtype() : made));
  };
  const Measured a = squared(wide(input1)), b = squared(wide(input2));
  const Tensor cosine = cast(total(a.x, b.x) / (sqrt(a.size) * sqrt(b.size)), made);
  check_broadcast(op, {{cosine, "input1"}, {cosine, "input2"}, {target, "target"}});
  const Tensor zero = number(int64_t{0});
  return named(
      rename_error(op, {{"condition", "target"}, {"other", "target"}, {"input", "target"}}, [&] {
        const Tensor close =
            where(eq(target, number(int64_t{1})), number(int64_t{1}) - cosine, zero);
        const Tensor apart = where(eq(target, number(int64_t{-1})), hinge(cosine + -margin), zero);
        return reduced(close + apart, how);
      }));
}

Tensor margin_ranking_loss_impl(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                double margin, Word reduction) {
  const char* const op = "margin_ranking_loss";
  const Reduce how = reduction_of(op, reduction);
  const Operand operands[] = {{input1, "input1"}, {input2, "input2"}, {target, "target"}};
  for (const Operand& x : operands) {
    if (x.tensor.ndim() != input1.ndim())
      fail_argument(LIBDL_ERROR_SHAPE, op, x.name, "has shape " + to_string(x.tensor.shape()),
                    std::to_string(input1.ndim()) + " dimensions, as input1 has");
    if (x.tensor.is_complex() || x.tensor.dtype() == Dtype::kBool)
      fail_argument(LIBDL_ERROR_DTYPE, op, x.name, std::string("is ") + name_of(x.tensor.dtype()),
                    "a real dtype, not bool");
  }
  check_broadcast(op, {operands[0], operands[1], operands[2]});
  const Named named(op);
  return named(rename_error(op, {{"input", "input1"}}, [&] {
    return reduced(hinge(neg(target) * (input1 - input2) + margin), how);
  }));
}

Tensor triplet_margin_loss_impl(const Tensor& anchor, const Tensor& positive,
                                const Tensor& negative, double margin, double p, double eps,
                                bool swap, Word reduction) {
  const char* const op = "triplet_margin_loss";
  const Reduce how = reduction_of(op, reduction);
  if (!(margin > 0))
    fail_argument(LIBDL_ERROR_VALUE, op, "margin", "is " + std::to_string(margin), "above 0");
  const Operand operands[] = {{anchor, "anchor"}, {positive, "positive"}, {negative, "negative"}};
  for (const Operand& x : operands) {
    if (x.tensor.dtype() == Dtype::kBool)
      fail_argument(LIBDL_ERROR_DTYPE, op, x.name, "is bool", "numbers");
    if (x.tensor.ndim() != anchor.ndim())
      fail_argument(LIBDL_ERROR_SHAPE, op, x.name, "has shape " + to_string(x.tensor.shape()),
                    std::to_string(anchor.ndim()) + " dimensions, as anchor has");
  }
  check_broadcast(op, {operands[0], operands[1], operands[2]});
  const Named named(op);
  const auto distance = [&](const Operand& a, const Operand& b) {
    return rename_error(op, {{"x1", a.name}, {"x2", b.name}, {"p", "p"}},
                        [&] { return pairwise_distance(a.tensor, b.tensor, p, eps, false); });
  };
  const Tensor near = distance(operands[0], operands[1]);
  Tensor far = distance(operands[0], operands[2]);
  if (swap) far = minimum(far, distance(operands[1], operands[2]));
  return named(reduced(hinge(near + margin - far), how));
}

}  // namespace libdl
