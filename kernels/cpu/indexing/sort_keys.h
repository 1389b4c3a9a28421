// SPDX-License-Identifier: Apache-2.0

// Elements as unsigned keys whose order is that of the values: NaN is the largest, -0 equals 0.
// A key carries its position, so all pairs are different and any correct sort is stable.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cpu/traverse/elements.h"

namespace libdl::kernels::cpu {

// Key and position in one word, for keys of at most 32 bits in rows of at most 2^32 elements.
struct ShortPair {
  using Key = uint32_t;
  uint64_t word;
  static ShortPair make(Key key, int64_t index) {
    return {uint64_t{key} << 32 | static_cast<uint64_t>(index)};
  }
  uint32_t digit(int byte) const { return word >> (32 + 8 * byte) & 255; }
  uint64_t key_bits() const { return word >> 32; }
  int64_t index() const { return static_cast<int64_t>(word & 0xffffffffu); }
  bool operator<(const ShortPair& other) const { return word < other.word; }
};

struct LongPair {
  using Key = uint64_t;
  uint64_t key;
  int64_t position;
  static LongPair make(Key key, int64_t index) { return {key, index}; }
  uint32_t digit(int byte) const { return key >> (8 * byte) & 255; }
  uint64_t key_bits() const { return key; }
  int64_t index() const { return position; }
  bool operator<(const LongPair& other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};

// The key of a float type from its bits, of which `fraction` are the fraction's.
template <class Bits>
Bits float_key(Bits bits, Bits infinity) {
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const Bits magnitude = static_cast<Bits>(bits & ~sign);
  if (magnitude > infinity) return std::numeric_limits<Bits>::max();
  if (magnitude == 0) return sign;
  return static_cast<Bits>(bits & sign ? ~bits : bits | sign);
}

// One type per dtype, each knowing its key.
template <class T>
struct IntegerKey {
  using Bits = std::make_unsigned_t<T>;
  static Bits key(Bits bits) {
    constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    return static_cast<Bits>(std::is_signed_v<T> ? bits ^ sign : bits);
  }
  static Bits bits(Bits key_of_them) { return key(key_of_them); }
};
template <class Unsigned, Unsigned infinity>
struct FloatKey {
  using Bits = Unsigned;
  static Bits key(Bits bits) { return float_key<Bits>(bits, infinity); }
};
struct BoolKey {
  using Bits = uint8_t;
  static Bits key(Bits bits) { return bits != 0; }
};

// Whether the bits of a value can be recovered from its key: not for floats, because of zeros and
// NaN.
template <class KeyOf>
constexpr bool kTellsBits = requires { KeyOf::bits(typename KeyOf::Bits{}); };

// Calls f(KeyOf{}); complex numbers have no order and have been refused already.
template <class F>
void with_key(int32_t dtype, const F& f) {
  switch (dtype) {
    case LIBDL_DTYPE_BOOL: return f(BoolKey{});
    case LIBDL_DTYPE_UINT8: return f(IntegerKey<uint8_t>{});
    case LIBDL_DTYPE_UINT16: return f(IntegerKey<uint16_t>{});
    case LIBDL_DTYPE_UINT32: return f(IntegerKey<uint32_t>{});
    case LIBDL_DTYPE_UINT64: return f(IntegerKey<uint64_t>{});
    case LIBDL_DTYPE_INT8: return f(IntegerKey<int8_t>{});
    case LIBDL_DTYPE_INT16: return f(IntegerKey<int16_t>{});
    case LIBDL_DTYPE_INT32: return f(IntegerKey<int32_t>{});
    case LIBDL_DTYPE_INT64: return f(IntegerKey<int64_t>{});
    case LIBDL_DTYPE_FLOAT16: return f(FloatKey<uint16_t, 0x7c00>{});
    case LIBDL_DTYPE_BFLOAT16: return f(FloatKey<uint16_t, 0x7f80>{});
    case LIBDL_DTYPE_FLOAT32: return f(FloatKey<uint32_t, 0x7f800000>{});
    case LIBDL_DTYPE_FLOAT64: return f(FloatKey<uint64_t, 0x7ff0000000000000>{});
  }
}

}  // namespace libdl::kernels::cpu
