// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/tile.h"

#include <libdl/dtype.h>

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

namespace libdl::kernels::cpu {
namespace {

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
struct Bool {
  uint8_t bits;
};

float to_float(Half h) {
  const uint32_t sign = uint32_t{h.bits & 0x8000u} << 16;
  const uint32_t rest = h.bits & 0x7fffu;
  if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
  // Moves the exponent by 112 = 127 - 15 with a product, which also normalises subnormals.
  const float magnitude = std::bit_cast<float>(rest << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

float to_float(Bfloat b) { return std::bit_cast<float>(uint32_t{b.bits} << 16); }

Half to_half(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u)};
  if (rest >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // rounds above 65504
  if (rest < 0x38800000u) {  // subnormal: adding 0.5 rounds to multiples of 2^-24
    const float shifted = std::bit_cast<float>(rest) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u))};
  }
  const uint32_t even = rest + 0xfffu + ((rest >> 13) & 1u);
  return {static_cast<uint16_t>(sign | ((even - 0x38000000u) >> 13))};
}

Bfloat to_bfloat(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

template <class T>
constexpr bool is_complex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// Converting a floating value that an integer cannot hold is undefined in C++: saturate.
template <class I>
I to_integer(double x) {
  if (!(x == x)) return 0;
  if (x <= static_cast<double>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  if (x >= static_cast<double>(std::numeric_limits<I>::max())) return std::numeric_limits<I>::max();
  return static_cast<I>(x);
}

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, Bfloat>) {
    return convert<To>(to_float(x));
  } else if constexpr (std::is_same_v<From, Bool>) {
    return convert<To>(static_cast<uint8_t>(x.bits != 0));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return {static_cast<uint8_t>(x != From{})};
  } else if constexpr (std::is_same_v<To, Half>) {
    return to_half(convert<float>(x));
  } else if constexpr (std::is_same_v<To, Bfloat>) {
    return to_bfloat(convert<float>(x));
  } else if constexpr (is_complex<To>) {
    if constexpr (is_complex<From>) {
      return To(static_cast<typename To::value_type>(x.real()),
                static_cast<typename To::value_type>(x.imag()));
    } else {
      return To(static_cast<typename To::value_type>(x));
    }
  } else if constexpr (is_complex<From>) {
    return convert<To>(x.real());
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return static_cast<To>(std::is_same_v<To, uint64_t> ? to_integer<uint64_t>(x)
                                                        : to_integer<int64_t>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class T, class E>
void load(T* tile, const E* data, int64_t stride, int64_t n) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<E, Half> || std::is_same_v<E, Bfloat>) {
        tile[i] = (data[i * stride].bits & 0x7fffu) != 0;
      } else if constexpr (std::is_same_v<E, Bool>) {
        tile[i] = data[i * stride].bits != 0;
      } else {
        tile[i] = data[i * stride] != E{};
      }
    }
  } else {
    if constexpr (std::is_same_v<T, E>) {
      if (stride == 1) {
        std::memcpy(tile, data, n * sizeof(T));
        return;
      }
    }
    for (int64_t i = 0; i < n; ++i) tile[i] = convert<T>(data[i * stride]);
  }
}

template <class T, class E>
void store(E* data, int64_t stride, const T* tile, int64_t n) {
  for (int64_t i = 0; i < n; ++i) data[i * stride] = convert<E>(tile[i]);
}

template <class F>
void with_element(int32_t dtype, F&& f) {
  switch (dtype) {
    case LIBDL_DTYPE_BOOL:
      return f(Bool{});
    case LIBDL_DTYPE_UINT8:
      return f(uint8_t{});
    case LIBDL_DTYPE_UINT16:
      return f(uint16_t{});
    case LIBDL_DTYPE_UINT32:
      return f(uint32_t{});
    case LIBDL_DTYPE_UINT64:
      return f(uint64_t{});
    case LIBDL_DTYPE_INT8:
      return f(int8_t{});
    case LIBDL_DTYPE_INT16:
      return f(int16_t{});
    case LIBDL_DTYPE_INT32:
      return f(int32_t{});
    case LIBDL_DTYPE_INT64:
      return f(int64_t{});
    case LIBDL_DTYPE_FLOAT16:
      return f(Half{});
    case LIBDL_DTYPE_BFLOAT16:
      return f(Bfloat{});
    case LIBDL_DTYPE_FLOAT32:
      return f(float{});
    case LIBDL_DTYPE_FLOAT64:
      return f(double{});
    case LIBDL_DTYPE_COMPLEX64:
      return f(std::complex<float>{});
    case LIBDL_DTYPE_COMPLEX128:
      return f(std::complex<double>{});
  }
}

}  // namespace

template <class T>
void load_tile(T* tile, const void* data, int32_t dtype, int64_t stride, int64_t n) {
  with_element(dtype,
               [&](auto e) { load(tile, static_cast<const decltype(e)*>(data), stride, n); });
}

template <class T>
void store_tile(void* data, int32_t dtype, int64_t stride, const T* tile, int64_t n) {
  with_element(dtype, [&](auto e) { store(static_cast<decltype(e)*>(data), stride, tile, n); });
}

int64_t dtype_bytes(int32_t dtype) {
  int64_t bytes = 0;
  with_element(dtype, [&](auto e) { bytes = sizeof(e); });
  return bytes;
}

#define LIBDL_TILE(T)                                                     \
  template void load_tile<T>(T*, const void*, int32_t, int64_t, int64_t); \
  template void store_tile<T>(void*, int32_t, int64_t, const T*, int64_t);
LIBDL_TILE(float)
LIBDL_TILE(double)
LIBDL_TILE(int64_t)
LIBDL_TILE(uint64_t)
LIBDL_TILE(std::complex<double>)
LIBDL_TILE(uint8_t)
#undef LIBDL_TILE

}  // namespace libdl::kernels::cpu
