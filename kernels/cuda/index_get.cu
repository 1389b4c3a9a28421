// SPDX-License-Identifier: Apache-2.0

// A single index, as in an embedding, is followed in the copy itself; several are looked up first.

#include "kernels/cuda/indexed.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

#ifdef LIBDL_PLANS

void index_get(Context& context, const IndexArgs& a) {
  if (numel(a.values) == 0) return;
  const int leading = a.values.ndim - a.base.ndim;
  const bool is_even = Split(a.values, leading).is_even;
  const WithoutGaps contiguous(context, a.values, !is_even, WithoutGaps::kUninitialized);
  const Split values(contiguous.view(), leading);

  Rows rows{};
  rows.base = a.base;
  rows.values = values.rest;
  rows.count = values.count;
  rows.values_step = values.step;
  View index = a.index[0];
  index.ndim = a.indices == 1 ? leading : 0;
  const Split followed(index, index.ndim);
  const bool follows = a.indices == 1 && followed.is_even;
  PositionsWorkspace positions(context, follows ? 0 : rows.count);
  if (follows) {
    rows.index = index.data;
    rows.index_step = followed.step;
    rows.index_dtype = index.dtype;
    rows.size = a.indexed_sizes[0];
    rows.step = a.indexed_strides[0];
  } else if (positions.offset) {
    look_up(context, a, positions);
    rows.offset = positions.offset;
  }
  if (context.error) return;
  get_rows(context, rows);
  if (!is_even) copy(context, {a.values, contiguous.view()});
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
