// SPDX-License-Identifier: Apache-2.0

// Batch normalisation of images as they lie in a contiguous tensor: a plane of adjacent pixels for
// each sample and channel. The sums have the order of batch_norm-inl.h: the pixels of a run one
// after the other. So that vectors can be used, many runs of a channel are transposed.
#if defined(LIBDL_KERNELS_CPU_NN_BATCH_NORM_PLANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_NN_BATCH_NORM_PLANES_INL_H
#undef LIBDL_KERNELS_CPU_NN_BATCH_NORM_PLANES_INL_H
#else
#define LIBDL_KERNELS_CPU_NN_BATCH_NORM_PLANES_INL_H
#endif

#include "kernels/cpu/nn/batch_norm-inl.h"
#include "kernels/cpu/traverse/transposition.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
constexpr int64_t kAcross = 128 / sizeof(T);  // runs that are summed at once

template <class T>
struct Planes {
  const View& view;
  int64_t samples, channels, pixels, bytes;
  bool direct;  // of T: read and written in place

  explicit Planes(const View& v)
      : view(v),
        samples(v.data ? v.sizes[0] : 0),
        channels(v.data ? v.sizes[1] : 0),
        pixels(v.data ? v.sizes[2] * v.sizes[3] * v.sizes[4] : 0),
        bytes(dtype_bytes(v.dtype)),
        direct(v.dtype == (sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64)) {}

  // Whether v has such planes; of images with the channels innermost only those with one channel.
  static bool suit(const View& v) {
    if (v.data == nullptr) return true;
    const Dims pixels(v, 2, 5);
    return pixels.ndim == 1 && pixels.strides[0] == 1 && (v.sizes[1] == 1 || v.strides[1] != 1);
  }

  int64_t rows() const { return samples * pixels; }
  char* element(int64_t sample, int64_t channel, int64_t pixel) const {
    const int64_t offset = sample * view.strides[0] + channel * view.strides[1] + pixel;
    return const_cast<char*>(at(view, offset, bytes));
  }
  // `count` elements of a plane, in memory or in the tile; and to be written.
  const T* part(int64_t sample, int64_t channel, int64_t pixel, int64_t count, T* tile) const {
    if (direct) return reinterpret_cast<const T*>(element(sample, channel, pixel));
    load_tile(tile, element(sample, channel, pixel), view.dtype, 1, count);
    return tile;
  }
  T* room(int64_t sample, int64_t channel, int64_t pixel, T* tile) const {
    return direct ? reinterpret_cast<T*>(element(sample, channel, pixel)) : tile;
  }
  void write(int64_t sample, int64_t channel, int64_t pixel, int64_t count, const T* tile) const {
    if (!direct) store_tile(element(sample, channel, pixel), view.dtype, 1, tile, count);
  }
  // `count` elements of a channel from row r on, in memory or in the tile.
  const T* read(int64_t channel, int64_t r, int64_t count, T* tile) const {
    int64_t sample = r / pixels, pixel = r % pixels;
    if (direct && pixel + count <= pixels)
      return reinterpret_cast<const T*>(element(sample, channel, pixel));
    for (int64_t done = 0; done < count; pixel = 0, ++sample) {
      const int64_t n = std::min(count - done, pixels - pixel);
      load_tile(tile + done, element(sample, channel, pixel), view.dtype, 1, n);
      done += n;
    }
    return tile;
  }
};

// The sums of each column of a transposed tile; load_constant(p, i) of columns from the ith on.
template <class What, class T, class LoadConstant>
HWY_INLINE void sum_transposed(const What& what, const T* x, const T* y, int64_t rows,
                               T* (&sums)[What::kSums], LoadConstant load_constant) {
  using P = Pack<T>;
  using V = typename P::V;
  for (int64_t i = 0; i < kAcross<T>;
       i += 2 * P::n) {  // two vectors, as additions wait for another
    const int64_t j = i + P::n;
    V left[2] = {P::set(T(0)), P::set(T(0))}, right[2] = {P::set(T(0)), P::set(T(0))};
    const auto of_left = what.constants([&](const T* p) { return load_constant(p, i); });
    const auto of_right = what.constants([&](const T* p) { return load_constant(p, j); });
    for (int64_t r = 0; r < rows; ++r) {
      const T *const x_row = x + r * kAcross<T>, *const y_row = y + r * kAcross<T>;
      const V x0 = P::load(x_row + i), x1 = P::load(x_row + j);
      what.add(left, x0, What::kReadsY ? P::load(y_row + i) : x0, of_left);
      what.add(right, x1, What::kReadsY ? P::load(y_row + j) : x1, of_right);
    }
    LIBDL_UNROLL
    for (int s = 0; s < What::kSums; ++s) {
      P::store(left[s], sums[s] + i);
      P::store(right[s], sums[s] + j);
    }
  }
}

// `count` runs of a channel, of `rows` pixels each, transposed: to[pixel * kAcross + run]; zeros
// for runs that are not there.
template <class T>
HWY_INLINE void transpose_runs(const Planes<T>& image, int64_t channel, int64_t first_row,
                               int64_t rows, int64_t count, T* to) {
  alignas(64) T tile[kAcross<T> * kRun];
  if (count < kAcross<T>) std::fill_n(to, kAcross<T> * rows, T(0));
  const T* const from = image.read(channel, first_row, rows * count, tile);
  transposer(sizeof(T))(reinterpret_cast<const char*>(from), rows * int64_t{sizeof(T)}, count, rows,
                        to, kAcross<T>);
}

// f(channel, first run, runs, pixels in each) for all parts of an image, on all threads. The last
// run may be shorter, and is then a part of its own.
template <class F>
void each_group(Context& context, int64_t rows, int64_t channels, int64_t across, F f) {
  const int64_t whole = rows / kRun, rest = rows % kRun;
  const int64_t groups = (whole + across - 1) / across, parts = groups + (rest > 0);
  in_chunks(context, channels * parts, std::max<int64_t>(1, kGrain / (across * kRun)),
            [&](int64_t first, int64_t last) {
              for (int64_t i = first; i < last; ++i) {
                const int64_t channel = i / parts, group = i % parts, run = group * across;
                if (group < groups) {
                  f(channel, run, std::min(across, whole - run), kRun);
                } else {
                  f(channel, whole, int64_t{1}, rest);
                }
              }
            });
}

// f(sample, channel, first pixel, pixels) for pieces of all planes, on all threads.
template <class F>
void each_piece(Context& context, int64_t samples, int64_t channels, int64_t pixels, F f) {
  const int64_t pieces = (pixels + kGrain - 1) / kGrain;
  in_chunks(context, samples * channels * pieces,
            std::max<int64_t>(1, kGrain / std::min(kGrain, pixels)),
            [&](int64_t first, int64_t last) {
              for (int64_t i = first; i < last; ++i) {
                const int64_t plane = i / pieces, pixel = i % pieces * kGrain;
                f(plane / channels, plane % channels, pixel, std::min(kGrain, pixels - pixel));
              }
            });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
