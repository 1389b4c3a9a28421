// SPDX-License-Identifier: Apache-2.0

// An image is a matrix here: a row for each pixel, with a column for each channel.

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/batch_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/traverse/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kColumns = 64;  // whose sums are in registers at once
constexpr int64_t kRun = kBatchNormRun;

// [n, c, d, h, w] with the channels as the last dimension.
struct Turned {
  int64_t sizes[5], strides[5];
  View view;

  explicit Turned(const View& image) : view(image) {
    constexpr int kFrom[] = {0, 2, 3, 4, 1};
    if (image.data == nullptr) return;
    for (int d = 0; d < 5; ++d)
      sizes[d] = image.sizes[kFrom[d]], strides[d] = image.strides[kFrom[d]];
    view.sizes = sizes, view.strides = strides;
  }
  Turned(const Turned&) = delete;
  Turned& operator=(const Turned&) = delete;
};

template <class T>
const T* vector_of(const View& v) {
  return static_cast<const T*>(v.data);
}

// -- sums over pixels -----------------------------------------------------------------------------

// What is added up of x and y, of which a functor takes the centre: the first sum, and the second.
struct OfValues {  // x
  static constexpr int kSums = 1;
  static constexpr bool kReadsY = false;
  template <class V>
  HWY_INLINE void add(V* sums, V x, V, V) const {
    sums[0] = hn::Add(sums[0], x);
  }
};
struct OfDistances {  // x - centre and its square
  static constexpr int kSums = 2;
  static constexpr bool kReadsY = false;
  template <class V>
  HWY_INLINE void add(V* sums, V x, V, V centre) const {
    const V away = hn::Sub(x, centre);
    sums[0] = hn::Add(sums[0], away);
    sums[1] = hn::Add(sums[1], hn::Mul(away, away));
  }
};
struct OfGradients {  // y and y (x - centre)
  static constexpr int kSums = 2;
  static constexpr bool kReadsY = true;
  template <class V>
  HWY_INLINE void add(V* sums, V x, V y, V centre) const {
    sums[0] = hn::Add(sums[0], y);
    sums[1] = hn::Add(sums[1], hn::Mul(y, hn::Sub(x, centre)));
  }
};

struct Rows {
  int64_t first, last;
  int64_t count() const { return last - first; }
};

// sums[s][i]: over the rows, of kVectors vectors of columns from `column` on; the last has `rest`
// columns.
template <int kVectors, class What, class T>
HWY_INLINE void sum_vectors(const What& what, const RowTiles<T>& x, const RowTiles<T>& y, Rows rows,
                            int64_t column, int64_t rest, const T* centre,
                            T (&sums)[What::kSums][kColumns], int64_t at) {
  using P = Pack<T>;
  using V = typename P::V;
  const typename P::D d;
  V sum[kVectors][What::kSums];
  LIBDL_UNROLL
  for (int v = 0; v < kVectors; ++v)
    for (int s = 0; s < What::kSums; ++s) sum[v][s] = P::set(0);
  const int64_t count = (kVectors - 1) * P::n + rest;
  alignas(64) T x_tile[kColumns], y_tile[kColumns];
  for (int64_t r = rows.first; r < rows.last; ++r) {
    const T* const xs = x.read(r, column, count, x_tile);
    const T* const ys = What::kReadsY ? y.read(r, column, count, y_tile) : xs;
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const auto load = [&](const T* p) {
        return rest == P::n ? P::load(p + v * P::n) : first::load(d, rest, p + v * P::n);
      };
      what.add(sum[v], load(xs), load(ys), load(centre));
    }
  }
  LIBDL_UNROLL
  for (int v = 0; v < kVectors; ++v)
    for (int s = 0; s < What::kSums; ++s) P::store(sum[v][s], sums[s] + at + v * P::n);
}

// The sums of `count` columns, at most kColumns.
template <class What, class T>
void sum_rows(const What& what, const RowTiles<T>& x, const RowTiles<T>& y, Rows rows,
              int64_t column, int64_t count, const T* centre, T (&sums)[What::kSums][kColumns]) {
  constexpr int64_t n = Pack<T>::n, kVectors = kColumns / n;
  if (count == kColumns) return sum_vectors<kVectors>(what, x, y, rows, column, n, centre, sums, 0);
  for (int64_t i = 0; i < count; i += n)
    sum_vectors<1>(what, x, y, rows, column + i, std::min(n, count - i), centre + i, sums, i);
}

// f(run, rows, first column, columns) for all parts of an image, on all threads.
template <class F>
void each_part(Context& context, int64_t rows, int64_t columns, F f) {
  const int64_t blocks = (columns + kColumns - 1) / kColumns;
  const int64_t runs = (rows + kRun - 1) / kRun;
  const int64_t each = std::min(rows, kRun) * std::min(columns, kColumns);
  in_chunks(context, runs * blocks, std::max<int64_t>(1, kGrain / each),
            [&](int64_t first, int64_t last) {
              for (int64_t part = first; part < last; ++part) {
                const int64_t run = part / blocks, column = part % blocks * kColumns;
                f(run, Rows{run * kRun, std::min(run * kRun + kRun, rows)}, column,
                  std::min(kColumns, columns - column));
              }
            });
}

// -- statistics -----------------------------------------------------------------------------------

// Of each run the mean and the sum of squared distances from it; `parts` is [runs, 2, c]. The sum
// of a run, divided, is only near the mean: the distances from it tell by how much.
template <class T>
void statistics_of_runs(Context& context, const RowTiles<T>& in, int64_t rows, int64_t c,
                        double* parts) {
  each_part(context, rows, c, [&](int64_t run, Rows part, int64_t column, int64_t count) {
    alignas(64) T sum[1][kColumns], distances[2][kColumns], centre[kColumns] = {};
    sum_rows(OfValues{}, in, in, part, column, count, centre, sum);
    for (int64_t i = 0; i < count; ++i) centre[i] = sum[0][i] / static_cast<T>(part.count());
    sum_rows(OfDistances{}, in, in, part, column, count, centre, distances);
    double* const means = parts + run * 2 * c + column;
    const auto n = static_cast<double>(part.count());
    for (int64_t i = 0; i < count; ++i) {
      const auto rest = static_cast<double>(distances[0][i]);
      means[i] = static_cast<double>(centre[i]) + rest / n;
      means[c + i] = static_cast<double>(distances[1][i]) - rest * rest / n;
    }
  });
}

// The statistics of kColumns channels or fewer, by Chan's formula over the runs in order.
template <class T>
void merge_runs(const BatchStatisticsArgs& a, const double* parts, int64_t rows, int64_t c,
                int64_t column, int64_t count) {
  double mean[kColumns], squares[kColumns];
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
    static_cast<T*>(a.mean.data)[column + i] = static_cast<T>(mean[i]);
    static_cast<T*>(a.variance.data)[column + i] = static_cast<T>(squares[i] / (n - 1));
    static_cast<T*>(a.rstd.data)[column + i] =
        static_cast<T>(1 / std::sqrt(squares[i] / n + a.eps));
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
  statistics_of_runs(context, in, rows, c, parts);
  in_chunks(context, (c + kColumns - 1) / kColumns, std::max<int64_t>(1, kGrain / kColumns / runs),
            [&](int64_t first, int64_t last) {
              for (int64_t i = first * kColumns; i < std::min(last * kColumns, c); i += kColumns)
                merge_runs<T>(a, parts, rows, c, i, std::min(kColumns, c - i));
            });
}

// -- forward --------------------------------------------------------------------------------------

// (x - mean) scale + shift, column by column.
template <class T>
struct Normalise {
  RowTiles<T> out, in;
  const T *mean, *scale, *shift;
  int64_t c;

  void operator()(int64_t r) const {
    alignas(64) T tile[kBlock<T>];
    for (int64_t i = 0; i < c; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, c - i);
      const T* const x = in.read(r, i, count, tile);
      T* const y = out.room(r, i, tile);
      columns(y, x, i, count);
      out.write(r, i, count, y);
    }
  }
  void columns(T* y, const T* x, int64_t from, int64_t count) const {
    using P = Pack<T>;
    const typename P::D d;
    int64_t i = 0;
    for (; i + P::n <= count; i += P::n) {
      const auto z =
          hn::Mul(hn::Sub(P::load(x + i), P::load(mean + from + i)), P::load(scale + from + i));
      P::store(hn::Add(z, P::load(shift + from + i)), y + i);
    }
    if (i == count) return;
    const auto last = [&](const T* p) { return first::load(d, count - i, p); };
    const auto z = hn::Mul(hn::Sub(last(x + i), last(mean + from + i)), last(scale + from + i));
    first::store(hn::Add(z, last(shift + from + i)), d, count - i, y + i);
  }
};

template <class T>
void forward(Context& context, const BatchNormArgs& a) {
  const Turned in(a.in), out(a.out);
  const int64_t c = a.in.sizes[1];
  const Scratch scratch(context, 2 * c * int64_t{sizeof(T)});
  if (scratch.failed()) return;
  auto* const scale = static_cast<T*>(scratch.data());
  T* const shift = scale + c;
  for (int64_t i = 0; i < c; ++i) {
    scale[i] = vector_of<T>(a.rstd)[i];
    if (a.weight.data != nullptr) scale[i] *= vector_of<T>(a.weight)[i];
    shift[i] = a.bias.data == nullptr ? T(0) : vector_of<T>(a.bias)[i];
  }
  const Normalise<T> row{
      RowTiles<T>(out.view), RowTiles<T>(in.view), vector_of<T>(a.mean), scale, shift, c};
  for_rows(context, row, row.in.rows.count(), c);
}

// -- backward -------------------------------------------------------------------------------------

// dx = scale (dy - first - (x - mean) second), where first and second are 0 if the statistics are
// not those of x.
template <class T>
struct InputGradient {
  RowTiles<T> dx, dy, in;
  const T *mean, *scale, *first_mean, *second_mean;
  int64_t c;

  void operator()(int64_t r) const {
    alignas(64) T x_tile[kBlock<T>], y_tile[kBlock<T>];
    for (int64_t i = 0; i < c; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, c - i);
      const T* const g = dy.read(r, i, count, y_tile);
      const T* const x = in.read(r, i, count, x_tile);
      T* const to = dx.room(r, i, y_tile);
      columns(to, g, x, i, count);
      dx.write(r, i, count, to);
    }
  }
  void columns(T* to, const T* g, const T* x, int64_t from, int64_t count) const {
    using P = Pack<T>;
    const typename P::D d;
    const auto gradient = [&](int64_t i, auto load) {
      const auto z =
          hn::Mul(hn::Sub(load(x + i), load(mean + from + i)), load(second_mean + from + i));
      return hn::Mul(hn::Sub(hn::Sub(load(g + i), load(first_mean + from + i)), z),
                     load(scale + from + i));
    };
    int64_t i = 0;
    for (; i + P::n <= count; i += P::n)
      P::store(gradient(i, [](const T* p) { return P::load(p); }), to + i);
    if (i == count) return;
    const auto last = gradient(i, [&](const T* p) { return first::load(d, count - i, p); });
    first::store(last, d, count - i, to + i);
  }
};

template <class T>
struct Backward {
  const BatchNormBackwardArgs& a;
  RowTiles<T> dy, in;
  int64_t rows, c;

  // The sums of dy and of dy (x - mean) over all pixels, each [c], in sums; parts: [runs, 2, c].
  void sum(Context& context, double* parts, double* sums) const {
    each_part(context, rows, c, [&](int64_t run, Rows part, int64_t column, int64_t count) {
      alignas(64) T two[2][kColumns];
      sum_rows(OfGradients{}, in, dy, part, column, count, vector_of<T>(a.mean) + column, two);
      double* const to = parts + run * 2 * c + column;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(two[0][i]);
      for (int64_t i = 0; i < count; ++i) to[c + i] = static_cast<double>(two[1][i]);
    });
    std::fill_n(sums, 2 * c, 0.0);
    for (int64_t run = 0; run * kRun < rows; ++run)
      for (int64_t i = 0; i < 2 * c; ++i) sums[i] += parts[run * 2 * c + i];
  }

  // sums becomes the means that dx has, and the scale; see InputGradient.
  void input_gradient(Context& context, const View& dx, const double* sums, T* scratch) const {
    T *const scale = scratch, *const first_mean = scale + c, *const second_mean = first_mean + c;
    const auto n = static_cast<double>(rows);
    for (int64_t i = 0; i < c; ++i) {
      const T rstd = vector_of<T>(a.rstd)[i];
      const auto wide = static_cast<double>(rstd);
      scale[i] = a.weight.data == nullptr ? rstd : rstd * vector_of<T>(a.weight)[i];
      first_mean[i] = a.trained ? static_cast<T>(sums[i] / n) : T(0);
      second_mean[i] = a.trained ? static_cast<T>(sums[c + i] / n * wide * wide) : T(0);
    }
    const InputGradient<T> row{RowTiles<T>(dx), dy,         in,          vector_of<T>(a.mean),
                               scale,           first_mean, second_mean, c};
    for_rows(context, row, rows, c);
  }
};

template <class T>
void backward(Context& context, const BatchNormBackwardArgs& a) {
  const Turned dx(a.dx), dy(a.dy), in(a.in);
  const Backward<T> job{a, RowTiles<T>(dy.view), RowTiles<T>(in.view), numel(a.in) / a.in.sizes[1],
                        a.in.sizes[1]};
  const int64_t c = job.c, runs = (job.rows + kRun - 1) / kRun;
  const Scratch scratch(context, (runs + 1) * 2 * c * int64_t{sizeof(double)});
  const Scratch vectors(context, 3 * c * int64_t{sizeof(T)});
  if (scratch.failed() || vectors.failed()) return;
  auto* const parts = static_cast<double*>(scratch.data());
  double* const sums = parts + runs * 2 * c;
  if (a.trained || a.dweight.data != nullptr || a.dbias.data != nullptr)
    job.sum(context, parts, sums);
  for (int64_t i = 0; i < c; ++i) {
    const auto rstd = static_cast<double>(vector_of<T>(a.rstd)[i]);
    if (a.dweight.data != nullptr)
      static_cast<T*>(a.dweight.data)[i] = static_cast<T>(sums[c + i] * rstd);
    if (a.dbias.data != nullptr) static_cast<T*>(a.dbias.data)[i] = static_cast<T>(sums[i]);
  }
  if (a.dx.data != nullptr)
    job.input_gradient(context, dx.view, sums, static_cast<T*>(vectors.data()));
}

template <class F>
void with_compute(int32_t dtype, F f) {
  if (dtype == LIBDL_DTYPE_FLOAT64) return f(double());
  f(float());
}
void batch_statistics_on(Context& context, const BatchStatisticsArgs& a) {
  with_compute(a.in.dtype, [&](auto t) { statistics<decltype(t)>(context, a); });
}
void batch_norm_on(Context& context, const BatchNormArgs& a) {
  with_compute(a.in.dtype, [&](auto t) { forward<decltype(t)>(context, a); });
}
void batch_norm_backward_on(Context& context, const BatchNormBackwardArgs& a) {
  with_compute(a.in.dtype, [&](auto t) { backward<decltype(t)>(context, a); });
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
void batch_norm_backward(Context& context, const BatchNormBackwardArgs& args) {
  LIBDL_ON_ISA(batch_norm_backward_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
