// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/traverse/load_store.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/strided.h"

namespace libdl::kernels::cpu {
namespace {

constexpr int64_t kPiece = 256;  // elements converted at once where they are not contiguous

template <class T>
constexpr Class class_of() {
  if constexpr (std::is_same_v<T, float>) return Class::kF32;
  if constexpr (std::is_same_v<T, double>) return Class::kF64;
  if constexpr (std::is_same_v<T, int64_t>) return Class::kI64;
  if constexpr (std::is_same_v<T, uint64_t>) return Class::kU64;
  if constexpr (std::is_same_v<T, uint8_t>) return Class::kBool;
  return Class::kC128;
}

// to[i * to_stride] = from[i * from_stride]
template <class Bits>
void move_cells(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t n) {
  const auto* x = static_cast<const Cell<Bits>*>(from);
  auto* y = static_cast<Cell<Bits>*>(to);
  for (int64_t i = 0; i < n; ++i) y[i * to_stride] = x[i * from_stride];
}

void move(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t n,
          int bytes) {
  if (to_stride == 1 && from_stride == 1) {
    if (n > 0) std::memcpy(to, from, static_cast<size_t>(n * bytes));
    return;
  }
  if (to_stride == 1 && n >= 32) {
    return gather_strided(static_cast<const char*>(from), from_stride * bytes, bytes, n,
                          static_cast<char*>(to));
  }
  switch (bytes) {
    case 1: return move_cells<uint8_t>(to, to_stride, from, from_stride, n);
    case 2: return move_cells<uint16_t>(to, to_stride, from, from_stride, n);
    case 4: return move_cells<uint32_t>(to, to_stride, from, from_stride, n);
    case 8: return move_cells<uint64_t>(to, to_stride, from, from_stride, n);
    default: return move_cells<Sixteen>(to, to_stride, from, from_stride, n);
  }
}

}  // namespace

template <class T>
void load_tile(T* tile, const void* data, int32_t dtype, int64_t stride, int64_t n) {
  const ConvertFn convert = convert_to_class(dtype, class_of<T>());
  const int bytes = dtype_bytes(dtype);
  if (convert == nullptr) return move(tile, 1, data, stride, n, bytes);
  if (stride == 1) return convert(data, tile, n);
  alignas(64) char piece[kPiece * 16];
  const char* from = static_cast<const char*>(data);
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = std::min(kPiece, n - i);
    move(piece, 1, from + i * stride * bytes, stride, count, bytes);
    convert(piece, tile + i, count);
  }
}

template <class T>
void store_tile(void* data, int32_t dtype, int64_t stride, const T* tile, int64_t n) {
  const ConvertFn convert = convert_from_class(class_of<T>(), dtype);
  const int bytes = dtype_bytes(dtype);
  if (convert == nullptr) return move(data, stride, tile, 1, n, bytes);
  if (stride == 1) return convert(tile, data, n);
  alignas(64) char piece[kPiece * 16];
  char* to = static_cast<char*>(data);
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = std::min(kPiece, n - i);
    convert(tile + i, piece, count);
    move(to + i * stride * bytes, stride, piece, 1, count, bytes);
  }
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
