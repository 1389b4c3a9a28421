// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/pool/max_pool_rows.h"

#include <libdl/dtype.h>

#include <limits>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pool/max_pool_rows.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/pool/pool_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Positions in lanes as wide as T.
template <class T>
using LaneOf = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

// Where the windows of a row begin, and their first positions inside of the input.
template <class I>
class WindowStarts {
 public:
  WindowStarts(Context& context, const PoolWindows& w, bool wanted)
      : scratch_(context, wanted ? 2 * (w.out[2] + kLanes) * int64_t{sizeof(I)} : 0) {
    if (!wanted || scratch_.failed()) return;
    begin = static_cast<I*>(scratch_.data());
    inside = begin + w.out[2] + kLanes;
    std::fill_n(begin, 2 * (w.out[2] + kLanes), I(0));
    for (int64_t k = 0; k < w.out[2]; ++k) {
      begin[k] = static_cast<I>(k * w.stride[2] - w.padding[2]);
      inside[k] = static_cast<I>(pool_positions(w, 2, k).begin);
    }
  }
  bool failed() const { return scratch_.failed(); }
  I *begin = nullptr, *inside = nullptr;

 private:
  static constexpr int64_t kLanes = kVectorBytes / sizeof(I);
  const Scratch scratch_;
};

// The rows of one row of windows: their elements, and the position of each one's first.
template <class T>
struct Rows {
  const T* row[kKeptRows];
  LaneOf<T> at[kKeptRows];
  int64_t count = 0;
};

template <class T>
struct LargestInRows {
  using P = Pack<T>;
  using I = LaneOf<T>;
  using D = hn::Rebind<I, typename P::D>;

  const RowBlocks& b;
  const PoolWindows& w;
  const WindowStarts<I>& starts;

  // Values only: false, and nothing is written, if one of them is a NaN.
  template <int kVectors>
  HWY_INLINE bool quickly(const Rows<T>& rows, int64_t k, int64_t rest, T* values) const {
    typename P::V largest[kVectors];
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) largest[v] = P::set(-std::numeric_limits<T>::infinity());
    Taker<Max, T, true> taker;
    for (int64_t r = 0; r < rows.count; ++r) {
      const T* const row = rows.row[r] + k;
      for (int64_t t = 0; t < b.taps; ++t) {
        const T* const x = row + b.tap[t];
        LIBDL_UNROLL
        for (int v = 0; v < kVectors; v += 2) {
          const auto one = P::load(x + v * P::n);
          const auto other = v + 1 < kVectors ? P::load(x + (v + 1) * P::n) : one;
          taker.see(one, other);
          largest[v] = taker.join(largest[v], one);
          if (v + 1 < kVectors) largest[v + 1] = taker.join(largest[v + 1], other);
        }
      }
    }
    if (HWY_UNLIKELY(taker.fails())) return false;
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) store_some<T>(largest[v], values + v * P::n, rest);
    return true;
  }

  // Of kVectors vectors of windows, the first of which is number k of the block and `start` of all.
  template <int kVectors, bool kMarks>
  HWY_INLINE void of(const Rows<T>& rows, int64_t k, int64_t start, int64_t rest, T* values,
                     I* marks) const {
    if (!kMarks && quickly<kVectors>(rows, k, rest, values)) return;
    const D integers;
    typename P::V largest[kVectors];
    hn::Vec<D> where[kVectors];
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      largest[v] = P::set(-std::numeric_limits<T>::infinity());
      if constexpr (kMarks) {
        const auto missed = hn::Sub(hn::LoadU(integers, starts.inside + start + v * P::n),
                                    hn::LoadU(integers, starts.begin + start + v * P::n));
        where[v] = hn::Add(hn::Set(integers, rows.at[0]), missed);
      }
    }
    const I step = static_cast<I>(w.dilation[2]);
    for (int64_t r = 0; r < rows.count; ++r) {
      const T* const row = rows.row[r] + k;
      I at = rows.at[r];
      for (int64_t t = 0; t < b.taps; ++t, at += step) {
        const T* const x = row + b.tap[t];
        const auto here = hn::Set(integers, at);
        LIBDL_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          const auto value = P::load(x + v * P::n);
          const auto taken = hn::Or(hn::Gt(value, largest[v]), hn::IsNaN(value));
          largest[v] = hn::IfThenElse(taken, value, largest[v]);
          if constexpr (kMarks)
            where[v] = hn::IfThenElse(hn::RebindMask(integers, taken), here, where[v]);
        }
      }
    }
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      store_some<T>(largest[v], values + v * P::n, rest);
      if constexpr (kMarks) {
        const auto begin = hn::LoadU(integers, starts.begin + start + v * P::n);
        hn::StoreU(hn::Add(where[v], begin), integers, marks + v * P::n);
      }
    }
  }
};

// To positions of a view, which are adjacent.
template <class I>
void write_positions(const View& view, int64_t offset, const I* marks, int64_t n) {
  if (view.dtype == LIBDL_DTYPE_INT64)
    std::copy_n(marks, n, static_cast<int64_t*>(view.data) + offset);
  else
    std::transform(marks, marks + n, static_cast<int32_t*>(view.data) + offset,
                   [](I at) { return static_cast<int32_t>(at); });
}

template <class T, bool kMarks>
void largest_of(Context& context, const MaxPoolArgs& a, const PoolWindows& w, const RowBlocks& b,
                const PoolRanges& ranges) {
  using I = LaneOf<T>;
  const WindowStarts<I> starts(context, w, kMarks);
  if (starts.failed()) return;
  const LargestInRows<T> job{b, w, starts};
  const int64_t down = w.dilation[0], across = w.dilation[1];
  const auto make = [&](T* room) {
    return [&, rows = SortedRows<T>(b, w, a.in, -std::numeric_limits<T>::infinity(), room)](
               int64_t n, int64_t c, int64_t i, int64_t j, int64_t first, int64_t count) mutable {
      const PoolRange planes = ranges.at(0, i), across_rows = ranges.at(1, j);
      Rows<T> read;
      for (int64_t p = planes.begin; p < planes.end; p += down)
        for (int64_t q = across_rows.begin; q < across_rows.end; q += across)
          read.at[read.count++] = static_cast<I>((p * w.in[1] + q) * w.in[2]);
      rows.collect(n, c, planes, across_rows, first, count, read.row);
      alignas(64) T tile[kRowWindows];
      alignas(64) I marks[kRowWindows + kPoolBlock<T>];
      const RowRoom<T> out(
          a.out, n * a.out.strides[0] + c * a.out.strides[1] + pool_offset(a.out, i, j, first),
          tile);
      each_block<T>(0, count, [&](auto vectors, int64_t k, int64_t rest) {
        job.template of<vectors, kMarks>(read, k, first + k, rest, out.numbers + k, marks + k);
      });
      out.write(count);
      if constexpr (kMarks)
        write_positions(a.indices,
                        n * a.indices.strides[0] + c * a.indices.strides[1] +
                            pool_offset(a.indices, i, j, first),
                        marks, count);
    };
  };
  RowBlockWalk(a.out, w.out[2], b.block).run_all<T>(context, pool_cost(w), b.elements(w), make);
}

template <class T>
void largest_by_rows(Context& context, const MaxPoolArgs& a, const PoolWindows& w,
                     const RowBlocks& b, const PoolRanges& ranges) {
  if (a.indices.data) return largest_of<T, true>(context, a, w, b, ranges);
  largest_of<T, false>(context, a, w, b, ranges);
}
void largest_in_rows(Context& context, const MaxPoolArgs& a, const PoolWindows& w,
                     const RowBlocks& b, const PoolRanges& ranges) {
  if (a.in.dtype == LIBDL_DTYPE_FLOAT64) return largest_by_rows<double>(context, a, w, b, ranges);
  largest_by_rows<float>(context, a, w, b, ranges);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

bool max_pool_by_rows(Context& context, const MaxPoolArgs& a) {
  const PoolWindows w = with_strides(a.windows);
  const bool wide = a.in.dtype == LIBDL_DTYPE_FLOAT64;
  if (!is_floating(a.in.dtype) || (!wide && pool_plane(w) > std::numeric_limits<int32_t>::max()))
    return false;
  if (a.indices.data && a.indices.strides[4] != 1) return false;
  if (!fills_vectors(w, w.out[2], 4)) return false;
  const RowBlocks blocks(w, wide ? 8 : 4);
  if (!blocks.block) return false;
  const PoolRanges ranges = positions_of(context, w);
  if (!ranges.failed()) LIBDL_ON_ISA(largest_in_rows, context, a, w, blocks, ranges);
  return true;
}

}  // namespace libdl::kernels::cpu
#endif
