// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/pool/avg_pool_rows.h"

#include <libdl/dtype.h>

#include "kernels/cpu/pool/pool_rows.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/run_sum.h"

#ifndef LIBDL_KERNELS_CPU_AVG_POOL_ROWS_ONCE
#define LIBDL_KERNELS_CPU_AVG_POOL_ROWS_ONCE
namespace libdl::kernels::cpu {

// The gradient of a row: position x + padding = t stride + m lies in the windows of numbers
// t - most + 1 to t if m < full, else in one less.
struct SpreadBlocks {
  int64_t block = 0;     // of t at once; 0: these windows do not go by rows
  int64_t most, full;    // windows over a position; phases that lie in so many
  int64_t planes, rows;  // of windows over a position
  int64_t first, count;  // of t
  int64_t length;        // of the rows that are summed

  SpreadBlocks(const PoolWindows& w, int64_t bytes) {
    if (w.adaptive) return;
    const auto over = [&](int d) { return (w.window[d] + w.stride[d] - 1) / w.stride[d]; };
    planes = over(0), rows = over(1), most = over(2);
    if (planes > kRun || rows > kRun || most > kRun || planes * rows * most > kRun) return;
    const int64_t stride = w.stride[2], lanes = kVectorBytes / bytes;
    if (stride > kRowRoom) return;
    full = w.window[2] - (most - 1) * stride;
    first = w.padding[2] / stride;
    count = (w.in[2] - 1 + w.padding[2]) / stride + 1 - first;
    const auto length_of = [&](int64_t n) {
      return whole_vectors(whole_vectors(n, lanes) + most - 1, lanes);
    };
    block = windows_with_room(std::min(count, kRowWindows), 1, [&](int64_t n) {
      return length_of(n) * (planes * rows + 2 + stride) * bytes;
    });
    length = length_of(block);
  }
  // Of the rows of dy, of the two sums, and of the row that they become.
  int64_t elements(const PoolWindows& w) const {
    return length * (planes * rows + 2 + w.stride[2]);
  }
};

}  // namespace libdl::kernels::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pool/avg_pool_rows.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/pool/pool_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// The divisors of a row of windows: one for all, or a factor of the row times one of each column.
template <class T>
class RowDivisors {
 public:
  RowDivisors(Context& context, const PoolWindows& w, int64_t divisor, bool with_padding)
      : w_(w),
        divisor_(divisor),
        with_padding_(with_padding),
        columns_(context, (w.out[2] + kLanes) * int64_t{sizeof(T)}) {
    if (failed()) return;
    auto* const to = static_cast<T*>(columns_.data());
    std::fill_n(to, w.out[2] + kLanes, T(1));
    if (divisor) return;
    for (int64_t k = 0; k < w.out[2]; ++k)
      to[k] = static_cast<T>(pool_counted(w, 2, k, with_padding));
  }
  bool failed() const { return columns_.failed(); }
  T of_row(int64_t i, int64_t j) const {
    if (divisor_) return static_cast<T>(divisor_);
    return static_cast<T>(pool_counted(w_, 0, i, with_padding_) *
                          pool_counted(w_, 1, j, with_padding_));
  }
  const T* columns() const { return static_cast<const T*>(columns_.data()); }

 private:
  static constexpr int64_t kLanes = kVectorBytes / sizeof(T);
  const PoolWindows& w_;
  const int64_t divisor_;
  const bool with_padding_;
  const Scratch columns_;
};

// -- forward --------------------------------------------------------------------------------------

// The means of kVectors vectors of windows: of each the sum over `rows`, divided.
template <int kVectors, class T>
HWY_INLINE void mean_of(const T* const* rows, int64_t count, const RowBlocks& b, int64_t k,
                        int64_t rest, T divisor, const T* columns, T* to) {
  using P = Pack<T>;
  typename P::V sum[kVectors];
  LIBDL_UNROLL
  for (int v = 0; v < kVectors; ++v) sum[v] = P::set(0);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t t = 0; t < b.taps; ++t) {
      const T* const x = rows[r] + k + b.tap[t];
      LIBDL_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[v] = hn::Add(sum[v], P::load(x + v * P::n));
    }
  LIBDL_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const auto by = hn::Mul(P::set(divisor), P::load(columns + k + v * P::n));
    store_some<T>(hn::Div(sum[v], by), to + k + v * P::n, rest);
  }
}

template <class T>
void means_of(Context& context, const AvgPoolArgs& a, const PoolWindows& w, const RowBlocks& b,
              const PoolRanges& ranges) {
  const RowDivisors<T> divisors(context, w, a.divisor, a.count_include_pad);
  if (divisors.failed()) return;
  const auto make = [&](T* room) {
    return [&, sorted = SortedRows<T>(b, w, a.in, T(0), room)](
               int64_t n, int64_t c, int64_t i, int64_t j, int64_t first, int64_t count) mutable {
      const T* row[kKeptRows];
      const int64_t read =
          sorted.collect(n, c, ranges.at(0, i), ranges.at(1, j), first, count, row);
      alignas(64) T tile[kRowWindows];
      const RowRoom<T> out(
          a.out, n * a.out.strides[0] + c * a.out.strides[1] + pool_offset(a.out, i, j, first),
          tile);
      const T divisor = divisors.of_row(i, j);
      each_block<T>(0, count, [&](auto vectors, int64_t k, int64_t rest) {
        mean_of<vectors>(row, read, b, k, rest, divisor, divisors.columns() + first, out.numbers);
      });
      out.write(count);
    };
  };
  RowBlockWalk(a.out, w.out[2], b.block).run_all<T>(context, pool_cost(w), b.elements(w), make);
}
void means_in_rows(Context& context, const AvgPoolArgs& a, const PoolWindows& w, const RowBlocks& b,
                   const PoolRanges& ranges) {
  if (a.in.dtype == LIBDL_DTYPE_FLOAT64) return means_of<double>(context, a, w, b, ranges);
  means_of<float>(context, a, w, b, ranges);
}

// -- backward -------------------------------------------------------------------------------------

// One block of rows of dx after the other.
template <class T>
class SpreadRows {
 public:
  SpreadRows(const AvgPoolBackwardArgs& a, const PoolWindows& w, const SpreadBlocks& b,
             const RowDivisors<T>& divisors, T* room)
      : a_(a), w_(w), b_(b), divisors_(divisors), room_(room) {
    std::fill_n(held_, b.planes * b.rows, -1);
  }

  // Positions of t = b.first + part to + count in row [n, c, i, j, :], over which `planes` and
  // `rows` of windows lie.
  void write(int64_t n, int64_t c, int64_t i, int64_t j, PoolRange planes, PoolRange rows,
             int64_t part, int64_t count) {
    const T* row[kRun];
    int64_t read = 0;
    const int64_t t = b_.first + part, stride = w_.stride[2];
    Circle plane(planes.begin, 1, b_.planes);
    for (int64_t p = planes.begin; p < planes.end; ++p) {
      const int64_t slots = plane.next() * b_.rows;
      Circle slot(rows.begin, 1, b_.rows);
      for (int64_t q = rows.begin; q < rows.end; ++q)
        row[read++] = divided(n, c, p, q, t, count, slots + slot.next());
    }
    const int64_t place = t * stride - w_.padding[2], from = std::max<int64_t>(0, place);
    const int64_t end = std::min(w_.in[2], place + count * stride);
    const View& dx = a_.dx;
    const int64_t offset = n * dx.strides[0] + c * dx.strides[1] + pool_offset(dx, i, j, from);
    T* const sums = room_ + b_.planes * b_.rows * b_.length;
    T* const line = stride == 1 ? sums : sums + 2 * b_.length;
    add(row, read, b_.most, count, sums);
    if (stride > 1) {
      if (b_.full < stride) add(row, read, b_.most - 1, count, sums + b_.length);
      interleave(sums, count, line);
    }
    store_tile(static_cast<char*>(dx.data) + offset * dtype_bytes(dx.dtype), dx.dtype,
               dx.strides[4], line + (from - place), end - from);
  }

 private:
  // dy[n, c, p, q, :] of the windows over t and the `count` - 1 that follow, divided; 0 beyond.
  const T* divided(int64_t n, int64_t c, int64_t p, int64_t q, int64_t t, int64_t count,
                   int64_t slot) {
    const int64_t name =
        (((n * a_.dy.sizes[1] + c) * w_.out[0] + p) * w_.out[1] + q) * (b_.first + b_.count) + t;
    T* const to = room_ + slot * b_.length;
    if (held_[slot] == name) return to;
    held_[slot] = name;
    using P = Pack<T>;
    const View& dy = a_.dy;
    const int64_t begin = t - b_.most + 1, from = std::max<int64_t>(0, begin);
    const int64_t there = std::max<int64_t>(0, std::min(w_.out[2], t + count) - from);
    const int64_t lead = from - begin;
    const int64_t offset = n * dy.strides[0] + c * dy.strides[1] + pool_offset(dy, p, q, from);
    std::fill_n(to, lead, T(0));
    if (there > 0)
      load_tile(to + lead, static_cast<const char*>(dy.data) + offset * dtype_bytes(dy.dtype),
                dy.dtype, dy.strides[4], there);
    const auto divisor = P::set(divisors_.of_row(p, q));
    for (int64_t k = 0; k < there; k += P::n) {
      const auto by = hn::Mul(divisor, P::load(divisors_.columns() + from + k));
      const int64_t rest = std::min(P::n, there - k);
      store_some<T>(hn::Div(load_some<T>(to + lead + k, rest), by), to + lead + k, rest);
    }
    std::fill(to + lead + there, to + b_.length, T(0));
    return to;
  }

  // to[k] = the sum over the last `over` windows of each place and all rows.
  void add(const T* const* rows, int64_t read, int64_t over, int64_t count, T* to) const {
    using P = Pack<T>;
    for (int64_t k = 0; k < count; k += P::n) {
      auto sum = P::set(0);
      for (int64_t r = 0; r < read; ++r)
        for (int64_t o = b_.most - over; o < b_.most; ++o)
          sum = hn::Add(sum, P::load(rows[r] + k + o));
      P::store(sum, to + k);
    }
  }

  // line[t * stride + m] = the first sum of t for m < full, the other one for the others.
  void interleave(const T* sums, int64_t count, T* line) const {
    using P = Pack<T>;
    const typename P::D d;
    const int64_t stride = w_.stride[2], full = b_.full;
    const T *const all = sums, *const less = sums + b_.length;
    if (stride == 2) {
      const T* const second = full > 1 ? all : less;
      for (int64_t t = 0; t < count; t += P::n)
        hn::StoreInterleaved2(P::load(all + t), P::load(second + t), d, line + 2 * t);
    } else if (stride == 3) {
      const T *const second = full > 1 ? all : less, *const third = full > 2 ? all : less;
      for (int64_t t = 0; t < count; t += P::n)
        hn::StoreInterleaved3(P::load(all + t), P::load(second + t), P::load(third + t), d,
                              line + 3 * t);
    } else {
      for (int64_t t = 0; t < count; ++t) {
        std::fill_n(line + t * stride, full, all[t]);
        if (full < stride) std::fill_n(line + t * stride + full, stride - full, less[t]);
      }
    }
  }

  const AvgPoolBackwardArgs& a_;
  const PoolWindows& w_;
  const SpreadBlocks& b_;
  const RowDivisors<T>& divisors_;
  T* const room_;
  int64_t held_[kRun];
};

template <class T>
void spread_of(Context& context, const AvgPoolBackwardArgs& a, const PoolWindows& w,
               const SpreadBlocks& b, const PoolRanges& ranges) {
  const RowDivisors<T> divisors(context, w, a.divisor, a.count_include_pad);
  if (divisors.failed()) return;
  const auto make = [&](T* room) {
    return [&, rows = SpreadRows<T>(a, w, b, divisors, room)](
               int64_t n, int64_t c, int64_t i, int64_t j, int64_t part, int64_t count) mutable {
      rows.write(n, c, i, j, ranges.at(0, i), ranges.at(1, j), part, count);
    };
  };
  RowBlockWalk(a.dx, b.count, b.block).run_all<T>(context, w.stride[2] * 2, b.elements(w), make);
}
void spread_in_rows(Context& context, const AvgPoolBackwardArgs& a, const PoolWindows& w,
                    const SpreadBlocks& b, const PoolRanges& ranges) {
  if (a.dx.dtype == LIBDL_DTYPE_FLOAT64) return spread_of<double>(context, a, w, b, ranges);
  spread_of<float>(context, a, w, b, ranges);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

// Whether products of counts are exact in float.
static bool counts_exactly(const PoolWindows& w) {
  constexpr int64_t kLimit = 1 << 24;
  int64_t most = 1;
  for (const int64_t n : w.window) most = std::min(most * std::min(n, kLimit), kLimit);
  return most < kLimit;
}

bool avg_pool_by_rows(Context& context, const AvgPoolArgs& a) {
  const PoolWindows w = with_strides(a.windows);
  if (!is_floating(a.in.dtype) || !fills_vectors(w, w.out[2], 8)) return false;
  const RowBlocks blocks(w, a.in.dtype == LIBDL_DTYPE_FLOAT64 ? 8 : 4);
  if (!blocks.block || blocks.planes * blocks.rows * blocks.taps > kRun || !counts_exactly(w))
    return false;
  const PoolRanges ranges = positions_of(context, w);
  if (!ranges.failed()) LIBDL_ON_ISA(means_in_rows, context, a, w, blocks, ranges);
  return true;
}

bool avg_pool_backward_by_rows(Context& context, const AvgPoolBackwardArgs& a) {
  const PoolWindows w = with_strides(a.windows);
  if (!is_floating(a.dx.dtype) || !fills_vectors(w, w.in[2], 12)) return false;
  const SpreadBlocks blocks(w, a.dx.dtype == LIBDL_DTYPE_FLOAT64 ? 8 : 4);
  if (!blocks.block || !counts_exactly(w)) return false;
  const PoolRanges ranges = windows_over(context, w);
  if (!ranges.failed()) LIBDL_ON_ISA(spread_in_rows, context, a, w, blocks, ranges);
  return true;
}

}  // namespace libdl::kernels::cpu
#endif
