// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/patches/spanned.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/rooms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/patches/spanned.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/gemm/gemm_kernel-inl.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// R pixels and V vectors of columns from j on, or, of one vector, the first `columns`.
template <class S, int R, int V>
HWY_NOINLINE void span_kernel(const SpannedPixels<S>& p, int64_t pixel, int64_t j) {
  using T = Wide<S>;
  const Vectors<T> d;
  hn::Vec<Vectors<T>> sum[R][V];
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    LIBDL_UNROLL
    for (int v = 0; v < V; ++v) sum[r][v] = hn::Zero(d);
  }
  const T* const windows = p.windows + pixel * p.step;
  const T* b = p.packed + j / kPanel<T> * p.terms * kPanel<T> + j % kPanel<T>;
  const int64_t step = p.step;
  for (int64_t k = 0; k < p.terms; ++k, b += kPanel<T>) {
    const T* const a = windows + p.offsets[k];
    hn::Vec<Vectors<T>> y[V];
    LIBDL_UNROLL
    for (int v = 0; v < V; ++v) y[v] = hn::LoadU(d, b + v * kN<T>);
    LIBDL_UNROLL
    for (int r = 0; r < R; ++r) {
      const auto x = hn::Set(d, a[r * step]);
      LIBDL_UNROLL
      for (int v = 0; v < V; ++v) sum[r][v] = hn::MulAdd(x, y[v], sum[r][v]);
    }
  }
  const int64_t columns = p.columns - j;
  S* out = p.out + pixel * p.out_step + j;
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r, out += p.out_step) {
    LIBDL_UNROLL
    for (int v = 0; v < V; ++v) {
      S* const to = out + v * kN<T>;
      auto z = sum[r][v];
      if (V > 1 || columns >= kN<T>) {
        if (p.bias != nullptr) z = hn::Add(z, stored::load(d, p.bias + j + v * kN<T>));
        stored::store(z, d, to);
      } else {
        if (p.bias != nullptr) z = hn::Add(z, stored::load(d, columns, p.bias + j));
        stored::store(z, d, columns, to);
      }
    }
  }
}

template <class S, int... R>
void multiply_span_on(const SpannedPixels<S>& p, std::integer_sequence<int, R...>) {
  using T = Wide<S>;
  using Kernel = void (*)(const SpannedPixels<S>&, int64_t, int64_t);
  static constexpr Kernel kWideOnes[] = {span_kernel<S, R + 1, 2>...};
  static constexpr Kernel kNarrowOnes[] = {span_kernel<S, R + 1, 1>...};
  const int64_t groups = (p.count + kRows<T> - 1) / kRows<T>;
  for (int64_t j = 0; j < p.columns;) {
    const bool wide = p.columns - j >= kWide<T>;
    for (int64_t g = 0; g < groups; ++g) {  // of nearly equal length
      const int64_t first = p.count * g / groups, rows = p.count * (g + 1) / groups - first;
      (wide ? kWideOnes : kNarrowOnes)[rows - 1](p, first, j);
    }
    j += wide ? kWide<T> : kN<T>;
  }
}

#define LIBDL_SPAN_ON(S, suffix)                                      \
  void span_##suffix(const SpannedPixels<S>& p) {                     \
    constexpr auto kHeights = static_cast<int>(kRows<Wide<S>>);       \
    multiply_span_on(p, std::make_integer_sequence<int, kHeights>()); \
  }
LIBDL_SPAN_ON(float, f32)
LIBDL_SPAN_ON(double, f64)
LIBDL_SPAN_ON(Bfloat, bf16)
LIBDL_SPAN_ON(Half, f16)
#undef LIBDL_SPAN_ON

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

#define LIBDL_SPAN(S, suffix)                     \
  template <>                                     \
  void multiply_span(const SpannedPixels<S>& p) { \
    LIBDL_ON_ISA(span_##suffix, p);               \
  }
LIBDL_SPAN(float, f32)
LIBDL_SPAN(double, f64)
LIBDL_SPAN(Bfloat, bf16)
LIBDL_SPAN(Half, f16)
#undef LIBDL_SPAN

namespace {

// What taps reach over along one dimension, from a window's tap 0.
struct Reach {
  int64_t low, length;
  template <class S>
  Reach(const Patches<S>& p, int d) {
    const int64_t last = (p.taps[d] - 1) * p.dilation[d];
    low = std::min<int64_t>(0, last), length = std::abs(last) + 1;
  }
};

// A part of the result: lines of one slice, and pixels of each.
template <class S>
class Spans {
 public:
  using T = Wide<S>;

  Spans(const PatchesTimesMatrix<S>& p, int64_t columns)
      : p_(p), columns_(columns), reach_{{p.a, 0}, {p.a, 1}, {p.a, 2}} {
    constexpr int64_t kPixels = 256, kRoom = (1 << 15) / sizeof(T);
    const Lattice& all = p.a.lattice;
    wide_ = std::min(all.sizes[2], kPixels);
    line_ = ((wide_ - 1) * p.a.step[2] + reach_[2].length) * p.a.channels;
    lines_ = std::min(all.sizes[1], ceil_div(kPixels, wide_));
    while (lines_ < all.sizes[1] && room_of(2 * lines_) <= kRoom) lines_ *= 2;
    lines_ = std::min(lines_, all.sizes[1]);
    bands_ = ceil_div(all.sizes[1], lines_), parts_ = ceil_div(all.sizes[2], wide_);
    slices_ = p.i1 / (all.sizes[1] * all.sizes[2]);
    set_offsets();
  }
  int64_t chunks() const { return slices_ * bands_ * parts_; }
  int64_t room() const { return room_of(lines_); }

  void compute(int64_t chunk, T* room) const {
    const int64_t part = chunk % parts_, band = chunk / parts_ % bands_;
    const int64_t slice = chunk / parts_ / bands_, depth = slice % p_.a.lattice.sizes[0];
    const int64_t image = slice / p_.a.lattice.sizes[0];
    const int64_t q0 = part * wide_, q1 = std::min(q0 + wide_, p_.a.lattice.sizes[2]);
    const int64_t l0 = band * lines_, l1 = std::min(l0 + lines_, p_.a.lattice.sizes[1]);
    fetch(room, image, depth, l0, l1, q0, q1);
    SpannedPixels<S> s{};
    s.step = p_.a.step[2] * p_.a.channels, s.offsets = offsets_, s.terms = p_.a.columns();
    s.packed = p_.packed, s.bias = p_.bias, s.out_step = p_.out_strides[3];
    s.count = q1 - q0, s.columns = columns_;
    for (int64_t l = l0; l < l1; ++l) {
      s.windows = room + (l - l0) * p_.a.step[1] * line_;
      s.out = p_.out + image * p_.out_strides[0] + depth * p_.out_strides[1] +
              l * p_.out_strides[2] + q0 * p_.out_strides[3];
      multiply_span(s);
    }
  }

 private:
  int64_t lines_read(int64_t lines) const { return (lines - 1) * p_.a.step[1] + reach_[1].length; }
  int64_t room_of(int64_t lines) const {
    return product(reach_[0].length, lines_read(lines), line_);
  }

  void set_offsets() {
    const Patches<S>& a = p_.a;
    const int64_t plane = lines_read(lines_) * line_;
    int64_t* to = offsets_;
    for (int64_t i = 0; i < a.taps[0]; ++i)
      for (int64_t j = 0; j < a.taps[1]; ++j)
        for (int64_t k = 0; k < a.taps[2]; ++k)
          for (int64_t c = 0; c < a.channels; ++c)
            *to++ = (i * a.dilation[0] - reach_[0].low) * plane +
                    (j * a.dilation[1] - reach_[1].low) * line_ +
                    (k * a.dilation[2] - reach_[2].low) * a.channels + c;
  }

  // What the windows of these pixels cover, with zeros outside of the image.
  void fetch(T* to, int64_t image, int64_t depth, int64_t l0, int64_t l1, int64_t q0,
             int64_t q1) const {
    const Patches<S>& a = p_.a;
    const int64_t first = q0 * a.step[2] + a.start[2] + reach_[2].low;
    const int64_t width = (q1 - q0 - 1) * a.step[2] + reach_[2].length;
    const int64_t low = std::clamp<int64_t>(-first, 0, width);
    const int64_t high = std::clamp<int64_t>(a.sizes[2] - first, low, width);
    for (int64_t z = 0; z < reach_[0].length; ++z) {
      const int64_t i = depth * a.step[0] + a.start[0] + reach_[0].low + z;
      T* line = to + z * lines_read(lines_) * line_;
      for (int64_t y = 0; y < lines_read(l1 - l0); ++y, line += line_) {
        const int64_t j = l0 * a.step[1] + a.start[1] + reach_[1].low + y;
        if (i < 0 || i >= a.sizes[0] || j < 0 || j >= a.sizes[1]) {
          std::fill_n(line, width * a.channels, T(0));
          continue;
        }
        std::fill(line, line + low * a.channels, T(0));
        std::fill(line + high * a.channels, line + width * a.channels, T(0));
        copy(line + low * a.channels,
             a.data + image * a.strides[0] + i * a.strides[1] + j * a.strides[2] +
                 (first + low) * a.strides[3],
             high - low);
      }
    }
  }
  void copy(T* to, const S* from, int64_t pixels) const {
    const int64_t channels = p_.a.channels, step = p_.a.strides[3];
    if (step == channels) {
      for (int64_t i = 0; i < pixels * channels; ++i) to[i] = widened(from[i]);
      return;
    }
    for (int64_t i = 0; i < pixels; ++i, from += step)
      for (int64_t c = 0; c < channels; ++c) *to++ = widened(from[c]);
  }

  const PatchesTimesMatrix<S>& p_;
  const int64_t columns_;
  const Reach reach_[3];
  int64_t wide_, line_, lines_, bands_, parts_, slices_;
  int64_t offsets_[kMostTerms];
};

}  // namespace

template <class S>
bool spans_serve(const Patches<S>& p) {
  constexpr int64_t kFew = 8, kLeastWide = 6;
  const int64_t steps = p.step[0] * p.step[1] * p.step[2];
  return p.channels <= kFew && p.columns() > p.channels && p.columns() <= kKBlock<Wide<S>> &&
         p.lattice.sizes[2] >= kLeastWide && steps > 0 &&
         // Taps far apart, and lines that no window reads, would be copied in vain.
         std::abs(p.dilation[0] * p.dilation[1] * p.dilation[2]) <= 4 && steps <= 16;
}

template <class S>
void multiply_spans(Context& context, const PatchesTimesMatrix<S>& p, int64_t columns) {
  using T = Wide<S>;
  const Spans<S> spans(p, columns);
  const int64_t chunks = spans.chunks(), each = (spans.room() + 15) / 16 * 16;
  const int64_t rooms = std::min<int64_t>(chunks, Rooms<T>::kMost);
  const Scratch room(context, product(rooms, each, sizeof(T)));
  if (room.failed()) return;
  Rooms<T> free(static_cast<T*>(room.data()), each, rooms);
  for_chunks(context, chunks,
             [&](int64_t chunk) { free.with_one([&](T* mine) { spans.compute(chunk, mine); }); });
}

#define LIBDL_SPANS(S)                          \
  template bool spans_serve(const Patches<S>&); \
  template void multiply_spans(Context&, const PatchesTimesMatrix<S>&, int64_t);
LIBDL_SPANS(float)
LIBDL_SPANS(double)
LIBDL_SPANS(Bfloat)
LIBDL_SPANS(Half)
#undef LIBDL_SPANS

}  // namespace libdl::kernels::cpu
#endif
