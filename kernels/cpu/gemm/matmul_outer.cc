// SPDX-License-Identifier: Apache-2.0

// A column times a row: out is written once, and nothing is summed or packed.
#include <algorithm>

#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/load_store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/matmul_outer.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

#ifndef LIBDL_KERNELS_CPU_MATMUL_OUTER_ONCE
#define LIBDL_KERNELS_CPU_MATMUL_OUTER_ONCE
namespace libdl::kernels::cpu {
namespace {
constexpr int64_t kRows = 64, kCols = 512;  // of a chunk
}  // namespace
}  // namespace libdl::kernels::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// A sum that begins with zero, as all products do: it has no -0.
template <class T>
HWY_INLINE T times(T x, T y) {
  if constexpr (sizeof(T) < 4) {
    return static_cast<T>(uint32_t{x} * y);  // int would overflow
  } else {
    return x * y + T(0);
  }
}

// Numbers of S are multiplied as S; out has unit column stride.
template <class S>
void rows_of_numbers(const MatmulArgs& args, int64_t b, int64_t i0, int64_t i1, int64_t j0,
                     int64_t count) {
  const S* x = reinterpret_cast<const S*>(matrix(args.a, b));
  const S* y = reinterpret_cast<const S*>(matrix(args.b, b)) + j0 * args.b.strides[2];
  S* out = reinterpret_cast<S*>(const_cast<char*>(matrix(args.out, b))) + j0;
  alignas(64) S row[kCols];
  for (int64_t j = 0; j < count; ++j) row[j] = y[j * args.b.strides[2]];
  for (int64_t i = i0; i < i1; ++i) {
    const S factor = x[i * args.a.strides[1]];
    S* to = out + i * args.out.strides[1];
    for (int64_t j = 0; j < count; ++j) to[j] = times(factor, row[j]);
  }
}

// 16-bit floats, as float.
void rows_of_halves(const MatmulArgs& args, int64_t b, int64_t i0, int64_t i1, int64_t j0,
                    int64_t count) {
  const int32_t dtype = args.out.dtype;
  alignas(64) float row[kCols], y[kCols], x[kRows];
  load_tile(row, matrix(args.b, b) + 2 * j0 * args.b.strides[2], dtype, args.b.strides[2], count);
  load_tile(x, matrix(args.a, b) + 2 * i0 * args.a.strides[1], dtype, args.a.strides[1], i1 - i0);
  char* out = const_cast<char*>(matrix(args.out, b)) + 2 * j0;
  for (int64_t i = i0; i < i1; ++i) {
    for (int64_t j = 0; j < count; ++j) y[j] = times(x[i - i0], row[j]);
    store_tile(out + 2 * i * args.out.strides[1], dtype, 1, y, count);
  }
}

void rows_on(const MatmulArgs& args, int64_t b, int64_t i0, int64_t i1, int64_t j0, int64_t count) {
  switch (args.out.dtype) {
    case LIBDL_DTYPE_FLOAT32: return rows_of_numbers<float>(args, b, i0, i1, j0, count);
    case LIBDL_DTYPE_FLOAT64: return rows_of_numbers<double>(args, b, i0, i1, j0, count);
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16: return rows_of_halves(args, b, i0, i1, j0, count);
    default: break;
  }
  switch (dtype_bytes(args.out.dtype)) {  // integers
    case 1: return rows_of_numbers<uint8_t>(args, b, i0, i1, j0, count);
    case 2: return rows_of_numbers<uint16_t>(args, b, i0, i1, j0, count);
    case 4: return rows_of_numbers<uint32_t>(args, b, i0, i1, j0, count);
    default: return rows_of_numbers<uint64_t>(args, b, i0, i1, j0, count);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

bool is_outer_product(const MatmulArgs& args) {
  const Shape s = shape_of(args);
  return s.k == 1 && s.m > 1 && s.n > 1 && args.out.strides[2] == 1 && args.alpha == 1 &&
         args.beta == 0 && args.bias.data == nullptr && !is_complex(args.out.dtype);
}

void outer_product(Context& context, const MatmulArgs& args) {
  const Shape s = shape_of(args);
  const int64_t down = (s.m + kRows - 1) / kRows;
  const int64_t across = (s.n + kCols - 1) / kCols;
  for_chunks(context, s.batch * down * across, [&](int64_t chunk) {
    const int64_t b = chunk / (down * across), t = chunk % (down * across);
    const int64_t i = t / across * kRows, j = t % across * kCols;
    LIBDL_ON_ISA(rows_on, args, b, i, std::min(i + kRows, s.m), j, std::min(kCols, s.n - j));
  });
}

}  // namespace libdl::kernels::cpu
#endif
