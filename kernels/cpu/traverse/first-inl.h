// SPDX-License-Identifier: Apache-2.0

// Vectors of which only the first n values exist (all, if n is larger): nothing beyond them is read
// or written. Highway's masked functions touch all lanes if the processor has no masks, but an
// array may end at an unmapped page.
#if defined(LIBDL_KERNELS_CPU_TRAVERSE_FIRST_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_TRAVERSE_FIRST_INL_H
#undef LIBDL_KERNELS_CPU_TRAVERSE_FIRST_INL_H
#else
#define LIBDL_KERNELS_CPU_TRAVERSE_FIRST_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

namespace first {

// Whether the target has masked memory access to 32 and 64 bit lanes.
constexpr bool kMasksMemory =
    HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_SCALAR;

// Bytes of the narrowest lanes that have masks.
constexpr size_t kNarrowest = HWY_TARGET == HWY_AVX3 ? 2 : 4;

// The other lanes are zero.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load(D d, int64_t n, const T* from) {
  static_assert(sizeof(T) >= kNarrowest);
  if constexpr (kMasksMemory) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, from);
  } else {
    HWY_ALIGN T lane[hn::MaxLanes(D())] = {};
    std::copy_n(from, std::min<int64_t>(n, hn::MaxLanes(D())), lane);
    return hn::Load(d, lane);
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store(hn::Vec<D> x, D d, int64_t n, T* to) {
  static_assert(sizeof(T) >= kNarrowest);
  if constexpr (kMasksMemory) {
    hn::BlendedStore(x, hn::FirstN(d, static_cast<size_t>(n)), d, to);
  } else {
    HWY_ALIGN T lane[hn::MaxLanes(D())];
    hn::Store(x, d, lane);
    std::copy_n(lane, std::min<int64_t>(n, hn::MaxLanes(D())), to);
  }
}

}  // namespace first
}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
