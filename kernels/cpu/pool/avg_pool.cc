// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/pool/avg_pool_rows.h"
#include "kernels/cpu/pool/pool.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/run_sum.h"

#ifndef LIBDL_KERNELS_CPU_AVG_POOL_ONCE
#define LIBDL_KERNELS_CPU_AVG_POOL_ONCE
namespace libdl::kernels::cpu {
// Whether some window has more than a run of positions.
static bool has_many(const View& to, const PoolRanges& ranges) {
  int64_t most = 1;
  for (int d = 0; d < 3; ++d) {
    int64_t longest = 0;
    for (int64_t i = 0; i < to.sizes[d + 2]; ++i)
      longest = std::max(longest, ranges.at(d, i).end - ranges.at(d, i).begin);
    most *= longest;
  }
  return most > kRun;
}
}  // namespace libdl::kernels::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pool/avg_pool.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/pool/pool-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Ranges {
  PoolRange i, j, k;
};

int64_t count_of(const Ranges& r) {
  return (r.i.end - r.i.begin) * (r.j.end - r.j.begin) * (r.k.end - r.k.begin);
}

// The sums of runs in the order of RunSum, for kWidth channels.
template <int64_t kWidth, class T>
struct ChannelRuns {
  T node[kRunLevels][kWidth];
  int64_t runs = 0;

  int depth() const { return __builtin_popcountll(static_cast<uint64_t>(runs)); }
  static void join(const T* before, T* sum) {
    for (int64_t c = 0; c < kWidth; ++c) sum[c] = before[c] + sum[c];
  }
  HWY_NOINLINE void push(T* sum) {
    int at = depth();
    for (int64_t r = runs++; r & 1; r >>= 1) join(node[--at], sum);
    std::copy_n(sum, kWidth, node[at]);
  }
  void result(T* sum) const {
    int at = depth() - 1;
    std::copy_n(node[at], kWidth, sum);
    while (at > 0) join(node[--at], sum);
  }
};

// Sums of kVectors vectors of channels, of which the last has `rest`.
template <int kVectors, class T>
using VectorSums = typename Pack<T>::V[kVectors];

template <int kVectors, class T>
HWY_INLINE void clear(VectorSums<kVectors, T>& sum) {
  LIBDL_UNROLL
  for (int v = 0; v < kVectors; ++v) sum[v] = Pack<T>::set(0);
}
// Adds the channels from x on, each divided by `own` if kEach.
template <bool kEach, int kVectors, class T>
HWY_INLINE void add_channels(VectorSums<kVectors, T>& sum, const T* x, int64_t rest, T own) {
  using P = Pack<T>;
  const auto divisor = P::set(own);
  LIBDL_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    auto value = load_some<T>(x + v * P::n, rest);
    if constexpr (kEach) value = hn::Div(value, divisor);
    sum[v] = hn::Add(sum[v], value);
  }
}
template <bool kEach, int kVectors, class T>
HWY_INLINE void write_sums(VectorSums<kVectors, T>& sum, int64_t rest, T last, T* to) {
  using P = Pack<T>;
  LIBDL_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    if constexpr (!kEach) sum[v] = hn::Div(sum[v], P::set(last));
    store_some<T>(sum[v], to + v * P::n, rest);
  }
}

// What is summed: `count` channels from `from` on at [i, j, k] in ranges, each divided by
// divisor(i, j, k) if kEach.
template <bool kEach, class T, class F>
struct Terms {
  const Channels<T>& image;
  const Ranges& ranges;
  const int64_t from, count;
  const F& divisor;

  // add(channels, by what they are divided) one position after the other.
  template <class Add>
  HWY_INLINE void each(const Add& add) const {
    alignas(64) T tile[kPoolBlock<T>];
    for (int64_t i = ranges.i.begin; i < ranges.i.end; ++i)
      for (int64_t j = ranges.j.begin; j < ranges.j.end; ++j)
        for (int64_t k = ranges.k.begin; k < ranges.k.end; ++k)
          add(image.read(from + pool_offset(*image.view, i, j, k), count, tile),
              kEach ? static_cast<T>(divisor(i, j, k)) : T(1));
  }
};

// The sum of kVectors vectors of channels, if not of each divided by `last` in the end.
template <bool kEach, int kVectors, class T, class F>
HWY_INLINE void sum_channels(const Terms<kEach, T, F>& terms, int64_t rest, T last, T* to) {
  VectorSums<kVectors, T> sum;
  clear<kVectors, T>(sum);
  terms.each([&](const T* x, T own) { add_channels<kEach, kVectors, T>(sum, x, rest, own); });
  write_sums<kEach, kVectors, T>(sum, rest, last, to);
}

// The same of more than a run. Apart, for the registers of small windows.
template <bool kEach, int kVectors, class T, class F>
HWY_NOINLINE void sum_many(const Terms<kEach, T, F>& terms, int64_t rest, T last, T* to) {
  using P = Pack<T>;
  VectorSums<kVectors, T> sum;
  clear<kVectors, T>(sum);
  alignas(64) T run[kVectors * P::n];
  ChannelRuns<kVectors * P::n, T> runs;
  const int64_t all = count_of(terms.ranges);
  int64_t added = 0;
  terms.each([&](const T* x, T own) {
    add_channels<kEach, kVectors, T>(sum, x, rest, own);
    if (++added % kRun != 0 && added < all) return;
    for (int v = 0; v < kVectors; ++v) P::store(sum[v], run + v * P::n);
    runs.push(run);
    clear<kVectors, T>(sum);
  });
  runs.result(run);
  for (int v = 0; v < kVectors; ++v) sum[v] = P::load(run + v * P::n);
  write_sums<kEach, kVectors, T>(sum, rest, last, to);
}

// kMany: some window has more than a run. (Of the others the sums are the same.)
template <bool kEach, bool kMany, class T>
void sums_of(Context& context, const View& to, const View& from, const PoolRanges& ranges,
             const PoolDivisors& divisors, int64_t cost) {
  const Channels<T> out(to), in(from);
  const auto divisor = [&](int64_t i, int64_t j, int64_t k) { return divisors.at(i, j, k); };
  each_deep_row(context, to, cost, kPoolBlock<T>,
                [&](int64_t n, int64_t i, int64_t j, int64_t first, int64_t count) {
                  for (int64_t k = 0; k < to.sizes[4]; ++k) {
                    const Ranges here{ranges.at(0, i), ranges.at(1, j), ranges.at(2, k)};
                    const int64_t place = n * to.strides[0] + pool_offset(to, i, j, k);
                    const T last = kEach ? T(1) : static_cast<T>(divisor(i, j, k));
                    each_block<T>(first, count, [&](auto vectors, int64_t c, int64_t rest) {
                      alignas(64) T tile[kPoolBlock<T>];
                      const int64_t some = (vectors - 1) * Pack<T>::n + rest;
                      const Terms<kEach, T, decltype(divisor)> terms{
                          in, here, n * from.strides[0] + c, some, divisor};
                      T* const to_channels = out.room(place + c, tile);
                      if constexpr (kMany)
                        sum_many<kEach, vectors>(terms, rest, last, to_channels);
                      else
                        sum_channels<kEach, vectors>(terms, rest, last, to_channels);
                      out.write(place + c, some, tile);
                    });
                  }
                });
}

template <bool kEach, class T>
void sums(Context& context, const View& to, const View& from, const PoolRanges& ranges,
          const PoolDivisors& divisors, int64_t cost) {
  if (has_many(to, ranges))
    return sums_of<kEach, true, T>(context, to, from, ranges, divisors, cost);
  sums_of<kEach, false, T>(context, to, from, ranges, divisors, cost);
}

// Means of planes without gaps that are one block of a sum, in the order of reduce.
template <class T>
void means_of_planes(Context& context, const AvgPoolArgs& a, int64_t divisor) {
  const int64_t c = a.out.sizes[1], plane = pool_plane(a.windows);
  const Channels<T> in(a.in), out(a.out);
  constexpr int64_t kTile = 4 * kBlock<T>, kMost = 64;  // elements and planes at once
  const int64_t most = std::min(kMost, kTile / plane);
  in_chunks(
      context, a.out.sizes[0] * c, std::max<int64_t>(1, 4 * kPoolGrain / plane),
      [&](int64_t first, int64_t last) {
        alignas(64) T tile[kTile], mean[kMost];
        for (int64_t p = first, some = 0; p < last; p += some) {
          some = std::min({most, last - p, c - p % c});
          const auto at = [&](const View& v) {
            return p / c * v.strides[0] + p % c * v.strides[1];
          };
          const T* const x = in.read(at(a.in), some * plane, tile);
          for (int64_t k = 0; k < some; ++k)
            mean[k] =
                combine_block<Sum, Plain, T>(x + k * plane, plane, T(0)) / static_cast<T>(divisor);
          store_tile(out.data + at(a.out) * out.bytes, a.out.dtype, a.out.strides[1], mean, some);
        }
      });
}
void planes_on(Context& context, const AvgPoolArgs& a, int64_t divisor) {
  if (a.in.dtype == LIBDL_DTYPE_FLOAT64) return means_of_planes<double>(context, a, divisor);
  means_of_planes<float>(context, a, divisor);
}

void means_on(Context& context, const AvgPoolArgs& a, const PoolRanges& ranges,
              const PoolDivisors& divisors) {
  const int64_t cost = pool_cost(a.windows);
  if (a.in.dtype == LIBDL_DTYPE_FLOAT64)
    return sums<false, double>(context, a.out, a.in, ranges, divisors, cost);
  sums<false, float>(context, a.out, a.in, ranges, divisors, cost);
}
void spread_on(Context& context, const AvgPoolBackwardArgs& a, const PoolRanges& ranges,
               const PoolDivisors& divisors) {
  if (a.dx.dtype == LIBDL_DTYPE_FLOAT64)
    return sums<true, double>(context, a.dx, a.dy, ranges, divisors, 2);
  sums<true, float>(context, a.dx, a.dy, ranges, divisors, 2);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

// -- in any order of memory -----------------------------------------------------------------------

// Sums of integers wrap, and their quotients are rounded towards 0.
template <class T>
static T quotient(T sum, int64_t divisor) {
  return sum / static_cast<T>(divisor);
}
static int64_t quotient(int64_t sum, int64_t divisor) {
  if (divisor == -1) return static_cast<int64_t>(-static_cast<uint64_t>(sum));  // not a trap
  return sum / divisor;
}
static uint64_t quotient(uint64_t sum, int64_t divisor) {
  return divisor < 0 ? -(sum / -static_cast<uint64_t>(divisor))
                     : sum / static_cast<uint64_t>(divisor);
}

// The type of a sum, and that of its steps: an unsigned one wraps.
template <class T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, T,
                                 std::conditional_t<std::is_same_v<T, uint64_t>, T, int64_t>>;
template <class T>
using StepsOf = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;

template <class T, class F>
static void add_window(T& sum, const PoolRange& planes, const PoolRange& rows,
                       const PoolRange& columns, const F& term) {
  for (int64_t p = planes.begin; p < planes.end; ++p)
    for (int64_t q = rows.begin; q < rows.end; ++q)
      for (int64_t r = columns.begin; r < columns.end; ++r) sum += term(p, q, r);
}
// The sum of term(p, q, r) over a window. kMany: some window has more than a run.
template <bool kMany, class T, class F>
static inline T sum_of(const PoolRange& planes, const PoolRange& rows, const PoolRange& columns,
                       const F& term) {
  if constexpr (kMany && std::is_floating_point_v<T>) {
    RunSum<T> sum;
    add_window(sum, planes, rows, columns, term);
    return sum.result();
  }
  T sum = 0;
  add_window(sum, planes, rows, columns, term);
  return sum;
}

template <bool kMany, class E>
static void means_by_rows(Context& context, const AvgPoolArgs& a, const PoolRanges& ranges,
                          const PoolDivisors& divisors) {
  using T = typename E::Compute;
  using Sum = SumOf<T>;
  using Steps = StepsOf<T>;
  each_row(context, a.out, pool_cost(a.windows), [&](int64_t n, int64_t c, int64_t i, int64_t j) {
    const E* const x = static_cast<const E*>(a.in.data) + n * a.in.strides[0] + c * a.in.strides[1];
    E* const y = static_cast<E*>(a.out.data) + n * a.out.strides[0] + c * a.out.strides[1];
    const PoolRange planes = ranges.at(0, i), rows = ranges.at(1, j);
    for (int64_t k = 0; k < a.out.sizes[4]; ++k) {
      const PoolRange columns = ranges.at(2, k);
      const Steps sum =
          sum_of<kMany, Steps>(planes, rows, columns, [&](int64_t p, int64_t q, int64_t r) {
            return static_cast<Steps>(x[pool_offset(a.in, p, q, r)].load());
          });
      const Sum mean = quotient(static_cast<Sum>(sum), divisors.at(i, j, k));
      y[pool_offset(a.out, i, j, k)] = E::store(static_cast<T>(mean));
    }
  });
}

template <bool kMany, class E>
static void spread_by_rows(Context& context, const AvgPoolBackwardArgs& a, const PoolRanges& ranges,
                           const PoolDivisors& divisors) {
  using T = typename E::Compute;
  each_row(context, a.dx, 2, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
    const E* const dy =
        static_cast<const E*>(a.dy.data) + n * a.dy.strides[0] + c * a.dy.strides[1];
    E* const dx = static_cast<E*>(a.dx.data) + n * a.dx.strides[0] + c * a.dx.strides[1];
    const PoolRange planes = ranges.at(0, i), rows = ranges.at(1, j);
    for (int64_t k = 0; k < a.dx.sizes[4]; ++k) {
      const PoolRange columns = ranges.at(2, k);
      const T sum = sum_of<kMany, T>(planes, rows, columns, [&](int64_t p, int64_t q, int64_t r) {
        return dy[pool_offset(a.dy, p, q, r)].load() / static_cast<T>(divisors.at(p, q, r));
      });
      dx[pool_offset(a.dx, i, j, k)] = E::store(sum);
    }
  });
}

// -- of whole images ------------------------------------------------------------------------------

static bool is_whole(const PoolWindows& w) {
  for (int d = 0; d < 3; ++d) {
    if (w.out[d] != 1) return false;
    const PoolRange all = pool_positions(w, d, 0);
    if (all.begin != 0 || all.end != w.in[d]) return false;
  }
  return true;
}

constexpr int64_t kPlaneBlock = 512;  // as many elements are one block of a sum in every dtype

// The sums of reduce, whose order does not depend on the layout either.
template <class T>
static void means_of_whole(Context& context, const AvgPoolArgs& a, int64_t divisor) {
  const int64_t n = a.out.sizes[0], c = a.out.sizes[1], strides[] = {c, 1};
  const Scratch scratch(context, n * c * int64_t{sizeof(T)});
  if (scratch.failed()) return;
  auto* const sums = static_cast<T*>(scratch.data());
  constexpr int32_t kDtype = sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64;
  reduce(context, {static_cast<int32_t>(Reduction::kSum),
                   3,
                   {sums, a.out.sizes, strides, 2, kDtype},
                   {},
                   a.in,
                   0,
                   false});
  for (int64_t i = 0; i < n * c; ++i) sums[i] /= static_cast<T>(divisor);
  const int64_t bytes = dtype_bytes(a.out.dtype);
  for (int64_t i = 0; i < n; ++i)
    store_tile(static_cast<char*>(a.out.data) + i * a.out.strides[0] * bytes, a.out.dtype,
               a.out.strides[1], sums + i * c, c);
}

// Every element of a plane without gaps has the same gradient.
template <class E>
static void spread_over_whole(Context& context, const AvgPoolBackwardArgs& a, int64_t divisor) {
  using T = typename E::Compute;
  const int64_t c = a.dx.sizes[1], plane = pool_plane(a.windows);
  in_chunks(context, a.dx.sizes[0] * c, std::max<int64_t>(1, 4 * kPoolGrain / plane),
            [&](int64_t first, int64_t last) {
              for (int64_t p = first; p < last; ++p) {
                const auto at = [&](const View& v) {
                  return p / c * v.strides[0] + p % c * v.strides[1];
                };
                const T dy = static_cast<const E*>(a.dy.data)[at(a.dy)].load();
                const E share = E::store(T(0) + dy / static_cast<T>(divisor));
                std::fill_n(static_cast<E*>(a.dx.data) + at(a.dx), plane, share);
              }
            });
}

// -- the kernels ----------------------------------------------------------------------------------

void avg_pool(Context& context, const AvgPoolArgs& a) {
  const PoolRanges ranges = positions_of(context, a.windows);
  const PoolDivisors divisors(context, a.windows, a.divisor, a.count_include_pad);
  if (ranges.failed() || divisors.failed()) return;
  if (is_whole(a.windows) && is_floating(a.in.dtype)) {
    const int64_t divisor = divisors.at(0, 0, 0), plane = pool_plane(a.windows);
    if (plane <= kPlaneBlock && has_whole_planes(a.in) && a.in.strides[1] == plane) {
      LIBDL_ON_ISA(planes_on, context, a, divisor);
      return;
    }
    if (a.in.dtype == LIBDL_DTYPE_FLOAT64) return means_of_whole<double>(context, a, divisor);
    return means_of_whole<float>(context, a, divisor);
  }
  if (goes_by_channels({&a.in, &a.out}) && is_floating(a.in.dtype))
    LIBDL_ON_ISA(means_on, context, a, ranges, divisors);
  else if (!avg_pool_by_rows(context, a))
    with_element(a.in.dtype, [&]<class E>(E) {
      using T = typename E::Compute;
      if constexpr (!kIsComplex<T> && !std::is_same_v<T, bool>)
        has_many(a.out, ranges) ? means_by_rows<true, E>(context, a, ranges, divisors)
                                : means_by_rows<false, E>(context, a, ranges, divisors);
    });
}

void avg_pool_backward(Context& context, const AvgPoolBackwardArgs& a) {
  const PoolRanges ranges = windows_over(context, a.windows);
  const PoolDivisors divisors(context, a.windows, a.divisor, a.count_include_pad);
  if (ranges.failed() || divisors.failed()) return;
  if (goes_by_channels({&a.dx, &a.dy}) && is_floating(a.dx.dtype))
    LIBDL_ON_ISA(spread_on, context, a, ranges, divisors);
  else if (is_whole(a.windows) && has_whole_planes(a.dx))
    with_element(a.dx.dtype, [&]<class E>(E) {
      if constexpr (std::is_floating_point_v<typename E::Compute>)
        spread_over_whole<E>(context, a, divisors.at(0, 0, 0));
    });
  else if (!avg_pool_backward_by_rows(context, a))
    with_element(a.dx.dtype, [&]<class E>(E) {
      if constexpr (std::is_floating_point_v<typename E::Compute>)
        has_many(a.dx, ranges) ? spread_by_rows<true, E>(context, a, ranges, divisors)
                               : spread_by_rows<false, E>(context, a, ranges, divisors);
    });
}

}  // namespace libdl::kernels::cpu
#endif
