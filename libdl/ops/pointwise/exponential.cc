// SPDX-License-Identifier: Apache-2.0

#include <numbers>

#include "entries/exponential.h"
#include "ops/pointwise/pointwise.h"

namespace libdl {

// Integers are lifted to the default floating dtype by all of these.
#define LIBDL_TO_FLOAT(op, partial)                                     \
  const PointwiseOp k_##op{.name = #op,                                 \
                           .expression = Expression::op,                \
                           .arguments = {"input"},                      \
                           .promotion = Promotion::kFloat,              \
                           .partials = {[](const Symbols& s) {          \
                             const Expr dy = s.dy, x = s.x[0], y = s.y; \
                             (void)x, (void)y;                          \
                             return partial;                            \
                           }}};

LIBDL_TO_FLOAT(exp, dy* conj(y))
LIBDL_TO_FLOAT(exp2, dy* conj(y) * std::numbers::ln2)
LIBDL_TO_FLOAT(expm1, dy* conj(y + 1.0))
LIBDL_TO_FLOAT(log, dy / conj(x))
LIBDL_TO_FLOAT(log2, dy / conj(x * std::numbers::ln2))
LIBDL_TO_FLOAT(log10, dy / conj(x * std::numbers::ln10))
LIBDL_TO_FLOAT(log1p, dy / conj(x + 1.0))
LIBDL_TO_FLOAT(sin, dy* conj(cos(x)))
LIBDL_TO_FLOAT(cos, -dy* conj(sin(x)))
LIBDL_TO_FLOAT(tan, dy* conj(1.0 + y * y))
#undef LIBDL_TO_FLOAT

}  // namespace libdl
