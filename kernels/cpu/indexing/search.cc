// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/kernels.h"

#include <libdl/dtype.h>

#include <algorithm>
#include <bit>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/indexing/search.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kGrain = 1 << 12;                // searches worth a chunk of their own
[[maybe_unused]] constexpr int64_t kTogether = 2;  // vectors whose steps are interleaved

// Whether x belongs behind the element.
template <bool kRight, class T>
HWY_INLINE bool behind(T element, T x) {
  return !(kRight ? element > x : element >= x);
}

template <bool kRight, class T>
HWY_INLINE int64_t find(const T* row, int64_t length, T x) {
  int64_t first = 0, last = length;
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    const bool after = behind<kRight>(row[middle], x);
    first = after ? middle + 1 : first;
    last = after ? last : middle;
  }
  return first;
}

template <class T>
using Place = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <class V>
HWY_INLINE auto not_below(V element, V x) {  // false of NaN
  if constexpr (std::is_floating_point_v<hn::TFromV<V>>) {
    return hn::Ge(element, x);
  } else {
    return hn::Not(hn::Lt(element, x));
  }
}

// The steps of find() for a vector each; places are kept in integers of the elements' width.
template <bool kRight, int64_t kVectors, class T, class Out>
HWY_INLINE void find_together(const T* row, int64_t length, const T* x, Out* out) {
  const hn::ScalableTag<T> d;
  const hn::ScalableTag<Place<T>> p;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto one = hn::Set(p, 1), end = hn::Set(p, static_cast<Place<T>>(length - 1));
  hn::Vec<decltype(d)> wanted[kVectors];
  hn::Vec<decltype(p)> first[kVectors], last[kVectors];
  for (int64_t k = 0; k < kVectors; ++k) {
    wanted[k] = hn::LoadU(d, x + k * lanes);
    first[k] = hn::Zero(p);
    last[k] = hn::Set(p, static_cast<Place<T>>(length));
  }
  const auto halvings = static_cast<int>(std::bit_width(static_cast<uint64_t>(length)));
  for (int steps = halvings; steps > 0; --steps) {
    for (int64_t k = 0; k < kVectors; ++k) {
      const auto middle = hn::Add(first[k], hn::ShiftRight<1>(hn::Sub(last[k], first[k])));
      const auto element = hn::GatherIndex(d, row, hn::Min(middle, end));
      const auto here = kRight ? hn::Gt(element, wanted[k]) : not_below(element, wanted[k]);
      const auto after = hn::AndNot(hn::RebindMask(p, here), hn::Lt(first[k], last[k]));
      first[k] = hn::IfThenElse(after, hn::Add(middle, one), first[k]);
      last[k] = hn::IfThenElse(after, last[k], middle);
    }
  }
  alignas(64) Place<T> found[kVectors * hn::MaxLanes(d)];
  for (int64_t k = 0; k < kVectors; ++k) hn::Store(first[k], p, found + k * lanes);
  for (int64_t k = 0; k < kVectors * lanes; ++k) out[k] = static_cast<Out>(found[k]);
}

template <bool kRight, class T, class Out>
void find_all(const T* row, int64_t length, const T* x, Out* out, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3  // those that gather
  if constexpr (!std::is_same_v<T, uint64_t>) {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
    if (length <= INT32_MAX / 2) {
      for (; i + kTogether * lanes <= n; i += kTogether * lanes)
        find_together<kRight, kTogether>(row, length, x + i, out + i);
      for (; i + lanes <= n; i += lanes) find_together<kRight, 1>(row, length, x + i, out + i);
    }
  }
#endif
  for (; i < n; ++i) out[i] = static_cast<Out>(find<kRight>(row, length, x[i]));
}

template <bool kRight, class T, class Out>
void search_rows(Context& context, const SearchArgs& a) {
  const auto* rows = static_cast<const T*>(a.rows.data);
  const auto* in = static_cast<const T*>(a.in.data);
  auto* out = static_cast<Out*>(a.out.data);
  in_chunks(context, element_count(a.in), kGrain, [&](int64_t first, int64_t last) {
    while (first < last) {
      const int64_t row = first / a.each, end = std::min(last, (row + 1) * a.each);
      find_all<kRight>(rows + row * a.length, a.length, in + first, out + first, end - first);
      first = end;
    }
  });
}

template <class T>
void search_as(Context& context, const SearchArgs& a) {
  const bool narrow = a.out.dtype == LIBDL_DTYPE_INT32;
  if (a.right) {
    return narrow ? search_rows<true, T, int32_t>(context, a)
                  : search_rows<true, T, int64_t>(context, a);
  }
  return narrow ? search_rows<false, T, int32_t>(context, a)
                : search_rows<false, T, int64_t>(context, a);
}

void search_on(Context& context, const SearchArgs& a) {
  switch (a.in.dtype) {
    case LIBDL_DTYPE_FLOAT32: return search_as<float>(context, a);
    case LIBDL_DTYPE_FLOAT64: return search_as<double>(context, a);
    case LIBDL_DTYPE_INT32: return search_as<int32_t>(context, a);
    case LIBDL_DTYPE_INT64: return search_as<int64_t>(context, a);
    default: return search_as<uint64_t>(context, a);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void search(Context& context, const SearchArgs& args) { LIBDL_ON_ISA(search_on, context, args); }

}  // namespace libdl::kernels::cpu
#endif
