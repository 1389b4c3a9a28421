// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "kernels/cpu/gemm/gemv.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/traverse/load_store.h"

namespace libdl::kernels::cpu {
namespace {

// y = alpha * y + beta * out + bias for `count` elements of out, and back to out.
template <class T>
void finish_vector(const MatmulArgs& args, T* y, char* out, int64_t out_stride, int64_t i0,
                   int64_t bias_stride, int64_t count) {
  T other[kGemvRows];
  if (args.alpha != 1) {
    for (int64_t i = 0; i < count; ++i) y[i] *= static_cast<T>(args.alpha);
  }
  if (args.beta != 0) {
    load_tile(other, out, args.out.dtype, out_stride, count);
    for (int64_t i = 0; i < count; ++i) y[i] += static_cast<T>(args.beta) * other[i];
  }
  if (args.bias.data != nullptr) {
    const int64_t bytes = dtype_bytes(args.bias.dtype);
    load_tile(other, static_cast<const char*>(args.bias.data) + i0 * bias_stride * bytes,
              args.bias.dtype, bias_stride, count);
    for (int64_t i = 0; i < count; ++i) y[i] += other[i];
  }
  store_tile(out, args.out.dtype, out_stride, y, count);
}

// Parts of a single row: cut by k only, so that the sum depends on neither threads nor batch.
constexpr int64_t kMostParts = 64, kPart = 1 << 14;

// The product of one row with x in parts, which are added in order.
template <class T>
T long_row(Context& context, const GemvOperand& row, const char* x, int64_t x_stride, int64_t k) {
  const int64_t part = std::max(kPart, (k - 1) / kMostParts / kPart * kPart + kPart);
  const int64_t bytes = dtype_bytes(row.dtype);
  T sum[kMostParts] = {};
  for_chunks(context, (k - 1) / part + 1, [&](int64_t i) {
    const int64_t k0 = i * part;
    GemvOperand piece = row;
    piece.data = static_cast<const char*>(row.data) + k0 * row.k_stride * bytes;
    gemv(piece, x + k0 * x_stride * bytes, x_stride, std::min(part, k - k0), 0, 1, &sum[i]);
  });
  for (int64_t i = 1; i * part < k; ++i) sum[0] += sum[i];
  return sum[0];
}

template <class T>
void multiply(Context& context, const MatmulArgs& args) {
  const Shape s = shape_of(args);
  const bool row = s.m == 1;  // out = a_row b, hence the transpose of b times a
  const View& w = row ? args.b : args.a;
  const View& x = row ? args.a : args.b;
  const int64_t rows = row ? s.n : s.m;
  const int64_t out_stride = args.out.strides[row ? 2 : 1];
  const int64_t bias_stride = args.bias.data == nullptr || !row ? 0 : args.bias.strides[0];
  // If rows are the contiguous dimension, a wide strip reads memory in long runs; a quarter of all
  // rows still leaves enough strips for several threads.
  const bool wide = w.strides[row ? 2 : 1] == 1;
  const bool cached = stays_cached(rows, s.k, dtype_bytes(w.dtype));
  const int64_t most = !wide    ? std::max<int64_t>(4, (1 << 16) / std::max<int64_t>(1, s.k))
                       : cached ? kGemvRows / 4
                                : std::max(kGemvRows / 2, rows / 4);
  const int64_t height = std::min({kGemvRows, most, std::max<int64_t>(rows, 1)});
  const int64_t parts = (rows + height - 1) / height;
  for_chunks(context, s.batch * parts, [&](int64_t chunk) {
    const int64_t b = chunk / parts, i0 = chunk % parts * height;
    const int64_t i1 = std::min(i0 + height, rows);
    T y[kGemvRows];
    const GemvOperand operand{matrix(w, b), w.strides[row ? 2 : 1], w.strides[row ? 1 : 2], rows,
                              w.dtype};
    const int64_t x_stride = x.strides[row ? 2 : 1];
    if (rows == 1 && s.k > 2 * kPart) {
      y[0] = long_row<T>(context, operand, matrix(x, b), x_stride, s.k);
    } else {
      gemv(operand, matrix(x, b), x_stride, s.k, i0, i1, y);
    }
    char* out =
        const_cast<char*>(matrix(args.out, b)) + i0 * out_stride * dtype_bytes(args.out.dtype);
    finish_vector(args, y, out, out_stride, i0, bias_stride, i1 - i0);
  });
}

}  // namespace

void vector_product(Context& context, const MatmulArgs& args) {
  if (args.out.dtype == LIBDL_DTYPE_FLOAT64) return multiply<double>(context, args);
  multiply<float>(context, args);
}

}  // namespace libdl::kernels::cpu
