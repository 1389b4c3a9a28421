// SPDX-License-Identifier: Apache-2.0

// The basics of the kernels: how they are declared, the thread's number, and reading elements of
// any dtype as a compute class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/args.h"
#include "kernels/convert_value.h"
#include "kernels/half.h"
#include "kernels/scalars.h"

#ifdef LIBDL_EMULATED
#include "emulator.h"
#elif defined(__CUDACC__)
// LIBDL_KERNEL: threads are independent. LIBDL_BLOCK_KERNEL: the threads of a block share memory
// and synchronise.
#define LIBDL_KERNEL(name, Params) extern "C" __global__ void name(const __grid_constant__ Params p)
#define LIBDL_BLOCK_KERNEL(name, Params) LIBDL_KERNEL(name, Params)
#endif

// A function that is never inlined: for large code that rarely runs.
#ifdef __CUDACC__
#define LIBDL_OUTLINED __device__ __noinline__
#define LIBDL_UNROLL _Pragma("unroll")
#define LIBDL_ROLLED _Pragma("unroll 1")
#else
#define LIBDL_OUTLINED
#define LIBDL_UNROLL
#define LIBDL_ROLLED
#endif

namespace libdl::kernels::cuda {

// Dimensions that fit in a launch's parameters; plans loop over further ones on the host.
constexpr int kLaunchDims = 16;

template <int kOperands>
struct Geometry {
  int64_t numel;
  int32_t ndim;
  int64_t sizes[kLaunchDims];
  int64_t strides[kOperands][kLaunchDims];  // in elements
};

#ifdef LIBDL_KERNELS

LIBDL_DEVICE int64_t first_element() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
LIBDL_DEVICE int64_t all_threads() { return int64_t{gridDim.x} * blockDim.x; }

// i / n for i below `end`.
LIBDL_DEVICE int64_t quotient_of(int64_t i, int64_t n, int64_t end) {
  if (end <= UINT32_MAX) return static_cast<uint32_t>(i) / static_cast<uint32_t>(n);
  return i / n;
}

// Elements of 16 bytes that are only moved.
struct alignas(16) Sixteen {
  uint64_t low, high;
};

// Four elements in one access, if they are aligned.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T of[4];
};

LIBDL_DEVICE bool is_aligned_to(const void* data, size_t unit) {
  return reinterpret_cast<uintptr_t>(data) % unit == 0;
}

// The operands' offsets of element i, row-major. 64-bit divisions cost several times as much as
// 32-bit ones.
template <int kOperands>
LIBDL_DEVICE void offsets_of(const Geometry<kOperands>& g, int64_t i, int64_t* offset) {
  for (int k = 0; k < kOperands; ++k) offset[k] = 0;
  if (g.numel <= UINT32_MAX) {
    auto rest = static_cast<uint32_t>(i);
    for (int d = g.ndim - 1; d >= 0; --d) {
      const auto size = static_cast<uint32_t>(g.sizes[d]);
      const uint32_t left = d == 0 ? 0 : rest / size;
      const int64_t at = rest - left * size;
      rest = left;
      for (int k = 0; k < kOperands; ++k) offset[k] += at * g.strides[k][d];
    }
    return;
  }
  for (int d = g.ndim - 1; d >= 0; --d) {
    const int64_t at = d == 0 ? i : i % g.sizes[d];
    i /= g.sizes[d];
    for (int k = 0; k < kOperands; ++k) offset[k] += at * g.strides[k][d];
  }
}

LIBDL_DEVICE int64_t offset_of(const int64_t* sizes, const int64_t* strides, int ndim, int64_t i) {
  int64_t offset = 0;
  for (int d = ndim - 1; d >= 0; --d) {
    offset += (i % sizes[d]) * strides[d];
    i /= sizes[d];
  }
  return offset;
}

// -- elements as values of a compute class ------------------------------------------------------

// V is a class's type: Bool, Int64, Uint64, float, double, Complex; T is the type in memory.
template <class V, class T>
LIBDL_DEVICE V value_of(T x) {
  if constexpr (is_integer<V>) {
    return {convert_value<decltype(V::value)>(x)};
  } else {
    return convert_value<V>(x);
  }
}
template <class T, class V>
LIBDL_DEVICE T element_of(V x) {
  if constexpr (is_integer<V>) {
    return convert_value<T>(x.value);
  } else {
    return convert_value<T>(x);
  }
}

// Calls f with a pointer of the dtype's element type. All threads have the same dtype, so the
// branch costs little.
template <class F>
LIBDL_DEVICE void with_type(int32_t dtype, F&& f) {
  switch (dtype) {
    case 1: return f(static_cast<Bool*>(nullptr));
    case 2: return f(static_cast<uint8_t*>(nullptr));
    case 3: return f(static_cast<uint16_t*>(nullptr));
    case 4: return f(static_cast<uint32_t*>(nullptr));
    case 5: return f(static_cast<uint64_t*>(nullptr));
    case 6: return f(static_cast<int8_t*>(nullptr));
    case 7: return f(static_cast<int16_t*>(nullptr));
    case 8: return f(static_cast<int32_t*>(nullptr));
    case 9: return f(static_cast<int64_t*>(nullptr));
    case 10: return f(static_cast<Half*>(nullptr));
    case 11: return f(static_cast<Bfloat*>(nullptr));
    case 12: return f(static_cast<float*>(nullptr));
    case 13: return f(static_cast<double*>(nullptr));
    case 14: return f(static_cast<Complex64*>(nullptr));
    case 15: return f(static_cast<Complex*>(nullptr));
  }
}

template <class V>
LIBDL_DEVICE V load(const void* data, int64_t i, int32_t dtype) {
  V value{};
  with_type(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    value = value_of<V>(static_cast<const T*>(data)[i]);
  });
  return value;
}
template <class V>
LIBDL_DEVICE void store(void* data, int64_t i, int32_t dtype, V value) {
  with_type(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    static_cast<T*>(data)[i] = element_of<T>(value);
  });
}

// load and store as functions that are not inlined, for where speed does not matter.
template <class V>
LIBDL_OUTLINED V load_called(const void* data, int64_t i, int32_t dtype) {
  return load<V>(data, i, dtype);
}
template <class V>
LIBDL_OUTLINED void store_called(void* data, int64_t i, int32_t dtype, V value) {
  store(data, i, dtype, value);
}

#endif  // LIBDL_KERNELS

}  // namespace libdl::kernels::cuda
