// SPDX-License-Identifier: Apache-2.0

// Products of any dtype and strides: a block computes a square of the result from strips of both
// operands in shared memory. If cuBLASLt is available it computes those that it supports.

#include <algorithm>

#include "kernels/cuda/library.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

constexpr int kSideThreads = 16;
constexpr int kDepth = 16;  // of a strip
static_assert(kSideThreads * kSideThreads == kThreads);

struct Product {
  void* out;
  const void* a;
  const void* b;
  const void* bias;
  int64_t batch, m, n, k;
  int64_t out_step[3], a_step[3], b_step[3], bias_step;
  double alpha, beta;
};

}  // namespace

#ifdef LIBDL_KERNELS

// The type in which elements are summed. Integers wrap; those of up to 32 bits give the same result
// when summed in 32 bits.
template <class T>
struct SummedAs {
  using Type = T;
};
template <>
struct SummedAs<Half> {
  using Type = float;
};
template <>
struct SummedAs<Bfloat> {
  using Type = float;
};
template <class T>
  requires std::is_integral_v<T>
struct SummedAs<T> {
  using Type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};

LIBDL_DEVICE float fused(float x, float y, float z) { return ::fmaf(x, y, z); }
LIBDL_DEVICE double fused(double x, double y, double z) { return ::fma(x, y, z); }

template <class S>
LIBDL_DEVICE S plus_product(S sum, S x, S y) {
  if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) {
    return fused(x, y, sum);
  } else if constexpr (std::is_integral_v<S>) {
    return sum + x * y;
  } else {
    return {fused(-x.im, y.im, fused(x.re, y.re, sum.re)),
            fused(x.im, y.re, fused(x.re, y.im, sum.im))};
  }
}

template <class S>
LIBDL_DEVICE S scaled(S x, double by) {
  if constexpr (std::is_integral_v<S>) {
    return x * static_cast<S>(static_cast<int64_t>(by));
  } else if constexpr (std::is_floating_point_v<S>) {
    return x * static_cast<S>(by);
  } else {
    using Part = decltype(S::re);
    return {x.re * static_cast<Part>(by), x.im * static_cast<Part>(by)};
  }
}
template <class S>
LIBDL_DEVICE S added(S x, S y) {
  if constexpr (std::is_arithmetic_v<S>) {
    return x + y;
  } else {
    return {x.re + y.re, x.im + y.im};
  }
}

// A strip of an operand: kSide lines of the result by kDepth, zero outside. Consecutive threads
// read along the contiguous dimension.
template <class T, int kSide, class S>
LIBDL_DEVICE void load_strip(S (*strip)[kSide + 4], const T* from, int64_t lines, int64_t depth,
                             int64_t line_step, int64_t depth_step) {
  const bool along_depth = depth_step == 1;
  for (int i = static_cast<int>(threadIdx.x); i < kSide * kDepth; i += kThreads) {
    const int line = along_depth ? i / kDepth : i % kSide;
    const int at = along_depth ? i % kDepth : i / kSide;
    strip[at][line] = line < lines && at < depth
                          ? convert_value<S>(from[line * line_step + at * depth_step])
                          : S{};
  }
}

template <class T, int kEach>
LIBDL_DEVICE void multiply(const Product& p) {
  using S = typename SummedAs<T>::Type;
  constexpr int kSide = kSideThreads * kEach;
  __shared__ S left[kDepth][kSide + 4], right[kDepth][kSide + 4];
  const int tx = static_cast<int>(threadIdx.x) % kSideThreads;
  const int ty = static_cast<int>(threadIdx.x) / kSideThreads;
  const int64_t down = (p.m + kSide - 1) / kSide, across = (p.n + kSide - 1) / kSide;
  for (int64_t w = blockIdx.x; w < p.batch * down * across; w += gridDim.x) {
    const int64_t batch = w / (down * across), square = w % (down * across);
    const int64_t row = square / across * kSide, col = square % across * kSide;
    const T* const a = static_cast<const T*>(p.a) + batch * p.a_step[0] + row * p.a_step[1];
    const T* const b = static_cast<const T*>(p.b) + batch * p.b_step[0] + col * p.b_step[2];
    S sum[kEach][kEach] = {};
    for (int64_t k = 0; k < p.k; k += kDepth) {
      // Load a strip of each operand into shared memory.
      load_strip<T, kSide>(left, a + k * p.a_step[2], p.m - row, p.k - k, p.a_step[1], p.a_step[2]);
      load_strip<T, kSide>(right, b + k * p.b_step[1], p.n - col, p.k - k, p.b_step[2],
                           p.b_step[1]);
      __syncthreads();
      // Multiply the strips.
      for (int d = 0; d < kDepth; ++d) {
        S x[kEach], y[kEach];
        LIBDL_UNROLL
        for (int i = 0; i < kEach; ++i) x[i] = left[d][ty * kEach + i];
        LIBDL_UNROLL
        for (int j = 0; j < kEach; ++j) y[j] = right[d][tx * kEach + j];
        LIBDL_UNROLL
        for (int i = 0; i < kEach; ++i) {
          LIBDL_UNROLL
          for (int j = 0; j < kEach; ++j) sum[i][j] = plus_product(sum[i][j], x[i], y[j]);
        }
      }
      __syncthreads();
    }
    // Write back.
    LIBDL_UNROLL
    for (int i = 0; i < kEach; ++i) {
      LIBDL_UNROLL
      for (int j = 0; j < kEach; ++j) {
        const int64_t r = row + ty * kEach + i, c = col + tx * kEach + j;
        if (r >= p.m || c >= p.n) continue;
        T& out =
            static_cast<T*>(p.out)[batch * p.out_step[0] + r * p.out_step[1] + c * p.out_step[2]];
        S y = scaled(sum[i][j], p.alpha);
        if (p.beta != 0) y = added(y, scaled(convert_value<S>(out), p.beta));
        if (p.bias) y = added(y, convert_value<S>(static_cast<const T*>(p.bias)[c * p.bias_step]));
        out = convert_value<T>(y);
      }
    }
  }
}
LIBDL_BLOCK_KERNEL(matmul_f32, Product) { multiply<float, 4>(p); }
LIBDL_BLOCK_KERNEL(matmul_f32_large, Product) { multiply<float, 8>(p); }
LIBDL_BLOCK_KERNEL(matmul_f16, Product) { multiply<Half, 4>(p); }
LIBDL_BLOCK_KERNEL(matmul_bf16, Product) { multiply<Bfloat, 4>(p); }
LIBDL_BLOCK_KERNEL(matmul_f64, Product) { multiply<double, 4>(p); }
LIBDL_BLOCK_KERNEL(matmul_c64, Product) { multiply<Complex64, 4>(p); }
LIBDL_BLOCK_KERNEL(matmul_c128, Product) { multiply<Complex, 4>(p); }
LIBDL_BLOCK_KERNEL(matmul_i8, Product) { multiply<uint8_t, 4>(p); }
LIBDL_BLOCK_KERNEL(matmul_i16, Product) { multiply<uint16_t, 4>(p); }
LIBDL_BLOCK_KERNEL(matmul_i32, Product) { multiply<uint32_t, 4>(p); }
LIBDL_BLOCK_KERNEL(matmul_i64, Product) { multiply<uint64_t, 4>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

// Integers that wrap have the same bits with and without a sign.
const char* kernel_of(int32_t dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_UINT8:
    case LIBDL_DTYPE_INT8: return "matmul_i8";
    case LIBDL_DTYPE_UINT16:
    case LIBDL_DTYPE_INT16: return "matmul_i16";
    case LIBDL_DTYPE_UINT32:
    case LIBDL_DTYPE_INT32: return "matmul_i32";
    case LIBDL_DTYPE_UINT64:
    case LIBDL_DTYPE_INT64: return "matmul_i64";
    case LIBDL_DTYPE_FLOAT16: return "matmul_f16";
    case LIBDL_DTYPE_BFLOAT16: return "matmul_bf16";
    case LIBDL_DTYPE_FLOAT64: return "matmul_f64";
    case LIBDL_DTYPE_COMPLEX64: return "matmul_c64";
    case LIBDL_DTYPE_COMPLEX128: return "matmul_c128";
    default: return "matmul_f32";
  }
}

int64_t squares(const Product& p, int64_t side) {
  return p.batch * ((p.m + side - 1) / side) * ((p.n + side - 1) / side);
}

}  // namespace

void matmul(Context& context, const MatmulArgs& a) {
  if (numel(a.out) == 0 || library_matmul(context, a)) return;
  Product p{};
  p.out = a.out.data;
  p.a = a.a.data;
  p.b = a.b.data;
  p.bias = a.bias.data;
  p.batch = a.out.sizes[0];
  p.m = a.out.sizes[1];
  p.n = a.out.sizes[2];
  p.k = a.a.sizes[2];
  for (int d = 0; d < 3; ++d) {
    p.out_step[d] = a.out.strides[d];
    p.a_step[d] = a.a.strides[d];
    p.b_step[d] = a.b.strides[d];
  }
  if (a.bias.data) p.bias_step = a.bias.strides[0];
  p.alpha = a.alpha;
  p.beta = a.beta;
  constexpr int64_t kSmall = 4 * kSideThreads, kLarge = 8 * kSideThreads, kManySquares = 64;
  const bool is_large = a.out.dtype == LIBDL_DTYPE_FLOAT32 && squares(p, kLarge) >= kManySquares;
  const int64_t blocks = squares(p, is_large ? kLarge : kSmall);
  launch(context, is_large ? "matmul_f32_large" : kernel_of(a.out.dtype),
         {std::min<int64_t>(blocks, INT32_MAX), kThreads, 1}, p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
