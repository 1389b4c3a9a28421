// SPDX-License-Identifier: Apache-2.0

// How plans of elementwise kernels with any strides hand over their operands.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

#ifdef LIBDL_PLANS

// Queues the kernel over a.out and a.in, once for each part that a geometry has room for. The
// host's numbers go into params, whose members are constants, constant, out, in and geometry.
template <class Args, class Params>
void launch_each_part(Context& context, const char* name, const Args& a, Params& params) {
  const View* views[1 + sizeof a.in / sizeof *a.in] = {&a.out};
  for (int k = 0; k < a.inputs; ++k) {
    views[k + 1] = &a.in[k];
    if (a.host_inputs >> k & 1) {
      params.constants |= 1u << k;
      params.constant[k] = host_element(a.in[k]);
      views[k + 1] = nullptr;
    }
  }
  each_part(views, a.inputs + 1, params.geometry, [&](void* const* data) {
    params.out = data[0];
    for (int k = 0; k < a.inputs; ++k) params.in[k] = data[k + 1];
    launch(context, name, grid_for(context, params.geometry.numel), params);
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
