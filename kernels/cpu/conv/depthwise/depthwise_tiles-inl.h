// SPDX-License-Identifier: Apache-2.0

// Tiles of a few pixels by one vector of channels, for depthwise_rows.h and grouped_rows.h.
#if defined(LIBDL_KERNELS_CPU_CONV_DEPTHWISE_DEPTHWISE_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_CONV_DEPTHWISE_DEPTHWISE_TILES_INL_H
#undef LIBDL_KERNELS_CPU_CONV_DEPTHWISE_DEPTHWISE_TILES_INL_H
#else
#define LIBDL_KERNELS_CPU_CONV_DEPTHWISE_DEPTHWISE_TILES_INL_H
#endif

#include <algorithm>

#include "kernels/cpu/conv/depthwise/depthwise_row.h"
#include "kernels/cpu/traverse/order-inl.h"
#include "kernels/cpu/traverse/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kTile = 8;  // pixels; on every target, as it decides the order of sums

// Vectors of channels: whole ones, or the first `count` channels.
template <bool kWhole, class T>
struct Channels {
  using P = Pack<T>;
  using V = typename P::V;
  int64_t count;

  template <class S>
  HWY_INLINE V load(const S* p) const {
    if constexpr (kWhole) return stored::load(typename P::D(), p);
    return stored::load(typename P::D(), count, p);
  }
  template <class S>
  HWY_INLINE void store(V v, S* p) const {
    if constexpr (kWhole) return stored::store(v, typename P::D(), p);
    stored::store(v, typename P::D(), count, p);
  }
};

// Calls tile(kPixels, q) for tiles of kTile pixels and of half as many, of which one may overlap
// the one before, and for single pixels.
template <class F>
HWY_INLINE void in_tiles(Span pixels, F tile) {
  const int64_t end = pixels.last, length = end - pixels.first;
  for (int64_t q = pixels.first; q < end;) {
    const int64_t left = end - q;
    if (left >= kTile || (left > kTile / 2 && length >= kTile)) {
      tile(std::integral_constant<int, kTile>(), std::min(q, end - kTile));
      q += kTile;
    } else if (left > 1 && length >= kTile / 2) {
      tile(std::integral_constant<int, kTile / 2>(), std::min(q, end - kTile / 2));
      q += kTile / 2;
    } else {
      tile(std::integral_constant<int, 1>(), q++);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
