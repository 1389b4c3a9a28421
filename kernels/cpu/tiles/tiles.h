// SPDX-License-Identifier: Apache-2.0

// Tile functions: an expression over n contiguous elements of its compute class. Each instruction
// set has a table of them; a missing combination is NULL.
#pragma once

#include <cstdint>

#include "kernels/cpu/simd/isa.h"
#include "kernels/pointwise.h"

namespace libdl::kernels::cpu {

// out may be one of the inputs. Truth values are written as bytes 0 and 1, whatever the class.
using TileFn = void (*)(const void* const* in, void* out, int64_t n);
using TileTable = const TileFn*;  // by expression

// [isa]; classes whose code does not depend on the instruction set hold the same table three times.
extern const TileTable bool_tiles[kIsas];
extern const TileTable i64_tiles[kIsas];
extern const TileTable u64_tiles[kIsas];
extern const TileTable f32_tiles[kIsas];
extern const TileTable f64_tiles[kIsas];
extern const TileTable c128_tiles[kIsas];

inline TileTable tile_table(Class c) {
  int i = static_cast<int>(isa());
  switch (c) {
    case Class::kBool: return bool_tiles[i];
    case Class::kI64: return i64_tiles[i];
    case Class::kU64: return u64_tiles[i];
    case Class::kF32: return f32_tiles[i];
    case Class::kF64: return f64_tiles[i];
    case Class::kC128: return c128_tiles[i];
  }
  return nullptr;
}

// Tile functions whose inputs after the first are a single number each; NULL for most expressions.
extern const TileTable f32_number_tiles[kIsas];
extern const TileTable f64_number_tiles[kIsas];

inline TileFn number_tile(Class c, int32_t expression) {
  int i = static_cast<int>(isa());
  if (c == Class::kF32) return f32_number_tiles[i][expression];
  if (c == Class::kF64) return f64_number_tiles[i][expression];
  return nullptr;
}

// Truth values as the numbers 1 and 0 in the class's own dtype; NULL if there is none.
extern const TileTable i64_counted_tiles[kIsas];
extern const TileTable f32_counted_tiles[kIsas];
extern const TileTable f64_counted_tiles[kIsas];

inline TileFn counted_tile(Class c, int32_t expression) {
  int i = static_cast<int>(isa());
  if (c == Class::kI64) return i64_counted_tiles[i][expression];
  if (c == Class::kF32) return f32_counted_tiles[i][expression];
  if (c == Class::kF64) return f64_counted_tiles[i][expression];
  return nullptr;
}

// Tile functions for operands that are not of the class's dtype but are not converted first; NULL
// if there is none. Integers narrower than 64 bits, all of one dtype:
TileTable narrow_tiles(int32_t dtype);
// The same for a dtype that has them, with single numbers of that dtype after the first input.
TileTable narrow_number_tiles(int32_t dtype);
// float16 and bfloat16, computed in float32; numbers after the first input are float32.
enum class ShortOperands { kTensors, kNumbers, kCounted };
TileFn short_tile(int32_t dtype, ShortOperands form, int32_t expression);
TileFn short_power_tile(int32_t dtype, float exponent);  // reads in[0] alone
// `where` for elements of this many bytes; in[0] is bytes.
TileFn choice_tile(int32_t bytes);
// complex64; with numbers the inputs after the first are one complex128 each.
TileFn c64_tile(int32_t expression);
TileFn c64_number_tile(int32_t expression);
TileFn c64_row_tile(int32_t expression);  // the second input is one complex64
TileFn c64_power_tile(double exponent);   // reads in[0] alone

}  // namespace libdl::kernels::cpu
