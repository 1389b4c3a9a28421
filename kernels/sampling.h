// SPDX-License-Identifier: Apache-2.0

// Where a grid's coordinate lies in an image: the pixels along one dimension, their weights, and
// the weights' derivatives. Shared by all devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/args/image.h"
#include "kernels/scalars.h"

namespace libdl::kernels {

constexpr int kMostTaps = 64;  // of a place: 4 x 4 x 4

// Pixels along one dimension.
constexpr int taps_of(int32_t mode) {
  return mode == Sampling::kNearest ? 1 : mode == Sampling::kBilinear ? 2 : 4;
}

// Pixels outside of the image have number -1.
template <class T>
struct Line {
  int64_t pixel[4];
  T weight[4], derivative[4];
};

// A number and its derivative by the grid's coordinate.
template <class T>
struct WithDerivative {
  T x, derivative;
};

// As a pixel's number: -1 and 1 are the first and the last pixel's centre, or their outer edges.
template <class T>
LIBDL_DEVICE WithDerivative<T> in_pixels(T x, int64_t size, bool align_corners) {
  const T n = static_cast<T>(size);
  if (align_corners) return {(x + 1) / 2 * (n - 1), (n - 1) / 2};
  return {((x + 1) * n - 1) / 2, n / 2};
}

// The nearest place inside; NaN becomes 0. At the ends and outside nothing depends on the place.
template <class T>
LIBDL_DEVICE WithDerivative<T> clipped(WithDerivative<T> at, int64_t size) {
  const T last = static_cast<T>(size - 1);
  if (!(at.x > 0)) return {0, 0};
  if (at.x >= last) return {last, 0};
  return at;
}

// Mirrored at the ends, as often as it takes.
template <class T>
LIBDL_DEVICE WithDerivative<T> reflected(WithDerivative<T> at, int64_t size, bool align_corners) {
  const T low = align_corners ? T(0) : T(-0.5);
  const T span = align_corners ? static_cast<T>(size - 1) : static_cast<T>(size);
  if (span == 0) return {0, 0};
  const bool below = at.x < low;
  const T away = below ? low - at.x : at.x - low;
  const T rest = std::fmod(away, span), turns = std::floor(away / span);
  const bool back = std::fmod(turns, T(2)) != 0;
  return {back ? span - rest + low : rest + low, below != back ? -at.derivative : at.derivative};
}

template <class T>
LIBDL_DEVICE WithDerivative<T> padded(WithDerivative<T> at, int64_t size, const Sampling& how) {
  if (how.padding == Sampling::kZeros) return at;
  if (how.padding == Sampling::kBorder) return clipped(at, size);
  return clipped(reflected(at, size, how.align_corners != 0), size);
}

// The number of the pixel at a whole number.
template <class T>
LIBDL_DEVICE int64_t pixel_at(T x, int64_t size) {
  return x >= 0 && x < static_cast<T>(size) ? static_cast<int64_t>(x) : -1;
}

// Cubic convolution with a = -0.75, for distances up to 1 and from 1 to 2.
template <class T>
struct Cubic {
  static constexpr T a = T(-0.75);
  static LIBDL_DEVICE T near(T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
  static LIBDL_DEVICE T far(T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }
  static LIBDL_DEVICE T near_derivative(T x) { return (3 * (a + 2) * x - 2 * (a + 3)) * x; }
  static LIBDL_DEVICE T far_derivative(T x) { return (3 * a * x - 10 * a) * x + 8 * a; }
};

template <class T>
LIBDL_DEVICE Line<T> cubic_line(WithDerivative<T> at, int64_t size, const Sampling& how) {
  const T whole = std::floor(at.x), t = at.x - whole;
  using C = Cubic<T>;
  Line<T> line{{}, {C::far(t + 1), C::near(t), C::near(1 - t), C::far(2 - t)}, {}};
  const T derivatives[] = {C::far_derivative(t + 1), C::near_derivative(t),
                           -C::near_derivative(1 - t), -C::far_derivative(2 - t)};
  for (int k = 0; k < 4; ++k) {
    line.pixel[k] =
        pixel_at(padded(WithDerivative<T>{whole + static_cast<T>(k - 1), 0}, size, how).x, size);
    line.derivative[k] = derivatives[k] * at.derivative;
  }
  return line;
}

template <class T>
LIBDL_DEVICE Line<T> line_at(T x, int64_t size, const Sampling& how) {
  const WithDerivative<T> here = in_pixels(x, size, how.align_corners != 0);
  if (how.mode == Sampling::kBicubic) return cubic_line(here, size, how);
  const WithDerivative<T> at = padded(here, size, how);
  if (how.mode == Sampling::kNearest) return {{pixel_at(std::rint(at.x), size)}, {T(1)}, {T(0)}};
  const T whole = std::floor(at.x);
  return {{pixel_at(whole, size), pixel_at(whole + 1, size)},
          {whole + 1 - at.x, at.x - whole},
          {-at.derivative, at.derivative}};
}

}  // namespace libdl::kernels
