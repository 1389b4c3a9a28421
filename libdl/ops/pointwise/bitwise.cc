// SPDX-License-Identifier: Apache-2.0

#include "ops/pointwise/pointwise.h"

namespace libdl {

#define LIBDL_UNARY(op, promotion_) \
  const PointwiseOp k_##op{         \
      .name = #op, .expression = Expression::op, .arguments = {"input"}, .promotion = promotion_};
#define LIBDL_BINARY(op, promotion_)                        \
  const PointwiseOp k_##op{.name = #op,                     \
                           .expression = Expression::op,    \
                           .arguments = {"input", "other"}, \
                           .promotion = promotion_};
LIBDL_UNARY(logical_not, Promotion::kTruth)
LIBDL_BINARY(logical_and, Promotion::kTruth)
LIBDL_BINARY(logical_or, Promotion::kTruth)
LIBDL_BINARY(logical_xor, Promotion::kTruth)
LIBDL_UNARY(bitwise_not, Promotion::kPromote)
LIBDL_BINARY(bitwise_and, Promotion::kPromote)
LIBDL_BINARY(bitwise_or, Promotion::kPromote)
LIBDL_BINARY(bitwise_xor, Promotion::kPromote)
LIBDL_BINARY(bitwise_left_shift, Promotion::kPromote)
LIBDL_BINARY(bitwise_right_shift, Promotion::kPromote)
#undef LIBDL_UNARY
#undef LIBDL_BINARY

}  // namespace libdl
