// SPDX-License-Identifier: Apache-2.0

#include "kernels/cuda/indexed.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

struct Gather {
  void* out;
  const void* in;
  const void* index;
  int64_t size, step;  // of in along the dimension
  int32_t index_dtype;
  Geometry<3> geometry;  // index, out, in (which stands still along the dimension)
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class T>
LIBDL_DEVICE void gathered(const Gather& p) {
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[3];
    offsets_of(p.geometry, i, offset);
    const int64_t at = wrapped(index_at(p.index, offset[0], p.index_dtype), p.size);
    if (at >= 0)
      static_cast<T*>(p.out)[offset[1]] = static_cast<const T*>(p.in)[offset[2] + at * p.step];
  }
}
LIBDL_KERNEL(gather_1, Gather) { gathered<uint8_t>(p); }
LIBDL_KERNEL(gather_2, Gather) { gathered<uint16_t>(p); }
LIBDL_KERNEL(gather_4, Gather) { gathered<uint32_t>(p); }
LIBDL_KERNEL(gather_8, Gather) { gathered<uint64_t>(p); }
LIBDL_KERNEL(gather_16, Gather) { gathered<Complex>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void gather(Context& context, const GatherArgs& a) {
  if (numel(a.index) == 0) return;
  static constexpr const char* kNames[] = {"gather_1", "gather_2", "gather_4", "gather_8",
                                           "gather_16"};
  Gather p{};
  p.size = a.in.sizes[a.dim];
  p.step = a.in.strides[a.dim];
  p.index_dtype = a.index.dtype;
  int64_t steps[kMaxDims];
  for (int d = 0; d < a.in.ndim; ++d) steps[d] = d == a.dim ? 0 : a.in.strides[d];
  View in = a.in;
  in.sizes = a.index.sizes;
  in.strides = steps;
  const View* const views[] = {&a.index, &a.out, &in};
  each_part(views, 3, p.geometry, [&](void* const* data) {
    p.index = data[0];
    p.out = data[1];
    p.in = data[2];
    launch(context, of_size(kNames, dtype_bytes(a.out.dtype)), grid_for(context, p.geometry.numel),
           p);
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
