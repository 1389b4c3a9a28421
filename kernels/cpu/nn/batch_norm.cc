// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/nn/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/nn/batch_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/nn/batch_norm-inl.h"
#include "kernels/cpu/nn/batch_norm_planes-inl.h"
#include "kernels/cpu/traverse/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// -- statistics -----------------------------------------------------------------------------------

struct OfValues {  // x
  static constexpr int kSums = 1;
  static constexpr bool kReadsY = false;
  template <class Load>
  HWY_INLINE int constants(Load) const {
    return 0;
  }
  template <class V>
  HWY_INLINE void add(V* sums, V x, V, int) const {
    sums[0] = hn::Add(sums[0], x);
  }
};
template <class T>
struct OfDistances {  // x - centre and its square
  static constexpr int kSums = 2;
  static constexpr bool kReadsY = false;
  const T* centre;
  template <class Load>
  HWY_INLINE auto constants(Load load) const {
    return load(centre);
  }
  template <class V>
  HWY_INLINE void add(V* sums, V x, V, V from) const {
    const V away = hn::Sub(x, from);
    sums[0] = hn::Add(sums[0], away);
    sums[1] = hn::Add(sums[1], hn::Mul(away, away));
  }
};

// Of each run the mean and the sum of squared distances from it; `parts` is [runs, 2, c]. The sum
// of a run, divided, is only near the mean: the distances from it tell by how much.
template <class T>
void statistics_of_runs(Context& context, const RowTiles<T>& in, int64_t rows, int64_t c,
                        double* parts) {
  each_part(context, rows, c, [&](int64_t run, Rows part, int64_t column, int64_t count) {
    alignas(64) T centre[kSpan], away[kSpan], squares[kSpan];
    T* sum[1] = {centre};
    sum_rows(OfValues{}, in, in, part, column, count, sum);
    for (int64_t i = 0; i < count; ++i) centre[i] /= static_cast<T>(part.count());
    T* distances[2] = {away, squares};
    sum_rows(OfDistances<T>{centre}, in, in, part, column, count, distances);
    double* const means = parts + run * 2 * c + column;
    const auto n = static_cast<double>(part.count());
    for (int64_t i = 0; i < count; ++i) {
      const auto rest = static_cast<double>(away[i]);
      means[i] = static_cast<double>(centre[i]) + rest / n;
      means[c + i] = static_cast<double>(squares[i]) - rest * rest / n;
    }
  });
}

template <class T>
void statistics_of_runs(Context& context, const Planes<T>& in, double* parts) {
  const int64_t c = in.channels;
  each_group(context, in.rows(), c, kAcross<T>,
             [&](int64_t channel, int64_t run, int64_t count, int64_t pixels) {
               constexpr int64_t kN = kAcross<T>;
               alignas(64) T x[kN * kRun], centre[kN], away[kN], squares[kN];
               transpose_runs(in, channel, run * kRun, pixels, count, x);
               const auto load = [](const T* p, int64_t i) { return Pack<T>::load(p + i); };
               T* sum[1] = {centre};
               sum_transposed(OfValues{}, x, x, pixels, sum, load);
               for (int64_t i = 0; i < kN; ++i) centre[i] /= static_cast<T>(pixels);
               T* distances[2] = {away, squares};
               sum_transposed(OfDistances<T>{centre}, x, x, pixels, distances, load);
               const auto n = static_cast<double>(pixels);
               double* const to = parts + run * 2 * c + channel;
               for (int64_t i = 0; i < count; ++i) {
                 const auto rest = static_cast<double>(away[i]);
                 to[i * 2 * c] = static_cast<double>(centre[i]) + rest / n;
                 to[i * 2 * c + c] = static_cast<double>(squares[i]) - rest * rest / n;
               }
             });
}

// A channel's statistics in double precision.
struct Moments {
  double mean, variance, rstd;
};

// The sum of of(x) over a channel, one element after the other.
template <class T, class F>
double total(const RowTiles<T>& in, int64_t rows, int64_t channel, F of) {
  double sum = 0;
  for (int64_t r = 0; r < rows; ++r) {
    T tile;
    sum += of(static_cast<double>(*in.read(r, channel, 1, &tile)));
  }
  return sum;
}

// Those of a channel whose squares left the range of T, times a power of two that makes its largest
// element about 1; false if that is zero, infinite or a NaN, and then only the mean may change.
template <class T>
bool rescued(const RowTiles<T>& in, int64_t rows, int64_t channel, double eps, Moments& result) {
  double largest = 0;
  const double any = total(in, rows, channel, [&](double x) {
    largest = std::max(largest, std::abs(x));
    return x * 0;  // a NaN, if x is one or infinite
  });
  if (any != 0) result.mean = total(in, rows, channel, [](double x) { return x; });
  if (any != 0 || largest == 0) return false;
  const int exponent = std::min(-std::ilogb(largest), 900);
  const double scale = std::ldexp(1.0, exponent), n = static_cast<double>(rows);
  const double mean = total(in, rows, channel, [&](double x) { return x * scale; }) / n;
  const double squares = total(in, rows, channel, [&](double x) {
    const double away = x * scale - mean;
    return away * away;
  });
  result = {std::ldexp(mean, -exponent), std::ldexp(squares / (n - 1), -2 * exponent),
            scale / std::sqrt(squares / n + eps * scale * scale)};
  return true;
}

// A variance that overflowed, or is so small that squares may have vanished on the way.
template <class T>
bool is_lost(double variance) {
  constexpr double tiny = sizeof(T) == 4 ? 0x1p-80 : 0x1p-900;
  constexpr double most = std::numeric_limits<T>::max();
  return !(variance >= tiny && variance <= most);
}

constexpr int64_t kMerged = 64;  // channels whose runs are merged at once

// The statistics of kMerged channels or fewer, by Chan's formula over the runs in order.
template <class T>
void merge_runs(const BatchStatisticsArgs& a, const RowTiles<T>& in, const double* parts,
                int64_t rows, int64_t c, int64_t column, int64_t count) {
  double mean[kMerged], squares[kMerged];
  const int64_t runs = (rows + kRun - 1) / kRun;
  for (int64_t run = 0; run < runs; ++run) {
    const double* const means = parts + run * 2 * c + column;
    if (run == 0) {
      std::copy_n(means, count, mean);
      std::copy_n(means + c, count, squares);
      continue;
    }
    const auto before = static_cast<double>(run * kRun);
    const auto added = static_cast<double>(std::min(kRun, rows - run * kRun));
    const double share = added / (before + added), factor = before * share;
    for (int64_t i = 0; i < count; ++i) {
      const double away = means[i] - mean[i];
      mean[i] += away * share;
      squares[i] += means[c + i] + away * away * factor;
    }
  }
  const auto n = static_cast<double>(rows);
  for (int64_t i = 0; i < count; ++i) {
    Moments m{mean[i], squares[i] / (n - 1), 1 / std::sqrt(squares[i] / n + a.eps)};
    if (is_lost<T>(squares[i] / n + a.eps)) rescued(in, rows, column + i, a.eps, m);
    static_cast<T*>(a.mean.data)[column + i] = static_cast<T>(m.mean);
    static_cast<T*>(a.variance.data)[column + i] = static_cast<T>(m.variance);
    static_cast<T*>(a.rstd.data)[column + i] = static_cast<T>(m.rstd);
  }
}

template <class T>
void statistics(Context& context, const BatchStatisticsArgs& a) {
  const Turned turned(a.in);
  const RowTiles<T> in(turned.view);
  const int64_t rows = in.rows.count(), c = a.in.sizes[1];
  const int64_t runs = (rows + kRun - 1) / kRun;
  const Scratch scratch(context, runs * 2 * c * int64_t{sizeof(double)});
  if (scratch.failed()) return;
  auto* const parts = static_cast<double*>(scratch.data());
  if (Planes<T>::suit(a.in)) {
    statistics_of_runs(context, Planes<T>(a.in), parts);
  } else {
    statistics_of_runs(context, in, rows, c, parts);
  }
  in_chunks(context, (c + kMerged - 1) / kMerged, std::max<int64_t>(1, kGrain / kMerged / runs),
            [&](int64_t first, int64_t last) {
              for (int64_t i = first * kMerged; i < std::min(last * kMerged, c); i += kMerged)
                merge_runs<T>(a, in, parts, rows, c, i, std::min(kMerged, c - i));
            });
}

// -- forward --------------------------------------------------------------------------------------

template <class T, bool kAdds, bool kRelu>
struct Normalise {
  RowTiles<T> out, in, added;
  const T *mean, *scale, *shift;
  int64_t c;

  void operator()(int64_t r) const {
    alignas(64) T tile[kBlock<T>], added_tile[kBlock<T>];
    for (int64_t i = 0; i < c; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, c - i);
      const T* const x = in.read(r, i, count, tile);
      const T* const more = kAdds ? added.read(r, i, count, added_tile) : x;
      T* const y = out.room(r, i, tile);
      each_vector<T>(count, [&](auto load, auto store, int64_t j) {
        const int64_t k = i + j;
        auto z = hn::Mul(hn::Sub(load(x + j), load(mean + k)), load(scale + k));
        z = hn::Add(z, load(shift + k));
        if constexpr (kAdds) z = hn::Add(z, load(more + j));
        if constexpr (kRelu) z = hn::IfThenZeroElse(hn::Lt(z, Pack<T>::set(0)), z);  // a NaN stays
        store(z, y + j);
      });
      out.write(r, i, count, y);
    }
  }
};

// Images of 16 bits, in and out.
template <class S>
void normalise_narrow(Context& context, const NormaliseArgs& a) {
  using P = Pack<float>;
  const P::D d;
  const Planes<float> out(a.out), in(a.in);
  const auto of = [](const void* vector, int64_t channel) {
    return P::set(static_cast<const float*>(vector)[channel]);
  };
  each_piece(context, in.samples, in.channels, in.pixels,
             [&](int64_t sample, int64_t channel, int64_t pixel, int64_t n) {
               const auto mean = of(a.by.mean, channel), scale = of(a.by.scale, channel);
               const auto shift = of(a.by.shift, channel);
               const auto* const x = reinterpret_cast<S*>(in.element(sample, channel, pixel));
               auto* const y = reinterpret_cast<S*>(out.element(sample, channel, pixel));
               const auto normal = [&](auto v) {
                 return hn::Add(hn::Mul(hn::Sub(v, mean), scale), shift);
               };
               int64_t i = 0;
               for (; i + P::n <= n; i += P::n)
                 stored::store(normal(stored::load(d, x + i)), d, y + i);
               if (i < n) stored::store(normal(stored::load(d, n - i, x + i)), d, n - i, y + i);
             });
}

template <class T, bool kAdds, bool kRelu>
void normalise_planes(Context& context, const NormaliseArgs& a) {
  if constexpr (sizeof(T) == 4 && !kAdds && !kRelu) {
    const bool alike = a.in.dtype == a.out.dtype;
    if (alike && a.in.dtype == LIBDL_DTYPE_FLOAT16) return normalise_narrow<Half>(context, a);
    if (alike && a.in.dtype == LIBDL_DTYPE_BFLOAT16) return normalise_narrow<Bfloat>(context, a);
  }
  using P = Pack<T>;
  const Planes<T> out(a.out), in(a.in), added(kAdds ? a.added : a.in);
  const auto of = [](const void* vector, int64_t channel) {
    return P::set(static_cast<const T*>(vector)[channel]);
  };
  each_piece(context, in.samples, in.channels, in.pixels,
             [&](int64_t sample, int64_t channel, int64_t pixel, int64_t n) {
               const auto mean = of(a.by.mean, channel), scale = of(a.by.scale, channel);
               const auto shift = of(a.by.shift, channel);
               alignas(64) T tile[kBlock<T>], added_tile[kBlock<T>];
               for (int64_t i = 0; i < n; i += kBlock<T>) {
                 const int64_t count = std::min(kBlock<T>, n - i);
                 const T* const x = in.part(sample, channel, pixel + i, count, tile);
                 const T* const more =
                     kAdds ? added.part(sample, channel, pixel + i, count, added_tile) : x;
                 T* const y = out.room(sample, channel, pixel + i, tile);
                 each_vector<T>(count, [&](auto load, auto store, int64_t j) {
                   auto z = hn::Add(hn::Mul(hn::Sub(load(x + j), mean), scale), shift);
                   if constexpr (kAdds) z = hn::Add(z, load(more + j));
                   if constexpr (kRelu)
                     z = hn::IfThenZeroElse(hn::Lt(z, P::set(0)), z);  // a NaN stays
                   store(z, y + j);
                 });
                 out.write(sample, channel, pixel + i, count, y);
               }
             });
}

// Images that lie as a matrix [pixels, c], normalised several pixels at a time; mean, scale and
// shift are repeated for that.
template <class T, bool kAdds, bool kRelu>
void normalise_matrix(Context& context, const NormaliseArgs& a) {
  const Joined<T> joined(context, a.in,
                         {static_cast<const T*>(a.by.mean), static_cast<const T*>(a.by.scale),
                          static_cast<const T*>(a.by.shift)});
  if (joined.failed()) return;
  joined.each([&](int64_t first, int64_t rows, int64_t columns) {
    const Matrix out(a.out, first, rows, columns), in(a.in, first, rows, columns);
    const Matrix added(kAdds ? a.added : a.in, first, rows, columns);
    const Normalise<T, kAdds, kRelu> row{RowTiles<T>(out.view),
                                         RowTiles<T>(in.view),
                                         RowTiles<T>(added.view),
                                         joined.vector(0),
                                         joined.vector(1),
                                         joined.vector(2),
                                         columns};
    for_rows(context, row, rows, columns);
  });
}

template <class T, bool kAdds, bool kRelu>
void normalise(Context& context, const NormaliseArgs& a) {
  using Image = Planes<T>;
  if (Image::suit(a.in) && Image::suit(a.out) && (!kAdds || Image::suit(a.added)))
    return normalise_planes<T, kAdds, kRelu>(context, a);
  if (is_matrix(a.in) && is_matrix(a.out) && (!kAdds || is_matrix(a.added)))
    return normalise_matrix<T, kAdds, kRelu>(context, a);
  const Turned in(a.in), out(a.out), added(kAdds ? a.added : a.in);
  const int64_t c = a.in.sizes[1];
  const Normalise<T, kAdds, kRelu> row{RowTiles<T>(out.view),
                                       RowTiles<T>(in.view),
                                       RowTiles<T>(added.view),
                                       static_cast<const T*>(a.by.mean),
                                       static_cast<const T*>(a.by.scale),
                                       static_cast<const T*>(a.by.shift),
                                       c};
  for_rows(context, row, row.in.rows.count(), c);
}

template <class T>
void forward(Context& context, const BatchNormArgs& a) {
  const int64_t c = a.in.sizes[1];
  const Scratch scratch(context, 2 * c * int64_t{sizeof(T)});
  if (scratch.failed()) return;
  auto* const scale = static_cast<T*>(scratch.data());
  fill_normalisation(a, scale, scale + c);
  normalise<T, false, false>(context, {a.out, a.in, {}, {a.mean.data, scale, scale + c}, false});
}

void batch_statistics_on(Context& context, const BatchStatisticsArgs& a) {
  with_compute(a.in.dtype, [&](auto t) { statistics<decltype(t)>(context, a); });
}
void batch_norm_on(Context& context, const BatchNormArgs& a) {
  with_compute(a.in.dtype, [&](auto t) { forward<decltype(t)>(context, a); });
}
void normalise_on(Context& context, const NormaliseArgs& a) {
  with_compute(a.in.dtype, [&](auto t) {
    using T = decltype(t);
    const bool adds = a.added.data != nullptr;
    if (adds && a.relu) return normalise<T, true, true>(context, a);
    if (adds) return normalise<T, true, false>(context, a);
    if (a.relu) return normalise<T, false, true>(context, a);
    normalise<T, false, false>(context, a);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void batch_statistics(Context& context, const BatchStatisticsArgs& args) {
  LIBDL_ON_ISA(batch_statistics_on, context, args);
}
void batch_norm(Context& context, const BatchNormArgs& args) {
  LIBDL_ON_ISA(batch_norm_on, context, args);
}
void normalise(Context& context, const NormaliseArgs& args) {
  LIBDL_ON_ISA(normalise_on, context, args);
}

template <class T>
static void fill(const BatchNormArgs& a, T* scale, T* shift) {
  const auto* const rstd = static_cast<const T*>(a.rstd.data);
  const auto* const weight = static_cast<const T*>(a.weight.data);
  const auto* const bias = static_cast<const T*>(a.bias.data);
  for (int64_t i = 0; i < a.in.sizes[1]; ++i) {
    scale[i] = weight == nullptr ? rstd[i] : rstd[i] * weight[i];
    shift[i] = bias == nullptr ? T(0) : bias[i];
  }
}
void fill_normalisation(const BatchNormArgs& args, void* scale, void* shift) {
  if (args.in.dtype == LIBDL_DTYPE_FLOAT64)
    return fill(args, static_cast<double*>(scale), static_cast<double*>(shift));
  fill(args, static_cast<float*>(scale), static_cast<float*>(shift));
}

}  // namespace libdl::kernels::cpu
#endif
