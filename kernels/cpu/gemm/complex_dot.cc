// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm/complex_dot.h"

#include <algorithm>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/complex_dot.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// If a vector has only half of the lanes, this many numbers are read twice, from the L1 cache.
template <class T>
constexpr int64_t kPiece = 8192 / sizeof(T);

// Sums of the products of lanes, (re re, im im), and of one's lanes with the other's neighbours,
// (re im, im re), each four times: value i of a piece in quarter i / kLanes % 4.
template <class T>
struct Sums {
  static constexpr int64_t kLanes = 64 / sizeof(T);
  using D = hn::CappedTag<T, static_cast<size_t>(kLanes)>;
  static constexpr int64_t kN = hn::MaxLanes(D());
  alignas(64) T direct[4][kLanes] = {}, crossed[4][kLanes] = {};

  static HWY_INLINE hn::Vec<D> neighbours(const T* p, int64_t i) {
#if HWY_TARGET == HWY_SCALAR
    return hn::LoadU(D(), p + (i ^ 1));
#else
    return hn::Reverse2(D(), hn::LoadU(D(), p + i));
#endif
  }

  // `count` real numbers of each, a multiple of 4 kLanes.
  HWY_INLINE void add(const T* x, const T* y, int64_t count) {
    const D d;
    for (int64_t p = 0; p < kLanes; p += kN) {
      hn::Vec<D> a0 = hn::Load(d, direct[0] + p), a1 = hn::Load(d, direct[1] + p);
      hn::Vec<D> a2 = hn::Load(d, direct[2] + p), a3 = hn::Load(d, direct[3] + p);
      hn::Vec<D> b0 = hn::Load(d, crossed[0] + p), b1 = hn::Load(d, crossed[1] + p);
      hn::Vec<D> b2 = hn::Load(d, crossed[2] + p), b3 = hn::Load(d, crossed[3] + p);
      const auto both = [&](int64_t i, hn::Vec<D>& a, hn::Vec<D>& b) HWY_ATTR {
        const hn::Vec<D> u = hn::LoadU(d, x + i);
        a = hn::MulAdd(u, hn::LoadU(d, y + i), a);
        b = hn::MulAdd(u, neighbours(y, i), b);
      };
      for (int64_t i = p; i < count; i += 4 * kLanes) {
        both(i, a0, b0);
        both(i + kLanes, a1, b1);
        both(i + 2 * kLanes, a2, b2);
        both(i + 3 * kLanes, a3, b3);
      }
      hn::Store(a0, d, direct[0] + p), hn::Store(a1, d, direct[1] + p);
      hn::Store(a2, d, direct[2] + p), hn::Store(a3, d, direct[3] + p);
      hn::Store(b0, d, crossed[0] + p), hn::Store(b1, d, crossed[1] + p);
      hn::Store(b2, d, crossed[2] + p), hn::Store(b3, d, crossed[3] + p);
    }
  }

  // Real and imaginary lanes: quarters first, then by halves.
  static void merge(T (&sum)[4][kLanes]) {
    for (int64_t l = 0; l < kLanes; ++l) {
      sum[0][l] = (sum[0][l] + sum[2][l]) + (sum[1][l] + sum[3][l]);
    }
    for (int64_t half = kLanes / 2; half > 1; half /= 2) {
      for (int64_t l = 0; l < half; ++l) sum[0][l] += sum[0][l + half];
    }
  }
  std::complex<T> total() {
    merge(direct), merge(crossed);
    return {direct[0][0] - direct[0][1], crossed[0][0] + crossed[0][1]};
  }
};

template <class T>
std::complex<T> dot(const ComplexVector<T>& x, const ComplexVector<T>& y, int64_t k) {
  using E = std::complex<T>;
  constexpr int64_t kWhole = 2 * Sums<T>::kLanes, kCopied = 256;  // complex numbers of a step
  Sums<T> sums;
  int64_t k0 = 0;
  if (x.stride == 1 && y.stride == 1) {
    for (int64_t whole = k / kWhole * kWhole, count; k0 < whole; k0 += count) {
      count = std::min(kPiece<T>, whole - k0);
      sums.add(reinterpret_cast<const T*>(x.data + k0), reinterpret_cast<const T*>(y.data + k0),
               2 * count);
    }
  }
  alignas(64) T workspace[2][2 * kCopied];  // of E they would all be set to zero
  for (int64_t count; k0 < k; k0 += count) {
    count = std::min(kCopied, k - k0);
    const int64_t padded = (count + kWhole - 1) / kWhole * kWhole;
    for (int side : {0, 1}) {
      const ComplexVector<T>& v = side == 0 ? x : y;
      E* const copy = reinterpret_cast<E*>(workspace[side]);
      for (int64_t i = 0; i < count; ++i) copy[i] = v.data[(k0 + i) * v.stride];
      std::fill(copy + count, copy + padded, E(0));
    }
    sums.add(workspace[0], workspace[1], 2 * padded);
  }
  return sums.total();
}

void dot_f32(const ComplexVector<float>& x, const ComplexVector<float>& y, int64_t k,
             std::complex<float>* sum) {
  *sum = dot(x, y, k);
}
void dot_f64(const ComplexVector<double>& x, const ComplexVector<double>& y, int64_t k,
             std::complex<double>* sum) {
  *sum = dot(x, y, k);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

template <>
std::complex<float> complex_dot(const ComplexVector<float>& x, const ComplexVector<float>& y,
                                int64_t k) {
  std::complex<float> sum;
  LIBDL_ON_ISA(dot_f32, x, y, k, &sum);
  return sum;
}
template <>
std::complex<double> complex_dot(const ComplexVector<double>& x, const ComplexVector<double>& y,
                                 int64_t k) {
  std::complex<double> sum;
  LIBDL_ON_ISA(dot_f64, x, y, k, &sum);
  return sum;
}

}  // namespace libdl::kernels::cpu
#endif
