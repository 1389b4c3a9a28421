// SPDX-License-Identifier: Apache-2.0

// What the kernels of batch normalisation share. An image is a matrix here: a row for each pixel,
// with a column for each channel.
#if defined(LIBDL_KERNELS_CPU_NN_BATCH_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_NN_BATCH_NORM_INL_H
#undef LIBDL_KERNELS_CPU_NN_BATCH_NORM_INL_H
#else
#define LIBDL_KERNELS_CPU_NN_BATCH_NORM_INL_H
#endif

#include <libdl/dtype.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/row_tiles-inl.h"
#include "kernels/cpu/traverse/walk.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kSpan = 512;    // columns whose sums one thread makes at once
constexpr int64_t kTogether = 4;  // rows for which a sum is loaded and stored once
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

// Whether the channels are innermost and the pixels adjacent, as in a contiguous matrix.
inline bool is_matrix(const View& image) {
  int64_t step = 1;
  for (const int d : {1, 4, 3, 2, 0}) {
    if (image.sizes[d] > 1 && image.strides[d] != step) return false;
    step *= image.sizes[d];
  }
  return true;
}

// `rows` rows of such an image, each of several pixels.
struct Matrix {
  int64_t sizes[2], strides[2];
  View view;

  Matrix(const View& image, int64_t first, int64_t rows, int64_t columns)
      : sizes{rows, columns}, strides{columns, 1}, view(image) {
    if (image.data == nullptr) return;
    view.data = const_cast<char*>(at(image, first, dtype_bytes(image.dtype)));
    view.sizes = sizes, view.strides = strides, view.ndim = 2;
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
};

// Such an image by rows of several pixels, which are quicker than many short ones, and what belongs
// to a channel as often as a row has pixels.
template <class T>
class Joined {
 public:
  Joined(Context& context, const View& image, std::initializer_list<const T*> vectors)
      : channels_(image.sizes[1]),
        pixels_(numel(image) / channels_),
        together_(channels_ >= kWide ? 1 : (kWide + channels_ - 1) / channels_),
        scratch_(context, std::ssize(vectors) * width() * int64_t{sizeof(T)}) {
    if (failed()) return;
    T* to = static_cast<T*>(scratch_.data());
    for (const T* const v : vectors)
      for (int64_t k = 0; k < together_; ++k, to += channels_) std::copy_n(v, channels_, to);
  }
  bool failed() const { return scratch_.failed(); }
  const T* vector(int64_t number) const {
    return static_cast<const T*>(scratch_.data()) + number * width();
  }
  // f(first element, rows, columns) of all whole rows, and of what is left.
  template <class F>
  void each(F f) const {
    const int64_t rows = pixels_ / together_, rest = pixels_ % together_;
    if (rows > 0) f(int64_t{0}, rows, width());
    if (rest > 0) f(rows * width(), int64_t{1}, rest * channels_);
  }

 private:
  static constexpr int64_t kWide = 256;
  int64_t width() const { return together_ * channels_; }

  const int64_t channels_, pixels_, together_;
  const Scratch scratch_;
};

template <class T>
const T* vector_of(const View& v) {
  return static_cast<const T*>(v.data);
}

struct Rows {
  int64_t first, last;
  int64_t count() const { return last - first; }
};

// -- sums over pixels -----------------------------------------------------------------------------

// `What` has kSums sums of a column, to which add() adds values x and y of a row, and kReadsY. Its
// constants, vectors of the columns from the ith on, are loaded once for several rows.

// Adds R rows, in sequence, to the sums of columns [i, i + n).
template <int R, class What, class T, class Load, class Store>
HWY_INLINE void add_rows(const What& what, const T* const (&x)[kTogether],
                         const T* const (&y)[kTogether], int64_t i, T* (&sums)[What::kSums],
                         Load load, Store store) {
  using V = typename Pack<T>::V;
  V sum[2];  // not kSums: gcc 12.2 fails in an array of one vector
  LIBDL_UNROLL
  for (int s = 0; s < What::kSums; ++s) sum[s] = load(sums[s] + i);
  const auto constants = what.constants([&](const T* p) { return load(p + i); });
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    const V xs = load(x[r] + i);
    what.add(sum, xs, What::kReadsY ? load(y[r] + i) : xs, constants);
  }
  LIBDL_UNROLL
  for (int s = 0; s < What::kSums; ++s) store(sum[s], sums[s] + i);
}

template <int R, class What, class T>
HWY_INLINE void add_rows(const What& what, const T* const (&x)[kTogether],
                         const T* const (&y)[kTogether], int64_t count, T* (&sums)[What::kSums]) {
  using P = Pack<T>;
  const typename P::D d;
  int64_t i = 0;
  for (; i + P::n <= count; i += P::n) {
    add_rows<R>(
        what, x, y, i, sums, [](const T* p) { return P::load(p); },
        [](auto v, T* p) { P::store(v, p); });
  }
  if (i == count) return;
  const int64_t rest = count - i;
  add_rows<R>(
      what, x, y, i, sums, [&](const T* p) { return first::load(d, rest, p); },
      [&](auto v, T* p) { first::store(v, d, rest, p); });
}

// The sums over the rows of `count` columns from `column` on, at most kSpan. `what` is of these
// columns.
template <class What, class T>
void sum_rows(const What& what, const RowTiles<T>& x, const RowTiles<T>& y, Rows rows,
              int64_t column, int64_t count, T* (&sums)[What::kSums]) {
  alignas(64) T x_tiles[kTogether][kSpan], y_tiles[What::kReadsY ? kTogether : 1][kSpan];
  for (T* const sum : sums) std::fill_n(sum, count, T(0));
  const T* xs[kTogether];
  const T* ys[kTogether];
  for (int64_t r = rows.first; r < rows.last; r += kTogether) {
    const int64_t together = std::min(kTogether, rows.last - r);
    for (int64_t k = 0; k < together; ++k) {
      xs[k] = x.read(r + k, column, count, x_tiles[k]);
      ys[k] = What::kReadsY ? y.read(r + k, column, count, y_tiles[k]) : xs[k];
    }
    if (together == kTogether) {
      add_rows<kTogether>(what, xs, ys, count, sums);
    } else {
      for (int64_t k = 0; k < together; ++k) {
        xs[0] = xs[k], ys[0] = ys[k];
        add_rows<1>(what, xs, ys, count, sums);
      }
    }
  }
}

// f(run, rows, first column, columns) for all parts of an image, on all threads.
template <class F>
void each_part(Context& context, int64_t rows, int64_t columns, F f) {
  const int64_t spans = (columns + kSpan - 1) / kSpan;
  const int64_t runs = (rows + kRun - 1) / kRun;
  const int64_t each = std::min(rows, kRun) * std::min(columns, kSpan);
  in_chunks(context, runs * spans, std::max<int64_t>(1, kGrain / each),
            [&](int64_t first, int64_t last) {
              for (int64_t part = first; part < last; ++part) {
                const int64_t run = part / spans, column = part % spans * kSpan;
                f(run, Rows{run * kRun, std::min(run * kRun + kRun, rows)}, column,
                  std::min(kSpan, columns - column));
              }
            });
}

// -- row by row -----------------------------------------------------------------------------------

// f(load, store, i) for each vector of n columns; the last may be a part of one.
template <class T, class F>
HWY_INLINE void each_vector(int64_t n, F f) {
  using P = Pack<T>;
  const typename P::D d;
  int64_t i = 0;
  for (; i + P::n <= n; i += P::n)
    f([](const T* p) { return P::load(p); }, [](auto v, T* p) { P::store(v, p); }, i);
  if (i == n) return;
  f([&](const T* p) { return first::load(d, n - i, p); },
    [&](auto v, T* p) { first::store(v, d, n - i, p); }, i);
}

template <class F>
void with_compute(int32_t dtype, F f) {
  if (dtype == LIBDL_DTYPE_FLOAT64) return f(double());
  f(float());
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
