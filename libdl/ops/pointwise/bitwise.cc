// SPDX-License-Identifier: Apache-2.0

#include "ops/pointwise/bitwise.h"

#include "ops/pointwise/pointwise.h"

namespace libdl {

#define LIBDL_UNARY(op, expression_, promotion_)                           \
  const PointwiseOp k_##expression_{.name = #op,                           \
                                    .expression = Expression::expression_, \
                                    .arguments = {"input"},                \
                                    .promotion = promotion_};              \
  Tensor op(const Tensor& input, Into into) { return pointwise(k_##expression_, input, into); }
#define LIBDL_BINARY(op, expression_, promotion_)                          \
  const PointwiseOp k_##expression_{.name = #op,                           \
                                    .expression = Expression::expression_, \
                                    .arguments = {"input", "other"},       \
                                    .promotion = promotion_};              \
  Tensor op(const Tensor& input, const Tensor& other, Into into) {         \
    return pointwise(k_##expression_, input, other, into);                 \
  }
// Truth has no derivative: written into what has no history, it brings none along.
#define LIBDL_TRUTH(op)                                                                    \
  const PointwiseOp k_##op{.name = #op,                                                    \
                           .expression = Expression::op,                                   \
                           .arguments = {"input", "other"},                                \
                           .promotion = Promotion::kTruth};                                \
  Tensor op(const Tensor& input, const Tensor& other, Into into) {                         \
    if (!into || has_history(into.tensor())) return pointwise(k_##op, input, other, into); \
    const ModeGuard off(kModeGrad);                                                        \
    return pointwise(k_##op, input, other, into);                                          \
  }
LIBDL_UNARY(logical_not, logical_not, Promotion::kTruth)
LIBDL_TRUTH(logical_and)
LIBDL_TRUTH(logical_or)
LIBDL_TRUTH(logical_xor)
LIBDL_UNARY(bitwise_not, bitwise_not, Promotion::kPromote)
LIBDL_BINARY(bitwise_and, bitwise_and, Promotion::kPromote)
LIBDL_BINARY(bitwise_or, bitwise_or, Promotion::kPromote)
LIBDL_BINARY(bitwise_xor, bitwise_xor, Promotion::kPromote)
LIBDL_BINARY(bitwise_left_shift, shift_left, Promotion::kPromote)
LIBDL_BINARY(bitwise_right_shift, shift_right, Promotion::kPromote)
#undef LIBDL_UNARY
#undef LIBDL_BINARY
#undef LIBDL_TRUTH

}  // namespace libdl
