// SPDX-License-Identifier: Apache-2.0

// Products of integers. Sums wrap, so their order does not matter. They are as wide as the result,
// except that bytes, which have no multiplication instruction, are summed in 16 bits.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/load_store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/matmul_integer.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t kVectorBytes = HWY_TARGET == HWY_AVX3 ? 64 : HWY_TARGET == HWY_AVX2 ? 32 : 16;
template <class T>
using Vector __attribute__((vector_size(kVectorBytes), may_alias)) = T;

template <class T>
constexpr int64_t kLanes = kVectorBytes / sizeof(T);
template <class T>
constexpr int64_t kWidth = 128 / sizeof(T);  // columns of a panel of b
// Rows of the micro-kernel: twice as many sums, two values of b and one of a fit the registers.
constexpr int kRows = kVectorBytes == 64 ? 8 : 4;
constexpr int64_t kStripe = 64, kK = 128, kPanels = 4;  // of a chunk: rows, values of k, panels
constexpr int64_t kNarrow = 4;                          // up to this many columns: inner products

// The type in which T is multiplied: int, to which two 16-bit numbers promote, would overflow.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 2, uint32_t, T>;

template <class S>
struct Matrix {  // of S, as unsigned integers
  const S* data;
  int64_t row_stride, col_stride;
  const S* at(int64_t i, int64_t j) const { return data + i * row_stride + j * col_stride; }
  Matrix transposed() const { return {data, col_stride, row_stride}; }
};
template <class S>
Matrix<S> matrix_of(const View& v, int64_t b) {
  return {reinterpret_cast<const S*>(matrix(v, b)), v.strides[1], v.strides[2]};
}

// to[i][j] = m[i0 + i][j0 + j], rows of `to` `width` apart.
template <class T, class S>
void fetch(T* to, int64_t width, const Matrix<S>& m, int64_t i0, int64_t rows, int64_t j0,
           int64_t cols) {
  if (m.col_stride == 1) {
    for (int64_t i = 0; i < rows; ++i) {
      const S* from = m.at(i0 + i, j0);
      T* row = to + i * width;
      for (int64_t j = 0; j < cols; ++j) row[j] = from[j];
    }
    return;
  }
  constexpr int64_t kSide = 16;  // columns lie along, or nothing does
  for (int64_t i = 0; i < rows; i += kSide) {
    const int64_t height = std::min(kSide, rows - i);
    for (int64_t j = 0; j < cols; ++j) {
      const S* from = m.at(i0 + i, j0 + j);
      for (int64_t r = 0; r < height; ++r) to[(i + r) * width + j] = from[r * m.row_stride];
    }
  }
}

// sum[r][j] += a[r][k] b[k][j] over kWidth columns.
template <int kR, class T>
void kernel(T* sums, const T* a, const T* b, int64_t k) {
  using V = Vector<T>;
  constexpr int64_t kL = kLanes<T>;
  for (int64_t j = 0; j < kWidth<T>; j += 2 * kL) {
    V sum[kR][2];
    LIBDL_UNROLL
    for (int r = 0; r < kR; ++r) {
      const V* from = reinterpret_cast<const V*>(sums + r * kWidth<T> + j);
      sum[r][0] = from[0], sum[r][1] = from[1];
    }
    const T* row = b + j;
    for (int64_t s = 0; s < k; ++s, row += kWidth<T>) {
      const V x = *reinterpret_cast<const V*>(row), y = *reinterpret_cast<const V*>(row + kL);
      LIBDL_UNROLL
      for (int r = 0; r < kR; ++r) {
        const V z = V{} + a[r * kK + s];
        sum[r][0] += z * x, sum[r][1] += z * y;
      }
    }
    LIBDL_UNROLL
    for (int r = 0; r < kR; ++r) {
      V* to = reinterpret_cast<V*>(sums + r * kWidth<T> + j);
      to[0] = sum[r][0], to[1] = sum[r][1];
    }
  }
}

// out = alpha * sum + beta * out + bias for a run of a row.
template <class T, class S>
void finish(const MatmulArgs& args, int64_t b, int64_t i, int64_t j, int64_t count, T* sum) {
  const View &out = args.out, &bias = args.bias;
  S* to = const_cast<S*>(matrix_of<S>(out, b).at(i, j));
  uint64_t other[512];
  const T alpha = static_cast<T>(static_cast<int64_t>(args.alpha));
  const T beta = static_cast<T>(static_cast<int64_t>(args.beta));
  if (alpha != 1) {
    for (int64_t c = 0; c < count; ++c) sum[c] = static_cast<T>(Wide<T>{sum[c]} * alpha);
  }
  if (args.beta != 0) {
    load_tile(other, to, out.dtype, out.strides[2], count);
    for (int64_t c = 0; c < count; ++c) {
      sum[c] = static_cast<T>(sum[c] + beta * static_cast<Wide<T>>(other[c]));
    }
  }
  if (bias.data != nullptr) {
    const int64_t at = j * bias.strides[0] * dtype_bytes(bias.dtype);
    load_tile(other, static_cast<const char*>(bias.data) + at, bias.dtype, bias.strides[0], count);
    for (int64_t c = 0; c < count; ++c) sum[c] = static_cast<T>(sum[c] + static_cast<T>(other[c]));
  }
  if (out.strides[2] == 1) {
    for (int64_t c = 0; c < count; ++c) to[c] = static_cast<S>(sum[c]);
  } else {
    for (int64_t c = 0; c < count; ++c) to[c * out.strides[2]] = static_cast<S>(sum[c]);
  }
}

template <class T>
void rows_product(T* sums, const T* a, const T* b, int64_t rows, int64_t k) {
  int64_t i = 0;
  for (; i + kRows <= rows; i += kRows) {
    kernel<kRows>(sums + i * kWidth<T>, a + i * kK, b, k);
  }
  for (; i + 2 <= rows; i += 2) kernel<2>(sums + i * kWidth<T>, a + i * kK, b, k);
  if (i < rows) kernel<1>(sums + i * kWidth<T>, a + i * kK, b, k);
}

// Rows [i0, i1) and columns [j0, j1) of out, at most kStripe and kPanels panels.
template <class T, class S>
void chunk_product(const MatmulArgs& args, int64_t batch, int64_t i0, int64_t i1, int64_t j0,
                   int64_t j1) {
  alignas(64) T sums[kPanels][kStripe * kWidth<T>], a[kStripe * kK], b[kK * kWidth<T>];
  const int64_t rows = i1 - i0, all = args.a.sizes[2];
  const Matrix<S> left = matrix_of<S>(args.a, batch), right = matrix_of<S>(args.b, batch);
  for (int64_t j = j0, p = 0; j < j1; j += kWidth<T>, ++p) {
    std::fill_n(sums[p], rows * kWidth<T>, T(0));
  }
  for (int64_t k0 = 0; k0 < all; k0 += kK) {
    const int64_t k = std::min(kK, all - k0);
    fetch(a, kK, left, i0, rows, k0, k);
    for (int64_t j = j0, p = 0; j < j1; j += kWidth<T>, ++p) {
      const int64_t width = std::min(kWidth<T>, j1 - j);
      if (width < kWidth<T>) std::fill_n(b, k * kWidth<T>, T(0));
      fetch(b, kWidth<T>, right, k0, k, j, width);
      rows_product(sums[p], a, b, rows, k);
    }
  }
  for (int64_t j = j0, p = 0; j < j1; j += kWidth<T>, ++p) {
    const int64_t width = std::min(kWidth<T>, j1 - j);
    for (int64_t i = 0; i < rows; ++i) {
      finish<T, S>(args, batch, i0 + i, j, width, sums[p] + i * kWidth<T>);
    }
  }
}

// Few columns: a piece of k of each is copied, and multiplied with the same piece of each row.
template <class T, class S>
void narrow_product(const MatmulArgs& args, int64_t batch, int64_t i0, int64_t i1) {
  constexpr int64_t kPiece = 1024;
  alignas(64) T y[kNarrow][kPiece], x[kPiece];
  T sum[kStripe][kNarrow] = {};
  const int64_t n = args.out.sizes[2], all = args.a.sizes[2];
  const Matrix<S> left = matrix_of<S>(args.a, batch);
  const Matrix<S> right = matrix_of<S>(args.b, batch).transposed();
  for (int64_t k0 = 0; k0 < all; k0 += kPiece) {
    const int64_t k = std::min(kPiece, all - k0);
    fetch(y[0], kPiece, right, 0, n, k0, k);
    for (int64_t i = i0; i < i1; ++i) {
      fetch(x, kPiece, left, i, 1, k0, k);
      for (int64_t j = 0; j < n; ++j) {
        T total = 0;
        for (int64_t s = 0; s < k; ++s) {
          total = static_cast<T>(total + Wide<T>{x[s]} * y[j][s]);
        }
        sum[i - i0][j] = static_cast<T>(sum[i - i0][j] + total);
      }
    }
  }
  for (int64_t i = i0; i < i1; ++i) finish<T, S>(args, batch, i, 0, n, sum[i - i0]);
}

// One row times contiguous rows of b: columns [j0, j0 + count), at most kRun.
constexpr int64_t kRun = 512;
template <class T, class S>
void row_product(const MatmulArgs& args, int64_t batch, int64_t j0, int64_t count) {
  constexpr int64_t kAtOnce = 4;
  using W = Wide<T>;
  alignas(64) T sum[kRun] = {};
  const int64_t k = args.a.sizes[2];
  const Matrix<S> x = matrix_of<S>(args.a, batch), rows = matrix_of<S>(args.b, batch);
  int64_t s = 0;
  for (; s + kAtOnce <= k; s += kAtOnce) {
    const W x0 = *x.at(0, s), x1 = *x.at(0, s + 1), x2 = *x.at(0, s + 2), x3 = *x.at(0, s + 3);
    const S *r0 = rows.at(s, j0), *r1 = rows.at(s + 1, j0);
    const S *r2 = rows.at(s + 2, j0), *r3 = rows.at(s + 3, j0);
    for (int64_t j = 0; j < count; ++j) {
      sum[j] = static_cast<T>(sum[j] + x0 * r0[j] + x1 * r1[j] + x2 * r2[j] + x3 * r3[j]);
    }
  }
  for (; s < k; ++s) {
    const W factor = *x.at(0, s);
    const S* row = rows.at(s, j0);
    for (int64_t j = 0; j < count; ++j) sum[j] = static_cast<T>(sum[j] + factor * row[j]);
  }
  finish<T, S>(args, batch, 0, j0, count, sum);
}

// One column as one row: out^T = b^T a^T, with the strides that its views point to.
struct Transposed {
  int64_t sizes[3][3], strides[3][3], bias_size, bias_stride = 0;
  MatmulArgs args;

  explicit Transposed(const MatmulArgs& of) : args(of) {
    args.a = turned(of.b, 0), args.b = turned(of.a, 1), args.out = turned(of.out, 2);
    bias_size = of.out.sizes[1];
    if (of.bias.data != nullptr) args.bias.sizes = &bias_size, args.bias.strides = &bias_stride;
  }
  Transposed(const Transposed&) = delete;
  Transposed& operator=(const Transposed&) = delete;

 private:
  View turned(const View& v, int which) {
    int64_t *size = sizes[which], *stride = strides[which];
    size[0] = v.sizes[0], size[1] = v.sizes[2], size[2] = v.sizes[1];
    stride[0] = v.strides[0], stride[1] = v.strides[2], stride[2] = v.strides[1];
    return {v.data, size, stride, 3, v.dtype};
  }
};

template <class T, class S>
void multiply_row(Context& context, const MatmulArgs& args) {
  const int64_t n = args.out.sizes[2], runs = (n + kRun - 1) / kRun;
  for_chunks(context, args.out.sizes[0] * runs, [&](int64_t chunk) {
    const int64_t j = chunk % runs * kRun;
    row_product<T, S>(args, chunk / runs, j, std::min(kRun, n - j));
  });
}

template <class T, class S>
void multiply(Context& context, const MatmulArgs& args) {
  const Shape s = shape_of(args);
  if (s.m == 1 && s.n > kNarrow && args.b.strides[2] == 1) return multiply_row<T, S>(context, args);
  if (s.n == 1 && s.m > kNarrow && args.a.strides[1] == 1 && args.a.strides[2] != 1) {
    return multiply_row<T, S>(context, Transposed(args).args);
  }
  // Less of a chunk where there are few: by sizes alone.
  const bool few = product(s.batch, s.m, s.n) < 8 * kStripe * kPanels * kWidth<T>;
  const int64_t height = few ? 32 : kStripe;
  const int64_t width = s.n <= kNarrow ? kNarrow : (few ? 2 : kPanels) * kWidth<T>;
  const int64_t down = (s.m + height - 1) / height, across = (s.n + width - 1) / width;
  for_chunks(context, s.batch * down * across, [&](int64_t chunk) {
    const int64_t b = chunk / (down * across), t = chunk % (down * across);
    const int64_t i = t / across * height, j = t % across * width, i1 = std::min(i + height, s.m);
    if (s.n <= kNarrow) {
      narrow_product<T, S>(args, b, i, i1);
    } else {
      chunk_product<T, S>(args, b, i, i1, j, std::min(j + width, s.n));
    }
  });
}

void integer_product_on(Context& context, const MatmulArgs& args) {
  switch (dtype_bytes(args.out.dtype)) {
    case 1: return multiply<uint16_t, uint8_t>(context, args);
    case 2: return multiply<uint16_t, uint16_t>(context, args);
    case 4: return multiply<uint32_t, uint32_t>(context, args);
    default: return multiply<uint64_t, uint64_t>(context, args);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void integer_product(Context& context, const MatmulArgs& args) {
  LIBDL_ON_ISA(integer_product_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
