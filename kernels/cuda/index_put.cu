// SPDX-License-Identifier: Apache-2.0

#include "kernels/cuda/indexed.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

#ifdef LIBDL_PLANS

void index_put(Context& context, const IndexArgs& a) {
  if (numel(a.values) == 0) return;
  const int leading = a.values.ndim - a.base.ndim;
  PositionsWorkspace positions(context, Split(a.values, leading).count);
  if (context.error) return;
  look_up(context, a, positions);
  apply_updates(context,
                {positions, a.base, a.values, a.accumulate ? ScatterOp::kAdd : ScatterOp::kSet});
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
