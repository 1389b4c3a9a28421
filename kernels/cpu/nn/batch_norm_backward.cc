// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/nn/batch_norm_backward.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/nn/batch_norm-inl.h"
#include "kernels/cpu/nn/batch_norm_planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Of a vector of channels.
template <class V, bool kGated>
struct Channels {
  V mean, scale, shift;

  // The gradient that arrived; if it is that of a relu behind the normalisation, kGated, only where
  // the relu's result is above 0 or NaN.
  HWY_INLINE V gradient(V dy, V x) const {
    if constexpr (!kGated) return dy;
    const V y = hn::Add(hn::Mul(hn::Sub(x, mean), scale), shift);
    return hn::IfThenZeroElse(hn::Le(y, hn::Zero(hn::DFromV<V>())), dy);
  }
};
template <class T, bool kGated>
struct ByChannel {
  const T *mean, *scale, *shift;  // the latter two only if kGated

  // load(p) of a vector of channels of p
  template <class Load>
  HWY_INLINE auto constants(Load load) const {
    using V = typename Pack<T>::V;
    const V m = load(mean);
    if constexpr (!kGated) return Channels<V, false>{m, m, m};
    return Channels<V, kGated>{m, load(scale), load(shift)};
  }
};

template <class T, bool kGated>
struct OfGradients : ByChannel<T, kGated> {  // y and y (x - mean), where y is the gradient
  static constexpr int kSums = 2;
  static constexpr bool kReadsY = true;
  template <class V>
  HWY_INLINE void add(V* sums, V x, V y, const Channels<V, kGated>& channels) const {
    const V g = channels.gradient(y, x);
    sums[0] = hn::Add(sums[0], g);
    sums[1] = hn::Add(sums[1], hn::Mul(g, hn::Sub(x, channels.mean)));
  }
};

// dx = scale (dy - first - (x - mean) second), or scale dy if the statistics are not those of x.
template <class T, bool kGated, bool kTrained>
struct InputGradient {
  RowTiles<T> dx, dy, in;
  ByChannel<T, kGated> gate;
  const T *scale, *first_mean, *second_mean;
  int64_t c;

  void operator()(int64_t r) const {
    alignas(64) T x_tile[kBlock<T>], y_tile[kBlock<T>];
    for (int64_t i = 0; i < c; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, c - i);
      const T* const g = dy.read(r, i, count, y_tile);
      const T* const x = in.read(r, i, count, x_tile);
      T* const to = dx.destination(r, i, y_tile);
      each_vector<T>(count, [&](auto load, auto store, int64_t j) {
        const auto channel = [&](const T* p) { return load(p + i + j); };
        const auto constants = gate.constants(channel);
        const auto xs = load(x + j);
        auto dy = constants.gradient(load(g + j), xs);
        if constexpr (kTrained) {
          const auto z = hn::Mul(hn::Sub(xs, constants.mean), channel(second_mean));
          dy = hn::Sub(hn::Sub(dy, channel(first_mean)), z);
        }
        store(hn::Mul(dy, channel(scale)), to + j);
      });
      dx.write(r, i, count, to);
    }
  }
};

template <class T, bool kGated>
struct Backward {
  const BatchNormBackwardArgs& a;
  RowTiles<T> dy, in;
  ByChannel<T, kGated> gate;
  int64_t rows, c;
  bool planes;  // all images have them

  void sum_planes(Context& context, double* parts) const {
    const Planes<T> y(a.dy), x(a.in);
    each_group(context, rows, c, kAcross<T>,
               [&](int64_t channel, int64_t run, int64_t count, int64_t pixels) {
                 constexpr int64_t kN = kAcross<T>;
                 alignas(64) T x_tile[kN * kRun], y_tile[kN * kRun], first[kN], second[kN];
                 transpose_runs(x, channel, run * kRun, pixels, count, x_tile);
                 transpose_runs(y, channel, run * kRun, pixels, count, y_tile);
                 T* two[2] = {first, second};
                 const OfGradients<T, kGated> what{
                     {gate.mean + channel, gate.scale + channel, gate.shift + channel}};
                 sum_transposed(what, x_tile, y_tile, pixels, two,
                                [](const T* p, int64_t) { return Pack<T>::set(*p); });
                 double* const to = parts + run * 2 * c + channel;
                 for (int64_t i = 0; i < count; ++i) {
                   to[i * 2 * c] = static_cast<double>(first[i]);
                   to[i * 2 * c + c] = static_cast<double>(second[i]);
                 }
               });
  }

  // The sums of dy and of dy (x - mean) over all pixels, each [c], in sums; parts: [runs, 2, c].
  void sum(Context& context, double* parts, double* sums) const {
    if (planes) {
      sum_planes(context, parts);
    } else {
      sum_rows_of_runs(context, parts);
    }
    std::fill_n(sums, 2 * c, 0.0);
    for (int64_t run = 0; run * kRun < rows; ++run)
      for (int64_t i = 0; i < 2 * c; ++i) sums[i] += parts[run * 2 * c + i];
  }
  void sum_rows_of_runs(Context& context, double* parts) const {
    each_part(context, rows, c, [&](int64_t run, Rows part, int64_t column, int64_t count) {
      alignas(64) T first[kSpan], second[kSpan];
      T* two[2] = {first, second};
      const OfGradients<T, kGated> what{
          {gate.mean + column, gate.scale + column, gate.shift + column}};
      sum_rows(what, in, dy, part, column, count, two);
      double* const to = parts + run * 2 * c + column;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(first[i]);
      for (int64_t i = 0; i < count; ++i) to[c + i] = static_cast<double>(second[i]);
    });
  }

  template <bool kTrained>
  void input_gradient_of_planes(Context& context, const T* scales, const T* first_means,
                                const T* second_means) const {
    const Planes<T> to(a.dx), from(a.dy), images(a.in);
    each_piece(context, to.samples, c, to.pixels,
               [&](int64_t sample, int64_t channel, int64_t pixel, int64_t n) {
                 const auto of = [&](const T* vector) { return Pack<T>::set(vector[channel]); };
                 const auto constants = gate.constants(of);
                 const auto scale = of(scales), first = of(first_means), second = of(second_means);
                 alignas(64) T x_tile[kBlock<T>], y_tile[kBlock<T>];
                 for (int64_t i = 0; i < n; i += kBlock<T>) {
                   const int64_t count = std::min(kBlock<T>, n - i);
                   const T* const g = from.part(sample, channel, pixel + i, count, y_tile);
                   const T* const x = images.part(sample, channel, pixel + i, count, x_tile);
                   T* const workspace = to.destination(sample, channel, pixel + i, y_tile);
                   each_vector<T>(count, [&](auto load, auto store, int64_t j) {
                     const auto xs = load(x + j);
                     auto dy = constants.gradient(load(g + j), xs);
                     if constexpr (kTrained)
                       dy = hn::Sub(hn::Sub(dy, first),
                                    hn::Mul(hn::Sub(xs, constants.mean), second));
                     store(hn::Mul(dy, scale), workspace + j);
                   });
                   to.write(sample, channel, pixel + i, count, workspace);
                 }
               });
  }

  template <bool kTrained>
  void input_gradient_of_matrix(Context& context, std::initializer_list<const T*> vectors) const {
    const MergedPixels<T> joined(context, a.in, vectors);
    if (joined.failed()) return;
    joined.each([&](int64_t first, int64_t count, int64_t columns) {
      const Matrix to(a.dx, first, count, columns), from(a.dy, first, count, columns);
      const Matrix images(a.in, first, count, columns);
      const auto vector = [&](int64_t number) { return joined.vector(number); };
      const InputGradient<T, kGated, kTrained> row{RowTiles<T>(to.view),
                                                   RowTiles<T>(from.view),
                                                   RowTiles<T>(images.view),
                                                   {vector(0), vector(1), vector(2)},
                                                   vector(3),
                                                   vector(4),
                                                   vector(5),
                                                   columns};
      for_rows(context, row, count, columns);
    });
  }

  template <bool kTrained>
  void input_gradient(Context& context, const View& dx, const double* sums, T* scratch) const {
    T *const scale = scratch, *const first_mean = scale + c, *const second_mean = first_mean + c;
    const auto n = static_cast<double>(rows);
    for (int64_t i = 0; i < c; ++i) {
      const T rstd = vector_of<T>(a.rstd)[i];
      const auto wide = static_cast<double>(rstd);
      scale[i] = a.weight.data == nullptr ? rstd : rstd * vector_of<T>(a.weight)[i];
      if (!kTrained) continue;
      first_mean[i] = static_cast<T>(sums[i] / n);
      second_mean[i] = static_cast<T>(sums[c + i] / n * wide * wide);
    }
    if (planes) return input_gradient_of_planes<kTrained>(context, scale, first_mean, second_mean);
    if (is_matrix(a.dx) && is_matrix(a.dy) && is_matrix(a.in))
      return input_gradient_of_matrix<kTrained>(
          context, {gate.mean, gate.scale, gate.shift, scale, first_mean, second_mean});
    const InputGradient<T, kGated, kTrained> row{RowTiles<T>(dx), dy,         in,          gate,
                                                 scale,           first_mean, second_mean, c};
    for_rows(context, row, rows, c);
  }
};

// bias: of the normalisation behind which the relu stands, if kGated.
template <class T, bool kGated>
void backward(Context& context, const BatchNormBackwardArgs& a, const View& bias) {
  const ChannelsLast dx(a.dx), dy(a.dy), in(a.in);
  const T* const mean = vector_of<T>(a.mean);
  ByChannel<T, kGated> gate{mean, mean, mean};
  const Scratch gate_vectors(context, kGated ? 2 * a.in.sizes[1] * int64_t{sizeof(T)} : 0);
  if (gate_vectors.failed()) return;
  if constexpr (kGated) {
    auto* const scale = static_cast<T*>(gate_vectors.data());
    gate.scale = scale, gate.shift = scale + a.in.sizes[1];
    fill_normalisation({{}, a.in, a.mean, a.rstd, a.weight, bias}, scale, scale + a.in.sizes[1]);
  }
  using Image = Planes<T>;
  const bool planes = Image::suit(a.dx) && Image::suit(a.dy) && Image::suit(a.in);
  const Backward<T, kGated> job{a,     RowTiles<T>(dy.view),        RowTiles<T>(in.view),
                                gate,  numel(a.in) / a.in.sizes[1], a.in.sizes[1],
                                planes};
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
  if (a.dx.data == nullptr) return;
  T* const workspace = static_cast<T*>(vectors.data());
  if (a.trained) return job.template input_gradient<true>(context, dx.view, sums, workspace);
  job.template input_gradient<false>(context, dx.view, sums, workspace);
}

void relu_backward_on(Context& context, const ReluBackwardArgs& a) {
  with_compute(a.dtype, [&](auto t) {
    using T = decltype(t);
    auto* const dx = static_cast<T*>(a.dx);
    const auto *const dy = static_cast<const T*>(a.dy), *const y = static_cast<const T*>(a.y);
    in_chunks(context, a.count, kGrain, [&](int64_t first, int64_t last) {
      each_vector<T>(last - first, [&](auto load, auto store, int64_t i) {
        const auto closed = hn::Le(load(y + first + i), Pack<T>::set(0));
        store(hn::IfThenZeroElse(closed, load(dy + first + i)), dx + first + i);
      });
    });
  });
}
void batch_norm_backward_on(Context& context, const BatchNormBackwardArgs& a) {
  with_compute(a.in.dtype, [&](auto t) { backward<decltype(t), false>(context, a, {}); });
}
void batch_norm_relu_backward_on(Context& context, const BatchNormReluBackwardArgs& a) {
  with_compute(a.norm.in.dtype,
               [&](auto t) { backward<decltype(t), true>(context, a.norm, a.bias); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void batch_norm_backward(Context& context, const BatchNormBackwardArgs& args) {
  LIBDL_ON_ISA(batch_norm_backward_on, context, args);
}
void batch_norm_relu_backward(Context& context, const BatchNormReluBackwardArgs& args) {
  LIBDL_ON_ISA(batch_norm_relu_backward_on, context, args);
}
void relu_backward(Context& context, const ReluBackwardArgs& args) {
  LIBDL_ON_ISA(relu_backward_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
