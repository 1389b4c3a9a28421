// SPDX-License-Identifier: Apache-2.0

// Plain loops, which the compiler turns into vectors; the terms of a sum are added in the table's
// order, so every instruction set gives the same bits.

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/image/resample.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kGrain = 1 << 15;  // terms of sums that are worth a chunk
constexpr int64_t kWidth = 1 << 10;  // positions of a chunk, at least, if there are so many
constexpr int64_t kTile = 256;       // sums at once

// How sums of T are made: T's weights, and what a sum becomes at the end.
template <class T>
struct Sums {
  using Weight = T;
  using Sum = T;
  explicit Sums(const ResampleArgs&) {}
  HWY_INLINE Sum first(Weight w, T x) const { return w * x; }
  HWY_INLINE T last(Sum sum) const { return sum; }
};
template <>
struct Sums<uint8_t> {
  using Weight = int32_t;
  using Sum = int32_t;
  int32_t bits, half;
  explicit Sums(const ResampleArgs& a) : bits(a.bits), half(a.bits > 0 ? 1 << (a.bits - 1) : 0) {}
  HWY_INLINE Sum first(Weight w, uint8_t x) const { return half + w * x; }
  HWY_INLINE uint8_t last(Sum sum) const {
    const int32_t x = sum >> bits;
    return static_cast<uint8_t>(x < 0 ? 0 : x > 255 ? 255 : x);
  }
};

template <class T>
struct Resample {
  using Weight = typename Sums<T>::Weight;
  using Sum = typename Sums<T>::Sum;
  const Sums<T> sums;
  const int64_t *first, *index;
  const Weight* weight;
  int64_t out_step, in_step;  // along the axis

  explicit Resample(const ResampleArgs& a)
      : sums(a),
        first(static_cast<const int64_t*>(a.first.data)),
        index(static_cast<const int64_t*>(a.index.data)),
        weight(static_cast<const Weight*>(a.weight.data)),
        out_step(a.out.strides[a.axis]),
        in_step(a.in.strides[a.axis]) {}

  // Element o of one line along the axis.
  HWY_INLINE T at(const T* in, int64_t o) const {
    int64_t k = first[o];
    const int64_t end = first[o + 1];
    if (k == end) return T(0);
    Sum sum = sums.first(weight[k], in[index[k] * in_step]);
    for (++k; k < end; ++k) sum += weight[k] * in[index[k] * in_step];
    return sums.last(sum);
  }

  // The elements o of `count` lines that are adjacent.
  void beside(T* HWY_RESTRICT out, const T* in, int64_t o, int64_t count) const {
    const int64_t begin = first[o], end = first[o + 1];
    if (begin == end) return (void)std::fill_n(out, count, T(0));
    const T* HWY_RESTRICT const x = in + index[begin] * in_step;
    const Weight w = weight[begin];
    if (end - begin == 2) {
      const T* HWY_RESTRICT const y = in + index[begin + 1] * in_step;
      const Weight v = weight[begin + 1];
      for (int64_t i = 0; i < count; ++i) out[i] = sums.last(sums.first(w, x[i]) + v * y[i]);
      return;
    }
    Sum sum[kTile];
    for (int64_t i = 0; i < count; ++i) sum[i] = sums.first(w, x[i]);
    for (int64_t k = begin + 1; k < end; ++k) {
      const T* HWY_RESTRICT const y = in + index[k] * in_step;
      const Weight v = weight[k];
      for (int64_t i = 0; i < count; ++i) sum[i] += v * y[i];
    }
    for (int64_t i = 0; i < count; ++i) out[i] = sums.last(sum[i]);
  }
};

// Some elements of a contiguous line that have equally many terms. Two terms that are neighbours in
// the line are read at once: vectors of single ones would have to be gathered, which many
// processors do slowly.
template <class T>
struct Terms {
  static constexpr int64_t kMost = 8, kFew = 16;
  int64_t start[kMost][kTile];
  T weight[kMost][kTile];
  int64_t count = 0, terms = 0;

  // Of the elements from o on, up to `end`; false if there are few of them, or other terms.
  bool find(const Resample<T>& job, int64_t o, int64_t end) {
    terms = job.first[o + 1] - job.first[o];
    for (count = 1; count < kTile && o + count < end; ++count)
      if (job.first[o + count + 1] - job.first[o + count] != terms) break;
    if (count < kFew || terms == 0 || terms > kMost) return false;
    bool beside = true;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t t = 0; t < terms; ++t) {
        const int64_t k = job.first[o + i] + t;
        start[t][i] = job.index[k];
        weight[t][i] = job.weight[k];
        beside &= t % 2 == 0 || start[t][i] == start[t - 1][i] + 1;
      }
    }
    return beside;
  }

  void sum(T* out, const T* in) const {
    const hn::CappedTag<T, kFew> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    T value[kMost / 2][2 * kTile];
    for (int64_t t = 0; t + 1 < terms; t += 2)
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(value[t / 2] + 2 * i, in + start[t][i], 2 * sizeof(T));
    if (terms % 2)
      for (int64_t i = 0; i < count; ++i) value[terms / 2][i] = in[start[terms - 1][i]];
    for (int64_t i = 0; i < count; i += lanes) {
      i = std::min(i, count - lanes);  // the last vector may overlap another
      auto sum = hn::Zero(d);
      const auto add = [&](int64_t t, auto x) HWY_ATTR {
        const auto term = hn::Mul(hn::LoadU(d, weight[t] + i), x);
        sum = t == 0 ? term : hn::Add(sum, term);
      };
      for (int64_t t = 0; t + 1 < terms; t += 2) {
        hn::Vec<decltype(d)> left, right;
        hn::LoadInterleaved2(d, value[t / 2] + 2 * i, left, right);
        add(t, left);
        add(t + 1, right);
      }
      if (terms % 2) add(terms - 1, hn::LoadU(d, value[terms / 2] + i));
      hn::StoreU(sum, d, out + i);
    }
  }
};

// Elements [o0, o1) of `lines`' lines [first, last), which are contiguous.
template <class T>
void along_lines(const Resample<T>& job, const ResampleArgs& a, const Walk<2>& lines, int64_t first,
                 int64_t last, int64_t o0, int64_t o1) {
  auto* const out = static_cast<T*>(a.out.data);
  const auto* const in = static_cast<const T*>(a.in.data);
  Terms<T> terms;
  for (int64_t o = o0; o < o1; o += terms.count) {
    const bool found = terms.find(job, o, o1);
    lines.run(first, last, [&](Walk<2>::Strides offset, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        T* const to = out + offset[0] + i * lines.inner(0) + o;
        const T* const from = in + offset[1] + i * lines.inner(1);
        if (found) {
          terms.sum(to, from);
        } else {
          for (int64_t k = 0; k < terms.count; ++k) to[k] = job.at(from, o + k);
        }
      }
    });
  }
}

// The dimensions beside the axis, in out's order in memory.
Walk<2> lines_of(const ResampleArgs& a) {
  int32_t order[kMaxDims];
  int32_t count = 0;
  for (int32_t d = 0; d < a.out.ndim; ++d)
    if (d != a.axis) order[count++] = d;
  std::stable_sort(order, order + count,
                   [&](int32_t d, int32_t e) { return a.out.strides[d] > a.out.strides[e]; });
  Walk<2> walk;
  for (int32_t i = 0; i < count; ++i)
    walk.push(a.out.sizes[order[i]], {a.out.strides[order[i]], a.in.strides[order[i]]});
  return walk;
}

template <class T>
void resample_type(Context& context, const ResampleArgs& a) {
  const Resample<T> job(a);
  const Walk<2> lines = lines_of(a);
  const int64_t length = a.out.sizes[a.axis];
  const int64_t count = element_count(a.out) / length;
  const int64_t out_step = lines.inner(0), in_step = lines.inner(1);
  const bool beside = out_step == 1 && in_step == 1 && !lines.is_point() && job.out_step != 1;
  // Chunks: some lines, and of these some elements.
  const int64_t each = (job.first[length] + length) / length;
  const int64_t wide = std::min(count, std::max(kWidth, kGrain / (length * each)));
  const int64_t high = std::min(length, std::max<int64_t>(1, kGrain / (wide * each)));
  const int64_t columns = (count + wide - 1) / wide, rows = (length + high - 1) / high;
  auto* const out = static_cast<T*>(a.out.data);
  const auto* const in = static_cast<const T*>(a.in.data);
  const bool along = job.out_step == 1 && job.in_step == 1;
  in_chunks(context, columns * rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t line = chunk / rows * wide, o0 = chunk % rows * high;
      const int64_t o1 = std::min(length, o0 + high);
      if constexpr (std::is_floating_point_v<T>) {
        if (along) {
          along_lines(job, a, lines, line, std::min(count, line + wide), o0, o1);
          continue;
        }
      }
      lines.run(line, std::min(count, line + wide), [&](Walk<2>::Strides offset, int64_t n) {
        T* const to = out + offset[0];
        const T* const from = in + offset[1];
        if (!beside) {
          for (int64_t i = 0; i < n; ++i)
            for (int64_t o = o0; o < o1; ++o)
              to[i * out_step + o * job.out_step] = job.at(from + i * in_step, o);
          return;
        }
        for (int64_t i = 0; i < n; i += kTile)
          for (int64_t o = o0; o < o1; ++o)
            job.beside(to + i + o * job.out_step, from + i, o, std::min(kTile, n - i));
      });
    }
  });
}

void resample_on(Context& context, const ResampleArgs& a) {
  switch (a.out.dtype) {
    case LIBDL_DTYPE_UINT8: return resample_type<uint8_t>(context, a);
    case LIBDL_DTYPE_FLOAT64: return resample_type<double>(context, a);
    default: return resample_type<float>(context, a);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void resample(Context& context, const ResampleArgs& args) {
  if (element_count(args.out) == 0) return;
  LIBDL_ON_ISA(resample_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
