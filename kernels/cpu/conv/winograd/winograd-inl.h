// SPDX-License-Identifier: Apache-2.0

// The transforms of F(4 x 4, 3 x 3) and F(2 x 2, 5 x 5) on vectors of channels. With the points p,
// of which the last is infinity, and N_j the product of p_j - p_l over all other finite points:
//
//   y = A^T [(G g) * (B^T d)]    A^T[i][j] = p_j^i,  G[j][k] = p_j^k / N_j,
//                                B^T[j] the coefficients of the product of x - p_l over l != j.
//
// The gradient by g is G^T [(A dy) * (B^T d)].
#if defined(LIBDL_KERNELS_CPU_CONV_WINOGRAD_WINOGRAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_CONV_WINOGRAD_WINOGRAD_INL_H
#undef LIBDL_KERNELS_CPU_CONV_WINOGRAD_WINOGRAD_INL_H
#else
#define LIBDL_KERNELS_CPU_CONV_WINOGRAD_WINOGRAD_INL_H
#endif

#include <type_traits>

#include "kernels/cpu/conv/patches/patches.h"
#include "kernels/cpu/conv/winograd/winograd_grid.h"
#include "kernels/cpu/gemm/gemm_kernel-inl.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace winograd {

using D = Vectors<float>;
using V = hn::Vec<D>;

constexpr float kA = 5.0f / 8, kB = 3.0f / 2;  // the points are 0, kA, -kA, kB, -kB, infinity
constexpr float kA2 = kA * kA, kB2 = kB * kB;
constexpr float kR0 = 1 / (kA2 * kB2);  // 1 / N_j
constexpr float kRA = 1 / (2 * kA2 * (kA2 - kB2)), kRB = 1 / (2 * kB2 * (kB2 - kA2));

HWY_INLINE V times(float factor, V x) { return hn::Mul(hn::Set(D(), factor), x); }
HWY_INLINE V plus(V y, float factor, V x) { return hn::MulAdd(hn::Set(D(), factor), x, y); }
HWY_INLINE V minus(V y, float factor, V x) { return hn::NegMulAdd(hn::Set(D(), factor), x, y); }

struct InputToPoints {  // B^T
  static constexpr int kFrom = 6, kTo = 6;
  static HWY_INLINE void apply(const V* d, V* t) {
    const V even_a = minus(d[4], kB2, d[2]), odd_a = minus(d[3], kB2, d[1]);
    const V even_b = minus(d[4], kA2, d[2]), odd_b = minus(d[3], kA2, d[1]);
    t[0] = minus(plus(d[4], kA2 * kB2, d[0]), kA2 + kB2, d[2]);
    t[1] = plus(even_a, kA, odd_a), t[2] = minus(even_a, kA, odd_a);
    t[3] = plus(even_b, kB, odd_b), t[4] = minus(even_b, kB, odd_b);
    t[5] = minus(plus(d[5], kA2 * kB2, d[1]), kA2 + kB2, d[3]);
  }
};
template <int kTaps>
struct WeightsToPoints;  // G
template <>
struct WeightsToPoints<3> {
  static constexpr int kFrom = 3, kTo = 6;
  static HWY_INLINE void apply(const V* g, V* t) {
    const V even_a = plus(times(kRA, g[0]), kA2 * kRA, g[2]);
    const V even_b = plus(times(kRB, g[0]), kB2 * kRB, g[2]);
    t[0] = times(kR0, g[0]);
    t[1] = plus(even_a, kA * kRA, g[1]), t[2] = minus(even_a, kA * kRA, g[1]);
    t[3] = plus(even_b, kB * kRB, g[1]), t[4] = minus(even_b, kB * kRB, g[1]);
    t[5] = g[2];
  }
};
template <>
struct WeightsToPoints<5> {
  static constexpr int kFrom = 5, kTo = 6;
  static HWY_INLINE void apply(const V* g, V* t) {
    const V even_a = times(kRA, plus(plus(g[0], kA2, g[2]), kA2 * kA2, g[4]));
    const V even_b = times(kRB, plus(plus(g[0], kB2, g[2]), kB2 * kB2, g[4]));
    const V odd_a = plus(g[1], kA2, g[3]), odd_b = plus(g[1], kB2, g[3]);
    t[0] = times(kR0, g[0]);
    t[1] = plus(even_a, kA * kRA, odd_a), t[2] = minus(even_a, kA * kRA, odd_a);
    t[3] = plus(even_b, kB * kRB, odd_b), t[4] = minus(even_b, kB * kRB, odd_b);
    t[5] = g[4];
  }
};
template <int kTaps>
struct PointsToOutput;  // A^T
template <>
struct PointsToOutput<3> {
  static constexpr int kFrom = 6, kTo = 4;
  static HWY_INLINE void apply(const V* m, V* y) {
    const V even_a = hn::Add(m[1], m[2]), odd_a = hn::Sub(m[1], m[2]);
    const V even_b = hn::Add(m[3], m[4]), odd_b = hn::Sub(m[3], m[4]);
    y[0] = hn::Add(m[0], hn::Add(even_a, even_b));
    y[1] = plus(times(kA, odd_a), kB, odd_b);
    y[2] = plus(times(kA2, even_a), kB2, even_b);
    y[3] = plus(plus(m[5], kA2 * kA, odd_a), kB2 * kB, odd_b);
  }
};
template <>
struct PointsToOutput<5> {
  static constexpr int kFrom = 6, kTo = 2;
  static HWY_INLINE void apply(const V* m, V* y) {
    const V even_a = hn::Add(m[1], m[2]), odd_a = hn::Sub(m[1], m[2]);
    const V even_b = hn::Add(m[3], m[4]), odd_b = hn::Sub(m[3], m[4]);
    y[0] = hn::Add(m[0], hn::Add(even_a, even_b));
    y[1] = plus(plus(m[5], kA, odd_a), kB, odd_b);
  }
};
template <int kTaps>
struct OutputToPoints;  // A
template <>
struct OutputToPoints<3> {
  static constexpr int kFrom = 4, kTo = 6;
  static HWY_INLINE void apply(const V* y, V* z) {
    const V even_a = plus(y[0], kA2, y[2]), odd_a = plus(y[1], kA2, y[3]);
    const V even_b = plus(y[0], kB2, y[2]), odd_b = plus(y[1], kB2, y[3]);
    z[0] = y[0];
    z[1] = plus(even_a, kA, odd_a), z[2] = minus(even_a, kA, odd_a);
    z[3] = plus(even_b, kB, odd_b), z[4] = minus(even_b, kB, odd_b);
    z[5] = y[3];
  }
};
template <>
struct OutputToPoints<5> {
  static constexpr int kFrom = 2, kTo = 6;
  static HWY_INLINE void apply(const V* y, V* z) {
    z[0] = y[0];
    z[1] = plus(y[0], kA, y[1]), z[2] = minus(y[0], kA, y[1]);
    z[3] = plus(y[0], kB, y[1]), z[4] = minus(y[0], kB, y[1]);
    z[5] = y[1];
  }
};
template <int kTaps>
struct PointsToWeights;  // G^T
template <>
struct PointsToWeights<3> {
  static constexpr int kFrom = 6, kTo = 3;
  static HWY_INLINE void apply(const V* m, V* h) {
    const V even_a = times(kRA, hn::Add(m[1], m[2])), odd_a = times(kRA, hn::Sub(m[1], m[2]));
    const V even_b = times(kRB, hn::Add(m[3], m[4])), odd_b = times(kRB, hn::Sub(m[3], m[4]));
    h[0] = plus(hn::Add(even_a, even_b), kR0, m[0]);
    h[1] = plus(times(kA, odd_a), kB, odd_b);
    h[2] = plus(plus(m[5], kA2, even_a), kB2, even_b);
  }
};
template <>
struct PointsToWeights<5> {
  static constexpr int kFrom = 6, kTo = 5;
  static HWY_INLINE void apply(const V* m, V* h) {
    const V even_a = times(kRA, hn::Add(m[1], m[2])), odd_a = times(kRA, hn::Sub(m[1], m[2]));
    const V even_b = times(kRB, hn::Add(m[3], m[4])), odd_b = times(kRB, hn::Sub(m[3], m[4]));
    h[0] = plus(hn::Add(even_a, even_b), kR0, m[0]);
    h[1] = plus(times(kA, odd_a), kB, odd_b);
    h[2] = plus(times(kA2, even_a), kB2, even_b);
    h[3] = plus(times(kA2 * kA, odd_a), kB2 * kB, odd_b);
    h[4] = plus(plus(m[5], kA2 * kA2, even_a), kB2 * kB2, even_b);
  }
};

// X along both dimensions: load(row, column) gives a vector, store(row, column, vector) takes one.
template <class X, class Load, class Store>
HWY_INLINE void both_ways(Load load, Store store) {
  V between[X::kTo][X::kFrom];
  for (int column = 0; column < X::kFrom; ++column) {
    V from[X::kFrom], to[X::kTo];
    LIBDL_UNROLL
    for (int row = 0; row < X::kFrom; ++row) from[row] = load(row, column);
    X::apply(from, to);
    LIBDL_UNROLL
    for (int row = 0; row < X::kTo; ++row) between[row][column] = to[row];
  }
  for (int row = 0; row < X::kTo; ++row) {
    V to[X::kTo];
    X::apply(between[row], to);
    LIBDL_UNROLL
    for (int column = 0; column < X::kTo; ++column) store(row, column, to[column]);
  }
}

template <class S>
alignas(64) constexpr S kZeros[kBlock] = {};

// The kSide x kSide pixels of an image from (row, column) on; those outside are 0.
template <int kSide, class S>
struct Window {
  const S* pixels[kSide][kSide];
  bool outside[kSide][kSide];

  Window(const Plane<S>& image, int64_t number, int64_t row, int64_t column) {
    const S* const first = image.data + number * image.strides[0];
    for (int i = 0; i < kSide; ++i) {
      for (int j = 0; j < kSide; ++j) {
        const int64_t y = row + i, x = column + j;
        outside[i][j] = static_cast<uint64_t>(y) >= static_cast<uint64_t>(image.height) ||
                        static_cast<uint64_t>(x) >= static_cast<uint64_t>(image.width);
        pixels[i][j] =
            outside[i][j] ? kZeros<S> : first + y * image.strides[1] + x * image.strides[2];
      }
    }
  }
  // To the next kBlock channels.
  void advance() {
    for (int i = 0; i < kSide; ++i)
      for (int j = 0; j < kSide; ++j) pixels[i][j] += outside[i][j] ? 0 : kBlock;
  }
};

struct Place {  // of a tile
  int64_t image, row, column;

  Place(const TileGrid& grid, int64_t tile, int64_t side)
      : image(tile / grid.across / grid.down),
        row(tile / grid.across % grid.down * side),
        column(tile % grid.across * side) {}
};

// The values of a window at the points: to[point * matrix + channel], with blocks of kBlock
// channels one behind the other, or `block` apart.
template <class X, class S>
HWY_INLINE void window_to_points(Window<X::kFrom, S> window, int64_t channels, float* to,
                                 int64_t matrix, int64_t block = kBlock) {
  const D d;
  for (int64_t c0 = 0; c0 < channels; c0 += kBlock, to += block, window.advance()) {
    const int64_t count = std::min(kBlock, channels - c0);
    for (int64_t c = 0; c < count; c += kN<float>) {
      both_ways<X>(
          [&](int i, int j) { return stored::load(d, window.pixels[i][j] + c); },
          [&](int i, int j, V v) { hn::StoreU(v, d, to + (i * X::kTo + j) * matrix + c); });
    }
  }
}

// Rows [r0, r0 + rows) and kPanel columns from j on of a tensor [row, column, tap, tap] or [column,
// row, tap, tap], whose taps lie side by side: to[row - r0][tap][column - j].
template <int64_t kAll>
HWY_NOINLINE void transpose_taps(const Taps<float>& taps, int64_t r0, int64_t rows, int64_t j,
                                 float* to) {
  constexpr int64_t kWidth = kPanel<float>;
  const float* const from = taps.weights + r0 * taps.row_stride + j * taps.col_stride;
  if (taps.row_stride == kAll)
    return transpose(to, kWidth, from, taps.col_stride, kWidth, rows * kAll);
  for (int64_t r = 0; r < rows; ++r)
    transpose(to + r * kAll * kWidth, kWidth, from + r * taps.row_stride, kAll, kWidth, kAll);
}

// Rows [r0, r0 + rows) of the weights, kPanel columns each, a value for each tap.
constexpr int64_t kRowsAtOnce = 16;
template <int kTaps, class S>
class WeightRows {
 public:
  WeightRows(Taps<S> taps, int64_t r0, int64_t rows, int64_t panel) {
    const int64_t j = panel * kPanel<float>;
    if constexpr (std::is_same_v<S, float>) {
      const int64_t step = taps.strides[2];  // -1: in reverse
      if ((step == 1 || step == -1) && taps.strides[1] == step * kTaps &&
          (taps.row_stride == kAll || taps.col_stride == kAll) &&
          taps.columns - j >= kPanel<float>) {
        if (step < 0) taps.weights -= kAll - 1, first_ += (kAll - 1) * kPanel<float>;
        transpose_taps<kAll>(taps, r0, rows, j, values_);
        row_step_ = kAll * kPanel<float>, tap_step_ = step * kPanel<float>;
        return;
      }
    }
    row_step_ = kPanel<float>, tap_step_ = kRowsAtOnce * kPanel<float>;
    for (int64_t i = 0; i < kTaps; ++i)
      for (int64_t t = 0; t < kTaps; ++t)
        pack_block(values_ + (i * kTaps + t) * tap_step_,
                   {taps.weights + i * taps.strides[1] + t * taps.strides[2], taps.row_stride,
                    taps.col_stride, kStoredDtype<S>},
                   r0, rows, j, taps.columns);
  }
  HWY_INLINE V at(int i, int j, int64_t row, int64_t column) const {
    return hn::LoadU(D(), first_ + (i * kTaps + j) * tap_step_ + row * row_step_ + column);
  }

 private:
  static constexpr int64_t kAll = kTaps * kTaps;
  alignas(64) float values_[kAll * kRowsAtOnce * kPanel<float>];
  const float* first_ = values_;
  int64_t row_step_, tap_step_;
};

// Their values at the points: to[point * matrix + row - r0][column]. At most kRowsAtOnce rows.
template <int kTaps, class S>
HWY_INLINE void weights_to_points(const Taps<S>& taps, int64_t r0, int64_t rows, int64_t panel,
                                  float* to, int64_t matrix) {
  const D d;
  const WeightRows<kTaps, S> weights(taps, r0, rows, panel);
  for (int64_t r = 0; r < rows; ++r, to += kPanel<float>) {
    for (int64_t c = 0; c < kPanel<float>; c += kN<float>) {
      both_ways<WeightsToPoints<kTaps>>(
          [&](int i, int j) { return weights.at(i, j, r, c); },
          [&](int i, int j, V v) { hn::StoreU(v, d, to + (i * 6 + j) * matrix + c); });
    }
  }
}

// `count` channels of a row of the weights' gradient, to[tap * channels + channel], of the sums
// from[point * matrix + channel].
template <int kTaps>
HWY_INLINE void sums_to_weights(const float* from, int64_t matrix, int64_t count, float* to,
                                int64_t channels) {
  const D d;
  for (int64_t i = 0; i < count; i += kN<float>, from += kN<float>, to += kN<float>) {
    both_ways<PointsToWeights<kTaps>>(
        [&](int y, int x) { return hn::LoadU(d, from + (y * 6 + x) * matrix); },
        [&](int y, int x, V v) { hn::StoreU(v, d, to + (y * kTaps + x) * channels); });
  }
}

// The pixels of a tile that lie in the image, for channels [first, last), from their values
// y[point * matrix + channel - first].
template <int kTaps, class S>
HWY_INLINE void write_tile(const Plane<S>& out, const S* bias, const Place& at, int64_t first,
                           int64_t last, const float* y, int64_t matrix) {
  const D d;
  const int64_t rows = std::min(kTileOut<kTaps>, out.height - at.row);
  const int64_t columns = std::min(kTileOut<kTaps>, out.width - at.column);
  S* const to =
      out.data + at.image * out.strides[0] + at.row * out.strides[1] + at.column * out.strides[2];
  for (int64_t c = first; c < last; c += kN<float>, y += kN<float>) {
    const V shift = bias == nullptr ? hn::Zero(d) : stored::load(d, bias + c);
    both_ways<PointsToOutput<kTaps>>(
        [&](int i, int j) { return hn::LoadU(d, y + (i * 6 + j) * matrix); },
        [&](int i, int j, V v) {
          if (i < rows && j < columns)
            stored::store(hn::Add(v, shift), d, to + i * out.strides[1] + j * out.strides[2] + c);
        });
  }
}

}  // namespace winograd
}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
