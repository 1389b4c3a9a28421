// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/few_channels/few_channels.h"

#include <algorithm>

#include "kernels/cpu/conv/stored.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/few_channels/few_channels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "kernels/cpu/gemm/panels-inl.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/first-inl.h"
#include "kernels/cpu/traverse/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kAtOnce = 8;     // channels whose values are in registers
constexpr int64_t kGathered = 32;  // channels that are copied at once, a multiple of these
// Rows of what is copied lie a cache line further apart than pixels need: at powers of two they
// would share a few of the cache's sets.
template <class T>
constexpr int64_t kGatheredWidth = kFewPixels + 64 / sizeof(T);

// sums[k][i] += w[k][0] x[0][i] + w[k][1] x[1][i] + ..., in sequence with fma, for kC rows of x.
template <int kC, class T, class S>
HWY_INLINE void add_channels(T (*sums)[kFewPixels], int64_t outputs, const T (*w)[kAtOnce],
                             const S* x, int64_t stride, int64_t count) {
  const Vectors<T> d;
  for (int64_t i = 0; i < count; i += kN<T>) {
    hn::Vec<Vectors<T>> v[kC];
    LIBDL_UNROLL
    for (int c = 0; c < kC; ++c) {
      const S* const from = x + c * stride + i;
      hwy::Prefetch(from + kC * stride);
      v[c] = count - i < kN<T> ? stored::load(d, count - i, from) : stored::load(d, from);
    }
    for (int64_t k = 0; k < outputs; ++k) {
      auto sum = hn::Load(d, sums[k] + i);
      LIBDL_UNROLL
      for (int c = 0; c < kC; ++c) sum = hn::MulAdd(hn::Set(d, w[k][c]), v[c], sum);
      hn::Store(sum, d, sums[k] + i);
    }
  }
}

// Channels [c0, c1), of which row c0 of x lies at `x`.
template <class T, class S, class E>
HWY_INLINE void add_rows(T (*sums)[kFewPixels], const FewPixels<S>& p, const E* x, int64_t stride,
                         int64_t c0, int64_t c1) {
  const S* const weights = static_cast<const S*>(p.w.data);
  T w[kMostFewChannels][kAtOnce];
  for (int64_t c = c0; c < c1; c += kAtOnce, x += kAtOnce * stride) {
    const int64_t here = std::min(kAtOnce, c1 - c);
    for (int64_t k = 0; k < p.outputs; ++k)
      for (int64_t n = 0; n < here; ++n)
        w[k][n] = widened(weights[k * p.w.row_stride + (c + n) * p.w.col_stride]);
    if (here == kAtOnce) {
      add_channels<kAtOnce>(sums, p.outputs, w, x, stride, p.count);
      continue;
    }
    for (int64_t n = 0; n < here; ++n) {
      T one[kMostFewChannels][kAtOnce];
      for (int64_t k = 0; k < p.outputs; ++k) one[k][0] = w[k][n];
      add_channels<1>(sums, p.outputs, one, x + n * stride, stride, p.count);
    }
  }
}

template <class T, class S>
void sum_pixels_on(T (*total)[kFewPixels], const FewPixels<S>& p) {
  alignas(64) T gathered[kGathered * kGatheredWidth<T>];
  alignas(64) T block[kMostFewChannels][kFewPixels];
  const int64_t padded = (p.count + kN<T> - 1) / kN<T> * kN<T>;
  for (int64_t b0 = 0; b0 < p.channels; b0 += kKBlock<T>) {
    const int64_t b1 = std::min(b0 + kKBlock<T>, p.channels);
    T(*const sums)[kFewPixels] = b0 == 0 ? total : block;
    for (int64_t k = 0; k < p.outputs; ++k) std::fill_n(sums[k], padded, T(0));
    if (p.x.col_stride == 1) {
      const S* const x = static_cast<const S*>(p.x.data) + b0 * p.x.row_stride;
      add_rows(sums, p, x, p.x.row_stride, b0, b1);
    } else {
      for (int64_t c = b0; c < b1; c += kGathered) {
        const int64_t here = std::min(kGathered, b1 - c);
        fetch<kGatheredWidth<T>>(gathered, p.x, c, here, 0, p.count);
        add_rows(sums, p, gathered, kGatheredWidth<T>, c, c + here);
      }
    }
    for (int64_t k = 0; b0 > 0 && k < p.outputs; ++k)
      for (int64_t i = 0; i < padded; ++i) total[k][i] += block[k][i];
  }
}

#define LIBDL_SUM_PIXELS_ON(S, suffix) \
  void sum_##suffix(Wide<S>(*sums)[kFewPixels], const FewPixels<S>& p) { sum_pixels_on(sums, p); }
LIBDL_SUM_PIXELS_ON(float, f32)
LIBDL_SUM_PIXELS_ON(double, f64)
LIBDL_SUM_PIXELS_ON(Bfloat, bf16)
LIBDL_SUM_PIXELS_ON(Half, f16)
#undef LIBDL_SUM_PIXELS_ON

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

#define LIBDL_SUM_PIXELS(S, suffix)                                    \
  template <>                                                          \
  void sum_pixels(Wide<S>(*sums)[kFewPixels], const FewPixels<S>& p) { \
    LIBDL_ON_ISA(sum_##suffix, sums, p);                               \
  }
LIBDL_SUM_PIXELS(float, f32)
LIBDL_SUM_PIXELS(double, f64)
LIBDL_SUM_PIXELS(Bfloat, bf16)
LIBDL_SUM_PIXELS(Half, f16)
#undef LIBDL_SUM_PIXELS

namespace {

// Pixels of an image in equal steps, and the step.
struct Line {
  int64_t count = 1, step = 0;
  bool even = true;

  explicit Line(const View& image) {
    for (int d = 4; d >= 2; --d) {
      if (image.sizes[d] == 1) continue;
      if (step == 0) step = image.strides[d];
      even = even && image.strides[d] == step * count;
      count *= image.sizes[d];
    }
  }
};

template <class S>
void store(const ConvolutionArgs& a, S* y, int64_t step, const Wide<S> (*sums)[kFewPixels],
           int64_t count) {
  using T = Wide<S>;
  for (int64_t k = 0; k < a.w.sizes[0]; ++k, y += a.y.strides[1]) {
    const T bias = a.bias.data ? widened(static_cast<const S*>(a.bias.data)[k]) : T(0);
    for (int64_t i = 0; i < count; ++i) y[i * step] = narrowed<S>(sums[k][i] + bias);
  }
}

template <class S>
void multiply(Context& context, const ConvolutionArgs& a) {
  const Line from(a.x), to(a.y);
  const int64_t parts = ceil_div(from.count, kFewPixels);
  for_chunks(context, a.x.sizes[0] * parts, [&](int64_t chunk) {
    const int64_t image = chunk / parts, first = chunk % parts * kFewPixels;
    alignas(64) Wide<S> sums[kMostFewChannels][kFewPixels];
    FewPixels<S> p{};
    p.x = {static_cast<const S*>(a.x.data) + image * a.x.strides[0] + first * from.step,
           a.x.strides[1], from.step, kStoredDtype<S>};
    p.w = {a.w.data, a.w.strides[0], a.w.strides[1], kStoredDtype<S>};
    p.outputs = a.w.sizes[0], p.channels = a.x.sizes[1];
    p.count = std::min(kFewPixels, from.count - first);
    sum_pixels(sums, p);
    store(a, static_cast<S*>(a.y.data) + image * a.y.strides[0] + first * to.step, to.step, sums,
          p.count);
  });
}

}  // namespace

bool few_channels_serve(const ConvolutionArgs& a) {
  if (a.wanted != ConvolutionArgs::kOutput || a.groups != 1) return false;
  if (!few_channels_pay(a.w.sizes[1], a.w.sizes[0])) return false;
  for (int d = 0; d < 3; ++d)
    if (a.w.sizes[d + 2] != 1 || a.stride[d] != 1 || a.before[d] != 0 ||
        a.x.sizes[d + 2] != a.y.sizes[d + 2])
      return false;
  return Line(a.x).even && Line(a.y).even;
}

void few_channels(Context& context, const ConvolutionArgs& args) {
  as_stored(args.x.dtype, [&](auto s) { multiply<decltype(s)>(context, args); });
}

}  // namespace libdl::kernels::cpu
#endif
