// SPDX-License-Identifier: Apache-2.0

// The values that a reduction combines: each element in its compute type, or a function of it.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/order.h"
#include "kernels/cuda/plan.h"

#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

// What is done with an output's combined value.
enum class Finish : int32_t { kNothing, kMean, kRoot2, kRoot, kZeroOfNone, kVar, kLogsumexp };

struct Reduce {
  Team team;
  int32_t finish, in_dtype, out_dtype, ndim;
  bool narrow;  // values' indices fit in 32 bits
  bool root;
  int64_t n, units;      // values per output, outputs
  int64_t parts, chunk;  // parts per output, and their length in blocks of values
  double number;
  int64_t sizes[kLaunchDims], strides[kLaunchDims];  // of the reduced dimensions
  void* out;
  const void* in;
  void* indices;
  const void* parameter;
  void* partial;     // [units, parts]; NULL: one part
  Geometry<4> kept;  // in, out, indices, parameter
};

#ifdef LIBDL_KERNELS

// -- what is combined: a function of the value, its index and a parameter of the output ---------

struct Identity {
  template <class T, class V>
  static LIBDL_DEVICE T of(V x, int64_t, T, double) {
    return x;
  }
};
struct Magnitude {
  template <class T>
  static LIBDL_DEVICE T of(T x, int64_t, T, double) {
    return Math<T>::abs(x);
  }
};
struct Square {
  template <class T>
  static LIBDL_DEVICE T of(T x, int64_t, T, double) {
    return x * x;
  }
};
struct Power {
  template <class T>
  static LIBDL_DEVICE T of(T x, int64_t, T, double p) {
    return static_cast<T>(::pow(::fabs(static_cast<double>(x)), p));
  }
};
struct NotZero {  // a NaN counts
  template <class T>
  static LIBDL_DEVICE T of(T x, int64_t, T, double) {
    return x == T(0) ? T(0) : T(1);
  }
};
struct CentredSquare {
  template <class T>
  static LIBDL_DEVICE T of(T x, int64_t, T mean, double) {
    return (x - mean) * (x - mean);
  }
};
struct ShiftedExp {
  template <class T>
  static LIBDL_DEVICE T of(T x, int64_t, T top, double) {
    return Math<T>::exp(x - (Math<T>::isinf(top) ? T(0) : top));
  }
};
struct Locate {
  template <class T, class V>
  static LIBDL_DEVICE T of(V x, int64_t r, T, double) {
    return {x, r};
  }
};

// -- reading ------------------------------------------------------------------------------------

// The offset of value r of an output.
LIBDL_DEVICE int64_t narrow_offset(const Reduce& p, uint32_t r) {
  int64_t offset = 0;
  for (int d = p.ndim - 1; d > 0; --d) {
    const auto size = static_cast<uint32_t>(p.sizes[d]);
    const uint32_t next = r / size;
    offset += (r - next * size) * p.strides[d];
    r = next;
  }
  return offset + r * p.strides[0];
}

template <class V, class E, bool kSimple>
struct Typed {
  static constexpr bool kAtOnce = true;
  const Reduce& p;
  const E* data;
  LIBDL_DEVICE Typed(const Reduce& reduce, int64_t offset)
      : p(reduce), data(static_cast<const E*>(reduce.in) + offset) {}
  LIBDL_DEVICE V operator()(int64_t r) const {
    if constexpr (kSimple) return value_of<V>(data[r * p.strides[0]]);
    return value_of<V>(data[narrow_offset(p, static_cast<uint32_t>(r))]);
  }
};
template <class V>
LIBDL_OUTLINED V read_any(const Reduce& p, int64_t start, int64_t r) {
  const int64_t at = start + offset_of(p.sizes, p.strides, p.ndim, r);
  if constexpr (std::is_same_v<V, double>) {
    if (p.in_dtype >= 14) return Math<Complex>::abs(load_called<Complex>(p.in, at, p.in_dtype)).re;
  }
  return load_called<V>(p.in, at, p.in_dtype);
}
template <class V>
struct Untyped {
  static constexpr bool kAtOnce = false;
  const Reduce& p;
  int64_t start;
  LIBDL_DEVICE Untyped(const Reduce& reduce, int64_t offset) : p(reduce), start(offset) {}
  LIBDL_DEVICE V operator()(int64_t r) const { return read_any<V>(p, start, r); }
};

// Elements that are read without testing the dtype each time.
template <class V>
struct Usual {
  using First = V;
  using Second = V;
  using Third = V;
};
template <>
struct Usual<float> {
  using First = float;
  using Second = Half;
  using Third = Bfloat;
};
template <>
struct Usual<Int64> {
  using First = int64_t;
  using Second = int32_t;
  using Third = Bool;
};
template <>
struct Usual<Uint64> {
  using First = uint64_t;
  using Second = uint64_t;
  using Third = uint64_t;
};
template <>
struct Usual<Complex> {
  using First = Complex;
  using Second = Complex64;
  using Third = Complex64;
};

template <class E>
LIBDL_DEVICE bool is_dtype(int32_t dtype) {
  if constexpr (std::is_same_v<E, Bool>) return dtype == 1;
  if constexpr (std::is_same_v<E, uint64_t>) return dtype == 5;
  if constexpr (std::is_same_v<E, int32_t>) return dtype == 8;
  if constexpr (std::is_same_v<E, int64_t>) return dtype == 9;
  if constexpr (std::is_same_v<E, Half>) return dtype == 10;
  if constexpr (std::is_same_v<E, Bfloat>) return dtype == 11;
  if constexpr (std::is_same_v<E, float>) return dtype == 12;
  if constexpr (std::is_same_v<E, double>) return dtype == 13;
  if constexpr (std::is_same_v<E, Complex64>) return dtype == 14;
  return dtype == 15;
}

// Calls f(read), where read is how elements are read.
template <class V, bool kUsual, class F>
LIBDL_DEVICE auto with_reader(const Reduce& p, int64_t offset, F&& f) {
  if constexpr (kUsual) {
    using First = typename Usual<V>::First;
    using Second = typename Usual<V>::Second;
    using Third = typename Usual<V>::Third;
    const bool simple = p.ndim <= 1;
    if (simple && is_dtype<First>(p.in_dtype)) return f(Typed<V, First, true>(p, offset));
    if (is_dtype<First>(p.in_dtype) && p.narrow) return f(Typed<V, First, false>(p, offset));
    if constexpr (!std::is_same_v<Second, First>) {
      if (simple && is_dtype<Second>(p.in_dtype)) return f(Typed<V, Second, true>(p, offset));
    }
    if constexpr (!std::is_same_v<Third, Second>) {
      if (simple && is_dtype<Third>(p.in_dtype)) return f(Typed<V, Third, true>(p, offset));
    }
  }
  return f(Untyped<V>(p, offset));
}

#endif  // LIBDL_KERNELS

}  // namespace libdl::kernels::cuda
