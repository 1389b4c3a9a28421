// SPDX-License-Identifier: Apache-2.0

// Gathering parts of a matrix of patches.
#if defined(LIBDL_KERNELS_CPU_CONV_PATCHES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_CONV_PATCHES_INL_H
#undef LIBDL_KERNELS_CPU_CONV_PATCHES_INL_H
#else
#define LIBDL_KERNELS_CPU_CONV_PATCHES_INL_H
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "kernels/cpu/conv/patches.h"
#include "kernels/cpu/gemm/panels-inl.h"
#include "kernels/cpu/traverse/first-inl.h"
#include "kernels/cpu/traverse/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T, class S>
HWY_INLINE void copy_run(T* to, const S* from, int64_t n) {
  const Vectors<T> d;
  int64_t i = 0;
  for (; i + kN<T> <= n; i += kN<T>) hn::StoreU(stored::load(d, from + i), d, to + i);
  if (i < n) first::store(stored::load(d, n - i, from + i), d, n - i, to + i);
}
template <class T>
HWY_INLINE void clear_run(T* to, int64_t n) {
  const Vectors<T> d;
  int64_t i = 0;
  for (; i + kN<T> <= n; i += kN<T>) hn::StoreU(hn::Zero(d), d, to + i);
  if (i < n) first::store(hn::Zero(d), d, n - i, to + i);
}

// Columns [begin, end) of a run of which only [low, high) lies inside the image.
template <class T, class S>
HWY_INLINE void gather_run(T* to, const S* from, int64_t begin, int64_t end, int64_t low,
                           int64_t high) {
  low = std::clamp(low, begin, end), high = std::clamp(high, low, end);
  clear_run(to, low - begin);
  copy_run(to + (low - begin), from + low, high - low);
  clear_run(to + (high - begin), end - high);
}

// to[r][c - c0] = the patches' [r0 + r, c] for c in [c0, c1), rows of `to` kWidth apart.
template <int64_t kWidth, class T, class S>
HWY_INLINE void gather(T* to, const Patches<S>& p, int64_t r0, int64_t rows, int64_t c0,
                       int64_t c1) {
  // A run: the columns of one tap, or of all taps along the last dimension if they are adjacent in
  // memory.
  const bool joined = p.dilation[2] == 1 && p.strides[3] == p.channels;
  const int64_t joint = joined ? p.taps[2] : 1, length = joint * p.channels;
  const int64_t along = p.taps[2] / joint;
  const int64_t first = c0 / length, offset = c0 % length;
  const int64_t first_tap[3] = {first / along / p.taps[1], first / along % p.taps[1],
                                first % along};
  Pixel at(p.lattice, r0);
  for (int64_t r = 0; r < rows; ++r, to += kWidth, at.advance(p.lattice)) {
    int64_t corner[3];
    for (int d = 0; d < 3; ++d) corner[d] = at.at[d] * p.step[d] + p.start[d];
    const S* const image = p.data + at.image * p.strides[0];
    int64_t t0 = first_tap[0], t1 = first_tap[1], t2 = first_tap[2];
    T* y = to;
    for (int64_t c = c0, begin = offset; c < c1; begin = 0) {
      const int64_t end = std::min(length, begin + c1 - c);
      const int64_t i0 = corner[0] + t0 * p.dilation[0], i1 = corner[1] + t1 * p.dilation[1];
      const int64_t i2 = corner[2] + t2 * p.dilation[2];
      const bool inside = static_cast<uint64_t>(i0) < static_cast<uint64_t>(p.sizes[0]) &&
                          static_cast<uint64_t>(i1) < static_cast<uint64_t>(p.sizes[1]);
      if (inside) {
        gather_run(y, image + i0 * p.strides[1] + i1 * p.strides[2] + i2 * p.strides[3], begin, end,
                   -i2 * p.channels, (p.sizes[2] - i2) * p.channels);
      } else {
        clear_run(y, end - begin);
      }
      y += end - begin;
      c += end - begin;
      if (++t2 < along) continue;
      t2 = 0;
      if (++t1 < p.taps[1]) continue;
      t1 = 0, ++t0;
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
