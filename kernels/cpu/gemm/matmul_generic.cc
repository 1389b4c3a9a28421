// SPDX-License-Identifier: Apache-2.0

// Complex products with a bias of another dtype, in complex128.
#include <algorithm>
#include <complex>

#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/traverse/load_store.h"

namespace libdl::kernels::cpu {
namespace {

using T = std::complex<double>;

void generic_tile(const MatmulArgs& args, int64_t b, int64_t i0, int64_t i1, int64_t j0,
                  int64_t j1) {
  constexpr int64_t kCols = 64;
  const int64_t k = args.a.sizes[2], width = j1 - j0;
  const int64_t bytes = dtype_bytes(args.a.dtype), out_bytes = dtype_bytes(args.out.dtype);
  const char* x = matrix(args.a, b);
  const char* y = matrix(args.b, b) + j0 * args.b.strides[2] * bytes;
  T sum[8][kCols] = {}, row[kCols], column[8];
  for (int64_t s = 0; s < k; ++s) {
    load_tile(row, y + s * args.b.strides[1] * bytes, args.b.dtype, args.b.strides[2], width);
    load_tile(column, x + (i0 * args.a.strides[1] + s * args.a.strides[2]) * bytes, args.a.dtype,
              args.a.strides[1], i1 - i0);
    for (int64_t i = 0; i < i1 - i0; ++i) {
      for (int64_t j = 0; j < width; ++j) sum[i][j] += column[i] * row[j];
    }
  }
  for (int64_t i = i0; i < i1; ++i) {
    char* out = const_cast<char*>(matrix(args.out, b)) +
                (i * args.out.strides[1] + j0 * args.out.strides[2]) * out_bytes;
    T* total = sum[i - i0];
    for (int64_t j = 0; j < width; ++j) total[j] *= args.alpha;
    if (args.beta != 0) {
      load_tile(row, out, args.out.dtype, args.out.strides[2], width);
      for (int64_t j = 0; j < width; ++j) total[j] += args.beta * row[j];
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

}  // namespace

void generic_product(Context& context, const MatmulArgs& args) {
  const Shape s = shape_of(args);
  const int64_t down = (s.m + 7) / 8, across = (s.n + 63) / 64;
  for_chunks(context, s.batch * down * across, [&](int64_t chunk) {
    const int64_t b = chunk / (down * across), t = chunk % (down * across);
    const int64_t i = t / across * 8, j = t % across * 64;
    generic_tile(args, b, i, std::min(i + 8, s.m), j, std::min(j + 64, s.n));
  });
}

}  // namespace libdl::kernels::cpu
