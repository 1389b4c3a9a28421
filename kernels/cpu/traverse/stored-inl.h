// SPDX-License-Identifier: Apache-2.0

// Vectors of float or double from memory that holds them, or a 16-bit float for float; and back,
// rounded to nearest even.
#if defined(LIBDL_KERNELS_CPU_TRAVERSE_STORED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_TRAVERSE_STORED_INL_H
#undef LIBDL_KERNELS_CPU_TRAVERSE_STORED_INL_H
#else
#define LIBDL_KERNELS_CPU_TRAVERSE_STORED_INL_H
#endif

#include <type_traits>

#include "hwy/highway.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/traverse/first-inl.h"
#include "kernels/cpu/traverse/stored.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace stored {

template <class D, class S>
constexpr bool kAsItIs = std::is_same_v<S, hn::TFromD<D>>;

#if LIBDL_FUSED  // targets with fma have F16C too
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, Bfloat, hn::Vec<hn::Rebind<uint16_t, D>> bits) {
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<D>(), bits)));
}
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, Half, hn::Vec<hn::Rebind<uint16_t, D>> bits) {
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
}
// As to_bfloat (kernels/convert_value.h); the processor's own instruction would flush subnormal
// numbers.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> narrow(D, Bfloat, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> d;
  const auto bits = hn::BitCast(d, x), upper = hn::ShiftRight<16>(bits);
  const auto even = hn::And(upper, hn::Set(d, 1));
  const auto nearest = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(d, 0x7FFF)), even));
  const auto nan = hn::RebindMask(d, hn::IsNaN(x));
  const auto chosen = hn::IfThenElse(nan, hn::Or(upper, hn::Set(d, 0x40)), nearest);
  return hn::TruncateTo(hn::Rebind<uint16_t, D>(), chosen);
}
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> narrow(D, Half, hn::Vec<D> x) {
  return hn::BitCast(hn::Rebind<uint16_t, D>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), x));
}
#endif

template <class D, class S>
HWY_INLINE hn::Vec<D> load(D d, const S* from) {
  if constexpr (kAsItIs<D, S>) {
    return hn::LoadU(d, from);
  } else {
#if LIBDL_FUSED
    const hn::Rebind<uint16_t, D> halves;
    return widen(d, S(), hn::LoadU(halves, reinterpret_cast<const uint16_t*>(from)));
#else
    HWY_ALIGN float lane[hn::MaxLanes(D())];
    for (size_t i = 0; i < hn::MaxLanes(d); ++i) lane[i] = to_float(from[i]);
    return hn::Load(d, lane);
#endif
  }
}
template <class D, class S>
HWY_INLINE void store(hn::Vec<D> x, D d, S* to) {
  if constexpr (kAsItIs<D, S>) {
    hn::StoreU(x, d, to);
  } else {
#if LIBDL_FUSED
    hn::StoreU(narrow(d, S(), x), hn::Rebind<uint16_t, D>(), reinterpret_cast<uint16_t*>(to));
#else
    HWY_ALIGN float lane[hn::MaxLanes(D())];
    hn::Store(x, d, lane);
    for (size_t i = 0; i < hn::MaxLanes(d); ++i) {
      if constexpr (std::is_same_v<S, Bfloat>) to[i] = to_bfloat(lane[i]);
      if constexpr (std::is_same_v<S, Half>) to[i] = to_half(lane[i]);
    }
#endif
  }
}

// Only the first n elements, of which there may be fewer than lanes: see first-inl.h. The other
// lanes are zero.
template <class D, class S>
HWY_INLINE hn::Vec<D> load(D d, int64_t n, const S* from) {
  if constexpr (kAsItIs<D, S>) {
    return first::load(d, n, from);
  } else {
    HWY_ALIGN S lane[hn::MaxLanes(D())] = {};
    std::copy_n(from, std::min<int64_t>(n, hn::MaxLanes(D())), lane);
    return load(d, lane);
  }
}
template <class D, class S>
HWY_INLINE void store(hn::Vec<D> x, D d, int64_t n, S* to) {
  if constexpr (kAsItIs<D, S>) {
    first::store(x, d, n, to);
  } else {
    HWY_ALIGN S lane[hn::MaxLanes(D())];
    store(x, d, lane);
    std::copy_n(lane, std::min<int64_t>(n, hn::MaxLanes(D())), to);
  }
}

}  // namespace stored
}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
