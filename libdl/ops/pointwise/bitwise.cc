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
LIBDL_UNARY(logical_not, logical_not, Promotion::kTruth)
LIBDL_BINARY(logical_and, logical_and, Promotion::kTruth)
LIBDL_BINARY(logical_or, logical_or, Promotion::kTruth)
LIBDL_BINARY(logical_xor, logical_xor, Promotion::kTruth)
LIBDL_UNARY(bitwise_not, bitwise_not, Promotion::kPromote)
LIBDL_BINARY(bitwise_and, bitwise_and, Promotion::kPromote)
LIBDL_BINARY(bitwise_or, bitwise_or, Promotion::kPromote)
LIBDL_BINARY(bitwise_xor, bitwise_xor, Promotion::kPromote)
LIBDL_BINARY(bitwise_left_shift, shift_left, Promotion::kPromote)
LIBDL_BINARY(bitwise_right_shift, shift_right, Promotion::kPromote)
#undef LIBDL_UNARY
#undef LIBDL_BINARY

}  // namespace libdl
