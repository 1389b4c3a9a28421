// SPDX-License-Identifier: Apache-2.0

// One thread per element of the result, which adds up its terms.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

struct Resample {
  void* out;
  const void *in, *weight;
  const int64_t *first, *index;
  int32_t dtype, bits;
  int64_t length, out_step, in_step;  // along the axis
  int64_t numel;
  Geometry<2> lines;  // out, in: the dimensions beside the axis
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class T>
LIBDL_DEVICE T resampled(const Resample& p, const T* in, int64_t o) {
  const T* const weight = static_cast<const T*>(p.weight);
  int64_t k = p.first[o];
  const int64_t end = p.first[o + 1];
  if (k == end) return T(0);
  T sum = weight[k] * in[p.index[k] * p.in_step];
  for (++k; k < end; ++k) sum += weight[k] * in[p.index[k] * p.in_step];
  return sum;
}
template <>
LIBDL_DEVICE uint8_t resampled(const Resample& p, const uint8_t* in, int64_t o) {
  const int32_t* const weight = static_cast<const int32_t*>(p.weight);
  int32_t sum = p.bits > 0 ? 1 << (p.bits - 1) : 0;
  for (int64_t k = p.first[o]; k < p.first[o + 1]; ++k)
    sum += weight[k] * in[p.index[k] * p.in_step];
  sum >>= p.bits;
  return static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

LIBDL_KERNEL(resample_elements, Resample) {
  for (int64_t i = first_element(); i < p.numel; i += all_threads()) {
    // Neighbouring threads take neighbouring lines where these lie closer than a line's elements.
    const bool beside = p.out_step > 1;
    const int64_t o = beside ? i / p.lines.numel : i % p.length;
    const int64_t line = beside ? i % p.lines.numel : i / p.length;
    int64_t offset[2];
    offsets_of(p.lines, line, offset);
    with_type(p.dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                    std::is_same_v<T, uint8_t>)
        static_cast<T*>(p.out)[offset[0] + o * p.out_step] =
            resampled<T>(p, static_cast<const T*>(p.in) + offset[1], o);
    });
  }
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void resample(Context& context, const ResampleArgs& a) {
  if (numel(a.out) == 0) return;
  Resample p{};
  p.weight = a.weight.data;
  p.first = static_cast<const int64_t*>(a.first.data);
  p.index = static_cast<const int64_t*>(a.index.data);
  p.dtype = a.out.dtype, p.bits = a.bits;
  p.length = a.out.sizes[a.axis];
  p.out_step = a.out.strides[a.axis], p.in_step = a.in.strides[a.axis];
  View out = a.out, in = a.in;
  int64_t sizes[kMaxDims], out_strides[kMaxDims], in_strides[kMaxDims];
  int n = 0;
  for (int d = 0; d < a.out.ndim; ++d) {
    if (d == a.axis) continue;
    sizes[n] = a.out.sizes[d];
    out_strides[n] = a.out.strides[d], in_strides[n++] = a.in.strides[d];
  }
  out.ndim = in.ndim = n;
  out.sizes = in.sizes = sizes;
  out.strides = out_strides, in.strides = in_strides;
  const View* const views[] = {&out, &in};
  each_part(views, 2, p.lines, [&](void* const* data) {
    p.out = data[0], p.in = data[1];
    p.numel = p.lines.numel * p.length;
    launch(context, "resample_elements", grid_for(context, p.numel), p);
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
