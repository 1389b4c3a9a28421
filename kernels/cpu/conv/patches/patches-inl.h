// SPDX-License-Identifier: Apache-2.0

// Gathering parts of a matrix of patches.
#if defined(LIBDL_KERNELS_CPU_CONV_PATCHES_PATCHES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_CONV_PATCHES_PATCHES_INL_H
#undef LIBDL_KERNELS_CPU_CONV_PATCHES_PATCHES_INL_H
#else
#define LIBDL_KERNELS_CPU_CONV_PATCHES_PATCHES_INL_H
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "kernels/cpu/conv/patches/patches.h"
#include "kernels/cpu/gemm/panels-inl.h"
#include "kernels/cpu/traverse/first-inl.h"
#include "kernels/cpu/traverse/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// A run's end is written with a mask by AVX-512. Elsewhere it is a vector that overlaps the one
// before, or two halves that overlap each other: AVX2's masked stores take as long as dozens of
// others on some processors. load(d, i) is the vector from i on, load(d, i, n) its first n values.
template <class T, class Load>
HWY_INLINE void write_run(T* to, int64_t n, Load load) {
  const Vectors<T> d;
  const hn::Half<Vectors<T>> half;
  const int64_t most = kN<T>, least = hn::MaxLanes(half);
  int64_t i = 0;
  for (; i + most <= n; i += most) hn::StoreU(load(d, i), d, to + i);
  if (i == n) return;
  if constexpr (HWY_TARGET == HWY_AVX3) {
    first::store(load(d, i, n - i), d, n - i, to + i);
  } else if (n >= most) {
    hn::StoreU(load(d, n - most), d, to + (n - most));
  } else if (n >= least) {
    hn::StoreU(load(half, 0), half, to);
    hn::StoreU(load(half, n - least), half, to + (n - least));
  } else {
    const hn::CappedTag<T, 1> one;
    for (; i < n; ++i) hn::StoreU(load(one, i), one, to + i);
  }
}
template <class T, class S>
HWY_INLINE void copy_run(T* to, const S* from, int64_t n) {
  write_run(to, n,
            [&](auto d, int64_t i, auto... count) { return stored::load(d, count..., from + i); });
}
template <class T>
HWY_INLINE void clear_run(T* to, int64_t n) {
  write_run(to, n, [&](auto d, int64_t, auto...) { return hn::Zero(d); });
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

// Rows of one call of gather, at most.
constexpr int64_t kGathered = 256;

// to[r][c - c0] = the patches' [r0 + r, c] for c in [c0, c1), rows of `to` kWidth apart.
template <int64_t kWidth, class T, class S>
HWY_INLINE void gather(T* to, const Patches<S>& p, int64_t r0, int64_t rows, int64_t c0,
                       int64_t c1) {
  // A run: the columns of one tap, or of all taps along the last dimension if they are adjacent in
  // memory.
  const bool joined = p.dilation[2] == 1 && p.strides[3] == p.channels;
  const int64_t joint = joined ? p.taps[2] : 1, length = joint * p.channels;
  const int64_t along = p.taps[2] / joint;
  struct {
    int64_t at, i0, i1, i2;  // tap 0: its offset in memory, and its place in the image
  } corners[kGathered];
  Pixel pixel(p.lattice, r0);
  for (int64_t r = 0; r < rows; ++r, pixel.advance(p.lattice)) {
    const int64_t i0 = pixel.at[0] * p.step[0] + p.start[0];
    const int64_t i1 = pixel.at[1] * p.step[1] + p.start[1];
    const int64_t i2 = pixel.at[2] * p.step[2] + p.start[2];
    const int64_t at = pixel.image * p.strides[0] + i0 * p.strides[1] + i1 * p.strides[2];
    corners[r] = {at + i2 * p.strides[3], i0, i1, i2};
  }
  const uint64_t inside[] = {static_cast<uint64_t>(p.sizes[0]), static_cast<uint64_t>(p.sizes[1])};
  int64_t run = c0 / length, begin = c0 % length;
  for (int64_t c = c0; c < c1; ++run, begin = 0) {
    const int64_t t2 = run % along * p.dilation[2];
    const int64_t t1 = run / along % p.taps[1] * p.dilation[1];
    const int64_t t0 = run / along / p.taps[1] * p.dilation[0];
    const int64_t end = std::min(length, begin + c1 - c), n = end - begin;
    const S* const from = p.data + t0 * p.strides[1] + t1 * p.strides[2] + t2 * p.strides[3];
    T* y = to + (c - c0);
    for (int64_t r = 0; r < rows; ++r, y += kWidth) {
      const auto& corner = corners[r];
      if (static_cast<uint64_t>(corner.i0 + t0) >= inside[0] ||
          static_cast<uint64_t>(corner.i1 + t1) >= inside[1]) {
        clear_run(y, n);
        continue;
      }
      const int64_t i2 = corner.i2 + t2, low = -i2 * p.channels;
      const int64_t high = (p.sizes[2] - i2) * p.channels;
      if (low <= begin && end <= high) {
        copy_run(y, from + corner.at + begin, n);
      } else {
        gather_run(y, from + corner.at, begin, end, low, high);
      }
    }
    c += n;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
