// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/nn/distance_rows.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/transposition.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/nn/distance_backward.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/traverse/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int kLaneVectors = HWY_TARGET == HWY_AVX3 ? 2 : 1;
template <class T>
constexpr int64_t kLanesAtOnce = kLaneVectors * Pack<T>::n;  // rows of x side by side
constexpr int kColumnsAtOnce = 4;

// The gradients of a panel of rows of x in some columns: sums over the rows of y, runs of kRun in
// sequence, and then the runs.
template <class T, bool kSquares>
class DistanceGradients {
  using P = Pack<T>;
  using D = typename P::D;
  static constexpr int64_t kWidth = kLanesAtOnce<T>;

 public:
  static constexpr int64_t kRoom = kWidth * (2 * kDistanceDepth + 2 * kRun);

  DistanceGradients(const DistanceBackwardArgs& a, T* room)
      : a_(a),
        dx_(a.dx),
        x_(a.x),
        y_(a.y),
        panel_(room),
        sums_(room + kWidth * kDistanceDepth),
        weights_(sums_ + kWidth * kDistanceDepth),
        lines_(weights_ + kWidth * kRun) {}

  void write(int64_t b, int64_t i, int64_t rows, int64_t k, int64_t depth) {
    const int64_t m = a_.y.sizes[1];
    x_.pack(b, i, rows, k, depth, kWidth, panel_);
    std::fill_n(sums_, depth * kWidth, T(0));
    for (int64_t j = 0; j < m; j += kRun) {
      const int64_t n = std::min(kRun, m - j);
      const bool side_by_side = !a_.pairs && a_.dout.strides[1] == 1 && a_.out.strides[1] == 1;
      if (!side_by_side || rows < kWidth || !weigh_at_once(b, i, j, n))
        weigh_lines(b, i, rows, j, n, k, depth);
      int64_t c = 0;
      const T* const y = y_.at(b, j, k);
      for (; c + kColumnsAtOnce <= depth; c += kColumnsAtOnce)
        add_run<kColumnsAtOnce>(y + c * y_.column, n, c);
      for (; c < depth; ++c) add_run<1>(y + c * y_.column, n, c);
    }
    for (int64_t r = 0; r < rows; ++r) {
      T* const to = dx_.at(b, i + r, k);
      for (int64_t c = 0; c < depth; ++c) to[c * dx_.column] = sums_[c * kWidth + r];
    }
  }

 private:
  // weights[., r] = by what the differences of row i + r and n rows of y from j on are multiplied.
  void weigh_lines(int64_t b, int64_t i, int64_t rows, int64_t j, int64_t n, int64_t k,
                   int64_t depth) {
    for (int64_t r = 0; r < rows; ++r) weigh(b, i, r, j, n, k, depth);
    for (int64_t t = rows * kRun; t < kWidth * kRun; t += P::n) P::store(P::set(0), lines_ + t);
    transposer(sizeof(T))(reinterpret_cast<const char*>(lines_), kRun * int64_t{sizeof(T)}, kWidth,
                          n, weights_, kWidth);
  }

  void weigh(int64_t b, int64_t i, int64_t r, int64_t j, int64_t n, int64_t k, int64_t depth) {
    T* const weight = lines_ + r * kRun;
    if constexpr (!kSquares) {
      const T* const dout = values(a_.dout, b, i + r, j, n, weight);
      for (int64_t t = 0; t < kRun; t += P::n) P::store(P::load(dout + t), weight + t);
    } else {
      alignas(64) T copies[2][kRun];
      const T* const dout = values(a_.dout, b, i + r, j, n, copies[0]);
      const T* const out = values(a_.out, b, i + r, j, n, copies[1]);
      for (int64_t t = 0; t < kRun; t += P::n) {
        auto odd = hn::IsNaN(hn::Zero(D()));
        P::store(quotient_of(P::load(dout + t), P::load(out + t), &odd), weight + t);
        if (HWY_LIKELY(hn::AllFalse(D(), odd))) continue;
        for (int64_t v = t; v < std::min(n, t + P::n); ++v)
          if (out[v] != 0 && dout[v] != 0 && !is_ordinary(weight[v])) {
            add_apart(b, i + r, r, j + v, k, depth, dout[v], out[v]);
            weight[v] = 0;
          }
      }
    }
  }

  // The same for a whole panel whose rows are adjacent in dout and out; false if one is beyond.
  bool weigh_at_once(int64_t b, int64_t i, int64_t j, int64_t n) {
    const auto at = [&](const View& v) {
      return static_cast<const T*>(v.data) + distance_offset(v.strides, false, 0, b, i, j);
    };
    const T *const dout = at(a_.dout), *const out = at(a_.out);
    auto odd = hn::IsNaN(hn::Zero(D()));
    const int64_t next = std::min(kRun, a_.y.sizes[1] - j - n);
    for (int64_t t = 0; t < n; ++t)
      for (int64_t r = 0; r < kWidth; r += P::n) {
        if (t < next) {  // the processor does not foresee strides of more than a page
          __builtin_prefetch(dout + (t + kRun) * a_.dout.strides[2] + r);
          if (kSquares) __builtin_prefetch(out + (t + kRun) * a_.out.strides[2] + r);
        }
        const auto given = P::load(dout + t * a_.dout.strides[2] + r);
        auto weight = given;
        if constexpr (kSquares) {
          const auto root = P::load(out + t * a_.out.strides[2] + r);
          weight = quotient_of(given, root, &odd);
        }
        P::store(weight, weights_ + t * kWidth + r);
      }
    return hn::AllFalse(D(), odd);
  }

  // given / root, 0 where root is; `odd` becomes true where the quotient is not ordinary.
  static HWY_INLINE typename P::V quotient_of(typename P::V given, typename P::V root,
                                              hn::Mask<D>* odd) {
    const auto zero = P::set(0);
    const auto quotient = hn::IfThenZeroElse(hn::Eq(root, zero), hn::Div(given, root));
    const auto size = hn::Abs(quotient);
    const auto beyond = hn::Or(hn::Lt(size, P::set(kLeast)), hn::Gt(size, P::set(kMost)));
    const auto nothing = hn::Or(hn::Eq(root, zero), hn::Eq(given, zero));
    *odd = hn::Or(*odd, hn::AndNot(nothing, beyond));
    return quotient;
  }

  // kRun values, those of row i and n rows of y from j on and then zeros: where they are, or
  // copied.
  const T* values(const View& from, int64_t b, int64_t i, int64_t j, int64_t n, T* copy) const {
    const T* const data = static_cast<const T*>(from.data);
    const int64_t rows = a_.x.sizes[1];
    if (!a_.pairs && from.strides[2] == 1 && n == kRun)
      return data + distance_offset(from.strides, false, rows, b, i, j);
    for (int64_t t = 0; t < kRun; t += P::n) P::store(P::set(0), copy + t);
    for (int64_t t = 0; t < n; ++t)
      if (!a_.pairs || i != j + t)
        copy[t] = data[distance_offset(from.strides, a_.pairs, rows, b, i, j + t)];
    return copy;
  }

  // Whether a weight times a difference leaves the range of T only where the gradient does.
  static bool is_ordinary(T weight) {
    return std::isnan(weight) || (std::abs(weight) >= kLeast && std::abs(weight) <= kMost);
  }
  void add_apart(int64_t b, int64_t i, int64_t r, int64_t j, int64_t k, int64_t depth, T dout,
                 T out) {
    for (int64_t c = 0; c < depth; ++c)
      sums_[c * kWidth + r] += (*x_.at(b, i, k + c) - *y_.at(b, j, k + c)) / out * dout;
  }
  static constexpr T kLeast = std::is_same_v<T, float> ? T(0x1p-90f) : T(0x1p-900);
  static constexpr T kMost = std::is_same_v<T, float> ? T(0x1p90f) : T(0x1p900);

  template <int kColumns>
  HWY_INLINE void add_run(const T* y, int64_t n, int64_t c) const {
    typename P::V x[kColumns][kLaneVectors], sum[kColumns][kLaneVectors], weight[kLaneVectors];
    LIBDL_UNROLL
    for (int k = 0; k < kColumns; ++k) LIBDL_UNROLL
    for (int v = 0; v < kLaneVectors; ++v) {
      x[k][v] = P::load(panel_ + (c + k) * kWidth + v * P::n);
      sum[k][v] = P::set(0);
    }
    for (int64_t j = 0; j < n; ++j) {
      LIBDL_UNROLL
      for (int v = 0; v < kLaneVectors; ++v) weight[v] = P::load(weights_ + j * kWidth + v * P::n);
      LIBDL_UNROLL
      for (int k = 0; k < kColumns; ++k) {
        const auto one = P::set(y[j * y_.row + k * y_.column]);
        LIBDL_UNROLL
        for (int v = 0; v < kLaneVectors; ++v) {
          const auto difference = hn::Sub(x[k][v], one);
          sum[k][v] = kSquares ? hn::MulAdd(weight[v], difference, sum[k][v])
                               : hn::Add(sum[k][v], with_sign(weight[v], difference));
        }
      }
    }
    LIBDL_UNROLL
    for (int k = 0; k < kColumns; ++k) LIBDL_UNROLL
    for (int v = 0; v < kLaneVectors; ++v) {
      T* const to = sums_ + (c + k) * kWidth + v * P::n;
      P::store(hn::Add(P::load(to), sum[k][v]), to);
    }
  }

  // weight sign(difference); the sign of a NaN is a NaN.
  static HWY_INLINE typename P::V with_sign(typename P::V weight, typename P::V difference) {
    const D d;
    const auto turned = hn::Xor(weight, hn::And(difference, hn::SignBit(d)));
    const auto there = hn::IfThenZeroElse(hn::Eq(difference, hn::Zero(d)), turned);
    return hn::IfThenElse(hn::IsNaN(difference), difference, there);
  }

  const DistanceBackwardArgs& a_;
  const DistanceRows<T> dx_;
  const DistanceRows<const T> x_, y_;
  T *const panel_, *const sums_, *const weights_, *const lines_;
};

template <class T, bool kSquares>
void gradients(Context& context, const DistanceBackwardArgs& a) {
  using Gradients = DistanceGradients<T, kSquares>;
  constexpr int64_t kLanes = kLanesAtOnce<T>;
  const int64_t n = a.x.sizes[1], d = a.x.sizes[2];
  const int64_t panels = (n + kLanes - 1) / kLanes;
  const int64_t blocks = (d + kDistanceDepth - 1) / kDistanceDepth;
  each_distance_item<T>(context, a.x.sizes[0] * panels * blocks,
                        kLanes * a.y.sizes[1] * (std::min(d, kDistanceDepth) + 4), Gradients::kRoom,
                        [&](T* room, int64_t first, int64_t last) {
                          Gradients work(a, room);
                          for (int64_t item = first; item < last; ++item) {
                            const int64_t k = item % blocks * kDistanceDepth, panel = item / blocks;
                            const int64_t i = panel % panels * kLanes;
                            work.write(panel / panels, i, std::min(kLanes, n - i), k,
                                       std::min(kDistanceDepth, d - k));
                          }
                        });
}

void gradients_on(Context& context, const DistanceBackwardArgs& a) {
  if (a.x.dtype == LIBDL_DTYPE_FLOAT64)
    a.p == 2 ? gradients<double, true>(context, a) : gradients<double, false>(context, a);
  else
    a.p == 2 ? gradients<float, true>(context, a) : gradients<float, false>(context, a);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void distance_backward(Context& context, const DistanceBackwardArgs& a) {
  LIBDL_ON_ISA(gradients_on, context, a);
}

}  // namespace libdl::kernels::cpu
#endif
