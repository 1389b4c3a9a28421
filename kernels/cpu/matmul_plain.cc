// SPDX-License-Identifier: Apache-2.0

// Products that have no kernel of their own: of integers, whose sums wrap and may go in any order,
// and complex ones with a bias of another dtype.
#include <algorithm>
#include <complex>
#include <type_traits>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/matmul_parts.h"
#include "kernels/cpu/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul_plain.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kNarrow = 4;  // so few columns go by inner products

// Of a row of a and a column of b.
template <class T>
T inner_product(const MatmulArgs& args, const char* x, const char* y) {
  constexpr int64_t kPiece = 256;
  const int64_t k = args.a.sizes[2], bytes = dtype_bytes(args.a.dtype);
  T left[kPiece], right[kPiece], sum = 0;
  for (int64_t s = 0; s < k; s += kPiece) {
    const int64_t n = std::min(kPiece, k - s);
    load_tile(left, x + s * args.a.strides[2] * bytes, args.a.dtype, args.a.strides[2], n);
    load_tile(right, y + s * args.b.strides[1] * bytes, args.b.dtype, args.b.strides[1], n);
    for (int64_t i = 0; i < n; ++i) sum += left[i] * right[i];
  }
  return sum;
}

template <class T>
void plain_tile(const MatmulArgs& args, int64_t b, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  constexpr int64_t kCols = 64;
  const int64_t k = args.a.sizes[2], width = j1 - j0;
  const int64_t bytes = dtype_bytes(args.a.dtype), out_bytes = dtype_bytes(args.out.dtype);
  const char* x = matrix(args.a, b);
  const char* y = matrix(args.b, b) + j0 * args.b.strides[2] * bytes;
  T sum[8][kCols] = {}, row[kCols], column[8];
  if (std::is_integral_v<T> && width <= kNarrow) {
    for (int64_t i = i0; i < i1; ++i) {
      const char* from = x + i * args.a.strides[1] * bytes;
      for (int64_t j = 0; j < width; ++j) {
        sum[i - i0][j] = inner_product<T>(args, from, y + j * args.b.strides[2] * bytes);
      }
    }
  } else {
    for (int64_t s = 0; s < k; ++s) {
      load_tile(row, y + s * args.b.strides[1] * bytes, args.b.dtype, args.b.strides[2], width);
      load_tile(column, x + (i0 * args.a.strides[1] + s * args.a.strides[2]) * bytes, args.a.dtype,
                args.a.strides[1], i1 - i0);
      for (int64_t i = 0; i < i1 - i0; ++i) {
        for (int64_t j = 0; j < width; ++j) sum[i][j] += column[i] * row[j];
      }
    }
  }
  for (int64_t i = i0; i < i1; ++i) {
    char* out = const_cast<char*>(matrix(args.out, b)) +
                (i * args.out.strides[1] + j0 * args.out.strides[2]) * out_bytes;
    T* total = sum[i - i0];
    T alpha, beta;
    if constexpr (std::is_integral_v<T>) {
      alpha = static_cast<T>(static_cast<int64_t>(args.alpha));
      beta = static_cast<T>(static_cast<int64_t>(args.beta));
    } else {
      alpha = args.alpha, beta = args.beta;
    }
    for (int64_t j = 0; j < width; ++j) total[j] *= alpha;
    if (args.beta != 0) {
      load_tile(row, out, args.out.dtype, args.out.strides[2], width);
      for (int64_t j = 0; j < width; ++j) total[j] += beta * row[j];
    }
    if (args.bias.data != nullptr) {
      load_tile(row,
                static_cast<const char*>(args.bias.data) +
                    j0 * args.bias.strides[0] * dtype_bytes(args.bias.dtype),
                args.bias.dtype, args.bias.strides[0], width);
      for (int64_t j = 0; j < width; ++j) total[j] += row[j];
    }
    store_tile(out, args.out.dtype, args.out.strides[2], total, width);
  }
}

template <class T>
void multiply(Context& context, const MatmulArgs& args) {
  const Shape s = shape_of(args);
  const int64_t down = (s.m + 7) / 8, across = (s.n + 63) / 64;
  for_chunks(context, s.batch * down * across, [&](int64_t chunk) {
    const int64_t b = chunk / (down * across), t = chunk % (down * across);
    const int64_t i = t / across * 8, j = t % across * 64;
    plain_tile<T>(args, b, i, std::min(i + 8, s.m), j, std::min(j + 64, s.n));
  });
}

void plain_product_on(Context& context, const MatmulArgs& args) {
  if (is_complex(args.out.dtype)) return multiply<std::complex<double>>(context, args);
  multiply<uint64_t>(context, args);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void plain_product(Context& context, const MatmulArgs& args) {
  LIBDL_ON_ISA(plain_product_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
