// SPDX-License-Identifier: Apache-2.0

// Copies between any dtypes and strides, and fills. Elements that are only moved are handled by
// size.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

struct Copy {
  void* out;
  const void* in;
  int32_t out_dtype, in_dtype;
  Geometry<2> geometry;
};

struct Fill {
  void* out;
  Element value;
  Geometry<1> geometry;
};

}  // namespace

#ifdef LIBDL_KERNELS

LIBDL_KERNEL(copy_converted, Copy) {
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[2];
    offsets_of(p.geometry, i, offset);
    with_type(p.in_dtype, [&](auto* from) {
      using From = std::remove_pointer_t<decltype(from)>;
      const From x = static_cast<const From*>(p.in)[offset[1]];
      with_type(p.out_dtype, [&](auto* to) {
        using To = std::remove_pointer_t<decltype(to)>;
        static_cast<To*>(p.out)[offset[0]] = convert_value<To>(x);
      });
    });
  }
}

template <class T>
LIBDL_DEVICE void move(const Copy& p) {
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[2];
    offsets_of(p.geometry, i, offset);
    static_cast<T*>(p.out)[offset[0]] = static_cast<const T*>(p.in)[offset[1]];
  }
}
LIBDL_KERNEL(copy_1, Copy) { move<uint8_t>(p); }
LIBDL_KERNEL(copy_2, Copy) { move<uint16_t>(p); }
LIBDL_KERNEL(copy_4, Copy) { move<uint32_t>(p); }
LIBDL_KERNEL(copy_8, Copy) { move<uint64_t>(p); }
LIBDL_KERNEL(copy_16, Copy) { move<Complex>(p); }

template <class T>
LIBDL_DEVICE void put(const Fill& p) {
  const T value = *reinterpret_cast<const T*>(p.value.bytes);
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[1];
    offsets_of(p.geometry, i, offset);
    static_cast<T*>(p.out)[offset[0]] = value;
  }
}
LIBDL_KERNEL(fill_1, Fill) { put<uint8_t>(p); }
LIBDL_KERNEL(fill_2, Fill) { put<uint16_t>(p); }
LIBDL_KERNEL(fill_4, Fill) { put<uint32_t>(p); }
LIBDL_KERNEL(fill_8, Fill) { put<uint64_t>(p); }
LIBDL_KERNEL(fill_16, Fill) { put<Complex>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void copy(Context& context, const CopyArgs& a) {
  if (numel(a.out) == 0) return;
  static constexpr const char* kMoves[] = {"copy_1", "copy_2", "copy_4", "copy_8", "copy_16"};
  // A bool from elsewhere may be stored as bytes other than 0 and 1: those are converted.
  const bool moves = a.out.dtype == a.in.dtype && a.out.dtype != LIBDL_DTYPE_BOOL;
  const char* const name = moves ? of_size(kMoves, dtype_bytes(a.out.dtype)) : "copy_converted";
  Copy p{};
  p.out_dtype = a.out.dtype;
  p.in_dtype = a.in.dtype;
  const View* const views[] = {&a.out, &a.in};
  each_part(views, 2, p.geometry, [&](void* const* data) {
    p.out = data[0];
    p.in = data[1];
    launch(context, name, grid_for(context, p.geometry.numel), p);
  });
}

void fill(Context& context, const FillArgs& a) {
  if (numel(a.out) == 0) return;
  static constexpr const char* kFills[] = {"fill_1", "fill_2", "fill_4", "fill_8", "fill_16"};
  const int64_t bytes = dtype_bytes(a.out.dtype);
  Fill p{};
  std::memcpy(p.value.bytes, a.value, static_cast<size_t>(bytes));
  const View* const views[] = {&a.out};
  each_part(views, 1, p.geometry, [&](void* const* data) {
    p.out = data[0];
    launch(context, of_size(kFills, bytes), grid_for(context, p.geometry.numel), p);
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
