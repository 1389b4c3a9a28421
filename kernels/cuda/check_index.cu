// SPDX-License-Identifier: Apache-2.0

#include "kernels/cuda/indexed.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

struct CheckIndex {
  const void* index;
  DeviceError* device_error;
  const char *op, *finding;
  int64_t size, first;  // the dimension; the linear position of this part's first element
  int32_t dtype;
  Geometry<1> geometry;
};

}  // namespace

#ifdef LIBDL_KERNELS

LIBDL_KERNEL(check_index_values, CheckIndex) {
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[1];
    offsets_of(p.geometry, i, offset);
    const int64_t value = index_at(p.index, offset[0], p.dtype);
    if (wrapped(value, p.size) < 0)
      report_device_error(p.device_error, p.op, p.finding, p.first + i, value, p.size);
  }
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void check_index(Context& context, const CheckIndexArgs& a) {
  if (numel(a.index) == 0) return;
  CheckIndex p{};
  p.device_error = device_error(context);
  p.op = a.op;
  p.finding = a.finding;
  p.size = a.size;
  p.dtype = a.index.dtype;
  const View* const views[] = {&a.index};
  each_part(views, 1, p.geometry, [&](void* const* data) {
    p.index = data[0];
    launch(context, "check_index_values", grid_for(context, p.geometry.numel), p);
    p.first += p.geometry.numel;
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
