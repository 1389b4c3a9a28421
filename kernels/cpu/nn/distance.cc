// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/kernels.h"

#include <libdl/dtype.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/nn/distance_rows.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/nn/distance.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/traverse/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int kPanelVectors = 4;
template <class T>
constexpr int64_t kPanel = kPanelVectors * Pack<T>::n;  // rows of y side by side
constexpr int kRowsAtOnce = HWY_TARGET == HWY_AVX3 ? 4 : 2;
constexpr int64_t kTileRows = 64;
constexpr int64_t kRowsOfPanel = 512;  // for which a panel is packed once

// Distances of rows of x from one panel of y, whose sums stay in the cache. A sum takes runs of
// kRun columns in sequence, and then the runs.
template <class T, bool kSquares>
class DistanceTiles {
  using P = Pack<T>;
  static constexpr int64_t kWidth = kPanel<T>;

 public:
  static constexpr int64_t kRoom = kWidth * (kDistanceDepth + kTileRows);

  DistanceTiles(const DistanceArgs& a, T* room)
      : a_(a),
        x_(a.x),
        y_(a.y),
        depth_(a.x.sizes[2]),
        panel_(room),
        sums_(room + kWidth * kDistanceDepth) {}

  // Rows i to i + rows from rows j to j + columns.
  void write(int64_t b, int64_t i, int64_t rows, int64_t j, int64_t columns) {
    if (a_.pairs && i >= j + columns - 1) return;
    std::fill_n(sums_, rows * kWidth, T(0));
    for (int64_t k = 0; k < depth_; k += kDistanceDepth) {
      const int64_t depth = std::min(kDistanceDepth, depth_ - k);
      if (k > 0 || depth < depth_ || packed_batch_ != b || packed_row_ != j)
        y_.pack(b, j, columns, k, depth, kWidth, panel_);
      packed_batch_ = b, packed_row_ = j;
      for (int64_t run = 0; run < depth; run += kRun)
        add(x_.at(b, i, k + run), rows, columns, panel_ + run * kWidth,
            std::min(kRun, depth - run));
    }
    for (int64_t r = 0; r < rows; ++r) finish(b, i + r, j, columns, sums_ + r * kWidth);
  }

 private:
  void add(const T* x, int64_t rows, int64_t columns, const T* panel, int64_t n) {
    int64_t r = 0;
    if (columns > 3 * P::n)
      for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce)
        add_run<kRowsAtOnce, kPanelVectors>(x + r * x_.row, panel, n, sums_ + r * kWidth);
    for (; r + 4 <= rows; r += 4)
      for (int64_t c = 0; c < columns; c += P::n)
        add_run<4, 1>(x + r * x_.row, panel + c, n, sums_ + r * kWidth + c);
    for (; r < rows; ++r)
      for (int64_t c = 0; c < columns; c += P::n)
        add_run<1, 1>(x + r * x_.row, panel + c, n, sums_ + r * kWidth + c);
  }

  // The sums of kRows rows and kVectors vectors of the panel over n columns.
  template <int kRows, int kVectors>
  HWY_INLINE void add_run(const T* x, const T* panel, int64_t n, T* sums) const {
    typename P::V sum[kRows][kVectors], y[kVectors];
    LIBDL_UNROLL
    for (int r = 0; r < kRows; ++r) LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[r][v] = P::set(0);
    for (int64_t k = 0; k < n; ++k) {
      LIBDL_UNROLL
      for (int v = 0; v < kVectors; ++v) y[v] = P::load(panel + k * kWidth + v * P::n);
      LIBDL_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const auto one = P::set(x[r * x_.row + k * x_.column]);
        LIBDL_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          const auto difference = hn::Sub(one, y[v]);
          sum[r][v] = kSquares ? hn::MulAdd(difference, difference, sum[r][v])
                               : hn::Add(sum[r][v], hn::Abs(difference));
        }
      }
    }
    LIBDL_UNROLL
    for (int r = 0; r < kRows; ++r) LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      T* const to = sums + r * kWidth + v * P::n;
      P::store(hn::Add(P::load(to), sum[r][v]), to);
    }
  }

  // The roots of one row's sums, those in pairs only behind the diagonal.
  void finish(int64_t b, int64_t i, int64_t j, int64_t columns, T* sums) const {
    if constexpr (kSquares) {
      for (int64_t c = 0; c < columns; c += P::n) {
        const auto sum = P::load(sums + c);
        const auto lost = hn::Or(hn::Lt(sum, P::set(kTiny)),
                                 hn::Eq(sum, P::set(std::numeric_limits<T>::infinity())));
        P::store(hn::Sqrt(sum), sums + c);
        if (HWY_UNLIKELY(!hn::AllFalse(typename P::D(), lost)))
          for (int64_t v = c; v < std::min(columns, c + P::n); ++v)
            if (sums[v] < kTinyRoot || sums[v] > std::numeric_limits<T>::max())
              sums[v] = scaled(b, i, j + v);
      }
    }
    const int64_t first = a_.pairs ? std::clamp<int64_t>(i + 1 - j, 0, columns) : 0;
    if (first == columns) return;
    const int64_t place = distance_offset(a_.out.strides, a_.pairs, a_.x.sizes[1], b, i, j + first);
    std::copy(sums + first, sums + columns, static_cast<T*>(a_.out.data) + place);
  }

  // One distance, of differences times a power of two.
  T scaled(int64_t b, int64_t i, int64_t j) const {
    const T *const x = x_.at(b, i, 0), *const y = y_.at(b, j, 0);
    T largest = 0;
    for (int64_t k = 0; k < depth_; ++k)
      largest = std::max(largest, std::abs(x[k * x_.column] - y[k * y_.column]));
    if (!(largest > 0) || std::isinf(largest)) return largest;
    // Subnormal numbers are cut off: their scale would be infinite.
    const int exponent = std::min(-std::ilogb(largest), std::numeric_limits<T>::max_exponent - 1);
    RunSum<T> sum;
    for (int64_t k = 0; k < depth_; ++k) {
      const T difference = std::ldexp(x[k * x_.column] - y[k * y_.column], exponent);
      sum += difference * difference;
    }
    return std::ldexp(std::sqrt(sum.result()), -exponent);
  }

  // Sums below this may have lost terms on the way.
  static constexpr T kTiny = std::is_same_v<T, float> ? T(0x1p-80f) : T(0x1p-900);
  static constexpr T kTinyRoot = std::is_same_v<T, float> ? T(0x1p-40f) : T(0x1p-450);

  const DistanceArgs& a_;
  const DistanceRows<const T> x_, y_;
  const int64_t depth_;
  T *const panel_, *const sums_;
  int64_t packed_batch_ = -1, packed_row_ = -1;
};

template <class T, bool kSquares>
void distances(Context& context, const DistanceArgs& a) {
  const int64_t n = a.x.sizes[1], m = a.y.sizes[1];
  const int64_t panels = (m + kPanel<T> - 1) / kPanel<T>;
  const int64_t parts = (n + kRowsOfPanel - 1) / kRowsOfPanel;
  using Tiles = DistanceTiles<T, kSquares>;
  each_distance_item<T>(context, a.x.sizes[0] * panels * parts,
                        std::min(n, kRowsOfPanel) * kPanel<T> * a.x.sizes[2], Tiles::kRoom,
                        [&](T* room, int64_t first, int64_t last) {
                          Tiles work(a, room);
                          for (int64_t item = first; item < last; ++item) {
                            const int64_t panel = item / parts, j = panel % panels * kPanel<T>;
                            const int64_t begin = item % parts * kRowsOfPanel;
                            const int64_t end = std::min(n, begin + kRowsOfPanel);
                            for (int64_t i = begin; i < end; i += kTileRows)
                              work.write(panel / panels, i, std::min(kTileRows, end - i), j,
                                         std::min(kPanel<T>, m - j));
                          }
                        });
}

void distances_on(Context& context, const DistanceArgs& a) {
  if (a.x.dtype == LIBDL_DTYPE_FLOAT64)
    a.p == 2 ? distances<double, true>(context, a) : distances<double, false>(context, a);
  else
    a.p == 2 ? distances<float, true>(context, a) : distances<float, false>(context, a);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void distance(Context& context, const DistanceArgs& a) { LIBDL_ON_ISA(distances_on, context, a); }

}  // namespace libdl::kernels::cpu
#endif
