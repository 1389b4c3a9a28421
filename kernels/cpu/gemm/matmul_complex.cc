// SPDX-License-Identifier: Apache-2.0

// Complex products as real ones. A complex row of a, or of out, already is a row of twice as many
// real numbers. b is expanded to twice the height and twice the width: each row, followed by i
// times that row. The expanded b is row-major for a vector, and in panels (gemm.h), which may be
// kept, for a matrix. The real product has as many multiplications as the complex one. A single row
// is multiplied with b in place, and one row times one column has a kernel of its own.

#include <algorithm>
#include <complex>

#include "kernels/cpu/gemm/complex_dot.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/traverse/transposition.h"

namespace libdl::kernels::cpu {
namespace {

// A contiguous copy of the matrices of v, or v itself.
struct Operand {
  View view;
  int64_t strides[3];
  bool copied;
};

struct Workspace {
  Operand a, out;
  void *b, *bias;
};
struct RowWorkspace {
  Operand b;
  void* sums;  // [batch, 2, 2 n] real ones
};

Operand by_rows(const View& v, int64_t batch, BumpAllocator& allocator) {
  Operand x{v, {v.strides[0], v.strides[1], v.strides[2]}, false};
  if (v.strides[2] != 1 && v.sizes[2] != 1) {
    // Not whole pages apart: what is turned around would meet in one set of the cache.
    const int64_t rows = v.sizes[1], cols = v.sizes[2] + (v.sizes[2] % 64 == 0 ? 8 : 0);
    x.copied = true;
    x.view.data = allocator.take(product(batch, rows, cols), dtype_bytes(v.dtype));
    x.strides[0] = product(rows, cols);
    x.strides[1] = cols;
  }
  x.strides[2] = 1;
  return x;
}

bool by_vectors(const Shape& s) { return s.n == 1; }

int32_t real_dtype(int32_t dtype) {
  return dtype == LIBDL_DTYPE_COMPLEX64 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64;
}
int64_t panels_size(int32_t dtype, int64_t n, int64_t k) {
  return float_panels_size(real_dtype(dtype), product(2, n), product(2, k));
}

int64_t matrices_of(const View& v) { return v.strides[0] == 0 ? (v.sizes[0] > 0) : v.sizes[0]; }

Workspace workspace_of(const MatmulArgs& args, BumpAllocator& allocator) {
  const Shape s = shape_of(args);
  const int64_t bytes = dtype_bytes(args.out.dtype);
  Workspace workspace{};
  workspace.a = by_rows(args.a, s.batch, allocator);
  workspace.out = by_rows(args.out, s.batch, allocator);
  if (by_vectors(s)) {
    workspace.b = allocator.take(product(matrices_of(args.b), s.k, s.n), 2 * bytes);
  } else if (args.packed_b == nullptr) {
    workspace.b = allocator.take(matrices_of(args.b), panels_size(args.b.dtype, s.n, s.k));
  }
  if (args.bias.data != nullptr) workspace.bias = allocator.take(s.n, bytes);
  return workspace;
}

// One row of a: its real parts and its imaginary parts times b, whose rows count as twice as many
// real columns.
bool by_rows_of_b(const Shape& s) { return s.m == 1 && s.n > 1; }
RowWorkspace row_workspace_of(const MatmulArgs& args, BumpAllocator& allocator) {
  const Shape s = shape_of(args);
  RowWorkspace workspace{by_rows(args.b, s.batch, allocator), nullptr};
  workspace.sums = allocator.take(product(s.batch, s.n), 2 * dtype_bytes(args.out.dtype));
  return workspace;
}

// The real product, with the sizes and strides that its views point to.
struct RealProduct {
  int64_t a_sizes[3], b_sizes[3], out_sizes[3], bias_size, one = 1;
  int64_t a_strides[3], b_strides[3], out_strides[3];
  MatmulArgs args;

  RealProduct(const MatmulArgs& complex, const Workspace& workspace) : args(complex) {
    const Shape s = shape_of(complex);
    const int32_t dtype = real_dtype(complex.out.dtype);
    const int64_t k = product(2, s.k), n = product(2, s.n);
    args.a = real(workspace.a, s.m, k, a_sizes, a_strides, dtype);
    args.out = real(workspace.out, s.m, n, out_sizes, out_strides, dtype);
    b_sizes[0] = s.batch, b_sizes[1] = k, b_sizes[2] = n;
    b_strides[0] = complex.b.strides[0] == 0 ? 0 : product(k, n);
    b_strides[1] = n, b_strides[2] = 1;
    args.b = {workspace.b, b_sizes, b_strides, 3, dtype};
    bias_size = n;
    if (complex.bias.data != nullptr) args.bias = {workspace.bias, &bias_size, &one, 1, dtype};
    // Any address, even if scratch is only being counted: it says that panels exist, so that none
    // are carved.
    static constexpr char kPanels = 0;
    args.packed_b = nullptr;
    if (!by_vectors(s)) args.packed_b = workspace.b != nullptr ? workspace.b : complex.packed_b;
    if (!by_vectors(s) && args.packed_b == nullptr) args.packed_b = &kPanels;
  }
  // Keeps one of the two columns that a single complex column was expanded to. Without rows of b
  // there is no memory for them either.
  template <class T>
  void keep_column(const Workspace& workspace, int c) {
    b_sizes[2] = out_sizes[2] = bias_size = 1;
    if (b_sizes[1] > 0) args.b.data = static_cast<T*>(workspace.b) + c;
    args.out.data = static_cast<T*>(workspace.out.view.data) + c;
    if (args.bias.data != nullptr) args.bias.data = static_cast<T*>(workspace.bias) + c;
  }
  RealProduct(const RealProduct&) = delete;
  RealProduct& operator=(const RealProduct&) = delete;

 private:
  static View real(const Operand& x, int64_t rows, int64_t cols, int64_t* sizes, int64_t* strides,
                   int32_t dtype) {
    sizes[0] = x.view.sizes[0], sizes[1] = rows, sizes[2] = cols;
    strides[0] = product(2, x.strides[0]), strides[1] = product(2, x.strides[1]), strides[2] = 1;
    return {x.view.data, sizes, strides, 3, dtype};
  }
};

// A block of `copy` if one side is contiguous along rows and the other along columns; else false.
template <class E>
bool transpose_block(E* out, const int64_t* out_strides, const E* in, const int64_t* in_strides,
                     int64_t rows, int64_t cols) {
  const TransposeFn turn = transposer(sizeof(E));
  constexpr int64_t bytes = sizeof(E);
  if (in_strides[1] == 1 && out_strides[2] == 1) {
    turn(reinterpret_cast<const char*>(in), in_strides[2] * bytes, cols, rows, out, out_strides[1]);
    return true;
  }
  if (in_strides[2] == 1 && out_strides[1] == 1) {
    turn(reinterpret_cast<const char*>(in), in_strides[1] * bytes, rows, cols, out, out_strides[2]);
    return true;
  }
  return false;
}

// out[b, i, j] = in[b, i, j], in blocks of rows and columns: one side may be contiguous along
// columns.
template <class E>
void copy(Context& context, const View& v, E* out, const int64_t* out_strides, const E* in,
          const int64_t* in_strides) {
  constexpr int64_t kSide = 32;
  const int64_t rows = v.sizes[1], cols = v.sizes[2], blocks = (rows + kSide - 1) / kSide;
  for_chunks(context, v.sizes[0] * blocks, [&](int64_t chunk) {
    const int64_t b = chunk / blocks, i0 = chunk % blocks * kSide;
    for (int64_t j0 = 0; j0 < cols; j0 += kSide) {
      const int64_t i1 = std::min(i0 + kSide, rows), j1 = std::min(j0 + kSide, cols);
      const auto first = [=](auto* x, const int64_t* strides) {
        return x + b * strides[0] + i0 * strides[1] + j0 * strides[2];
      };
      if (transpose_block(first(out, out_strides), out_strides, first(in, in_strides), in_strides,
                          i1 - i0, j1 - j0))
        continue;
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) {
          out[b * out_strides[0] + i * out_strides[1] + j * out_strides[2]] =
              in[b * in_strides[0] + i * in_strides[1] + j * in_strides[2]];
        }
      }
    }
  });
}

// Rows 2 s and 2 s + 1 of the real b are row s of the complex one, and i times it.
template <class E>
void widen(Context& context, const View& b, E* to) {
  constexpr int64_t kSide = 32;
  const int64_t k = b.sizes[1], n = b.sizes[2], blocks = (k + kSide - 1) / kSide;
  for_chunks(context, matrices_of(b) * blocks, [&](int64_t chunk) {
    const int64_t matrix = chunk / blocks, s0 = chunk % blocks * kSide;
    const E* from = static_cast<const E*>(b.data) + matrix * b.strides[0];
    E* rows = to + matrix * 2 * k * n;
    for (int64_t j0 = 0; j0 < n; j0 += kSide) {
      for (int64_t s = s0; s < std::min(s0 + kSide, k); ++s) {
        for (int64_t j = j0; j < std::min(j0 + kSide, n); ++j) {
          const E x = from[s * b.strides[1] + j * b.strides[2]];
          rows[2 * s * n + j] = x;
          rows[(2 * s + 1) * n + j] = {-x.imag(), x.real()};
        }
      }
    }
  });
}

// Values [s0, s1) of k of one panel of up to kPanel / 2 complex columns.
template <class T>
void pack_panel(T* panel, const std::complex<T>* from, const View& b, int64_t s0, int64_t s1,
                int64_t width) {
  using E = std::complex<T>;
  constexpr int64_t kWidth = kPanel<T> / 2;
  const int64_t row = b.strides[1], col = b.strides[2];
  const auto put = [](E* to, int64_t j, E x) {
    to[j] = x;
    to[kWidth + j] = {-x.imag(), x.real()};
  };
  E* const rows = reinterpret_cast<E*>(panel);
  if (col == 1 && width == kWidth) {
    for (int64_t s = s0; s < s1; ++s) {
      for (int64_t j = 0; j < kWidth; ++j) put(rows + 2 * s * kWidth, j, from[s * row + j]);
    }
    return;
  }
  for (int64_t j = 0; j < kWidth; ++j) {
    for (int64_t s = s0; s < s1; ++s) {
      put(rows + 2 * s * kWidth, j, j < width ? from[s * row + j * col] : E(0));
    }
  }
}

template <class T>
void pack_panels(Context& context, T* packed, const View& b) {
  constexpr int64_t kWidth = kPanel<T> / 2, kSide = 32;
  const int64_t k = b.sizes[1], n = b.sizes[2], panels = (n + kWidth - 1) / kWidth;
  const int64_t each = std::clamp<int64_t>((1 << 14) / std::max<int64_t>(1, k * kWidth), 4, 64);
  const int64_t groups = (panels + each - 1) / each;
  for_chunks(context, matrices_of(b) * groups, [&](int64_t chunk) {
    const int64_t m = chunk / groups, first = chunk % groups * each;
    const auto* from = static_cast<const std::complex<T>*>(b.data) + m * b.strides[0];
    for (int64_t s = 0; s < k; s += kSide) {
      for (int64_t panel = first; panel < std::min(first + each, panels); ++panel) {
        pack_panel(packed + (m * panels + panel) * 2 * k * kPanel<T>,
                   from + panel * kWidth * b.strides[2], b, s, std::min(s + kSide, k),
                   std::min(kWidth, n - panel * kWidth));
      }
    }
  });
}

// Cut by k alone and added in order, so that the sum depends on neither threads nor batch.
template <class T>
std::complex<T> long_dot(Context& context, const ComplexVector<T>& x, const ComplexVector<T>& y,
                         int64_t k) {
  constexpr int64_t kMostParts = 64, kPart = 1 << 14;
  if (k <= 2 * kPart) return complex_dot(x, y, k);
  const int64_t part = (k - 1) / kMostParts / kPart * kPart + kPart;
  std::complex<T> sum[kMostParts];
  for_chunks(context, (k - 1) / part + 1, [&](int64_t i) {
    const int64_t k0 = i * part;
    const ComplexVector<T> u{x.data + k0 * x.stride, x.stride}, v{y.data + k0 * y.stride, y.stride};
    sum[i] = complex_dot(u, v, std::min(part, k - k0));
  });
  for (int64_t i = 1; i * part < k; ++i) sum[0] += sum[i];
  return sum[0];
}

template <class T>
void dot_products(Context& context, const MatmulArgs& args) {
  using E = std::complex<T>;
  const auto at = [](const View& v, int64_t b) {
    return reinterpret_cast<E*>(const_cast<char*>(matrix(v, b)));
  };
  const T alpha = static_cast<T>(args.alpha), beta = static_cast<T>(args.beta);
  for_chunks(context, args.out.sizes[0], [&](int64_t b) {
    const ComplexVector<T> x{at(args.a, b), args.a.strides[2]}, y{at(args.b, b), args.b.strides[1]};
    E sum = alpha * long_dot(context, x, y, args.a.sizes[2]);
    E* out = at(args.out, b);
    if (beta != 0) sum += beta * *out;
    if (args.bias.data != nullptr) sum += *static_cast<const E*>(args.bias.data);
    *out = sum;
  });
}

// Row 0 of sums is the real parts of a times b's real numbers, row 1 the imaginary parts.
template <class T>
void real_rows(Context& context, const MatmulArgs& args, const RowWorkspace& workspace,
               BumpAllocator allocator) {
  const Shape s = shape_of(args);
  const int64_t n = 2 * s.n;
  const int64_t a_sizes[] = {s.batch, 2, s.k}, b_sizes[] = {s.batch, s.k, n};
  const int64_t out_sizes[] = {s.batch, 2, n}, out_strides[] = {2 * n, n, 1};
  const int64_t a_strides[] = {2 * args.a.strides[0], 1, 2 * args.a.strides[2]};
  const int64_t b_strides[] = {2 * workspace.b.strides[0], 2 * workspace.b.strides[1], 1};
  const int32_t dtype = real_dtype(args.out.dtype);
  MatmulArgs real{};
  real.a = {args.a.data, a_sizes, a_strides, 3, dtype};
  real.b = {workspace.b.view.data, b_sizes, b_strides, 3, dtype};
  real.out = {workspace.sums, out_sizes, out_strides, 3, dtype};
  float_product<T>(context, real, allocator);  // of two rows, which need no scratch
}

template <class T>
void row_products(Context& context, const MatmulArgs& args, BumpAllocator allocator) {
  using E = std::complex<T>;
  const RowWorkspace workspace = row_workspace_of(args, allocator);
  const Shape s = shape_of(args);
  if (workspace.b.copied) {
    copy(context, args.b, static_cast<E*>(workspace.b.view.data), workspace.b.strides,
         static_cast<const E*>(args.b.data), args.b.strides);
  }
  real_rows<T>(context, args, workspace, allocator);
  const T alpha = static_cast<T>(args.alpha), beta = static_cast<T>(args.beta);
  const E* const sums = static_cast<const E*>(workspace.sums);
  for_chunks(context, s.batch, [&](int64_t b) {
    E* out = static_cast<E*>(args.out.data) + b * args.out.strides[0];
    for (int64_t j = 0; j < s.n; ++j, out += args.out.strides[2]) {
      const E x = sums[2 * b * s.n + j], y = sums[(2 * b + 1) * s.n + j];
      E sum(alpha * (x.real() - y.imag()), alpha * (x.imag() + y.real()));
      if (beta != 0) sum += beta * *out;
      if (args.bias.data != nullptr) {
        sum += static_cast<const E*>(args.bias.data)[j * args.bias.strides[0]];
      }
      *out = sum;
    }
  });
}

template <class T>
void multiply(Context& context, const MatmulArgs& args, BumpAllocator allocator) {
  using E = std::complex<T>;
  if (numel(args.out) == 0) return;
  if (args.out.sizes[1] == 1 && args.out.sizes[2] == 1) return dot_products<T>(context, args);
  if (by_rows_of_b(shape_of(args))) return row_products<T>(context, args, allocator);
  const Workspace workspace = workspace_of(args, allocator);
  const auto at = [](const void* data) { return static_cast<E*>(const_cast<void*>(data)); };
  const View &a = args.a, &out = args.out;
  // Copy operands whose layout the real product cannot read.
  if (workspace.a.copied) {
    copy(context, a, at(workspace.a.view.data), workspace.a.strides, at(a.data), a.strides);
  }
  if (workspace.out.copied && args.beta != 0) {
    copy(context, out, at(workspace.out.view.data), workspace.out.strides, at(out.data),
         out.strides);
  }
  // Pack b.
  if (by_vectors(shape_of(args))) {
    widen(context, args.b, at(workspace.b));
  } else if (args.packed_b == nullptr) {
    pack_panels(context, static_cast<T*>(workspace.b), args.b);
  }
  for (int64_t j = 0; args.bias.data != nullptr && j < args.out.sizes[2]; ++j) {
    at(workspace.bias)[j] = at(args.bias.data)[j * args.bias.strides[0]];
  }
  // Multiply as real numbers.
  RealProduct real(args, workspace);
  if (out.sizes[2] == 1) {
    for (int c : {0, 1}) {
      real.keep_column<T>(workspace, c);
      vector_product(context, real.args);
    }
  } else {
    float_product<T>(context, real.args, allocator);
  }
  // Copy the result back.
  if (workspace.out.copied) {
    copy(context, out, at(out.data), out.strides, at(workspace.out.view.data),
         workspace.out.strides);
  }
}

}  // namespace

int64_t complex_panels_size(int32_t dtype, int64_t n, int64_t k) {
  return panels_size(dtype, n, k);
}

void pack_complex_panels(Context& context, void* packed, const View& b) {
  if (b.dtype == LIBDL_DTYPE_COMPLEX64) return pack_panels(context, static_cast<float*>(packed), b);
  pack_panels(context, static_cast<double*>(packed), b);
}

void carve_complex_product(const MatmulArgs& args, BumpAllocator& allocator) {
  if (by_rows_of_b(shape_of(args))) {
    row_workspace_of(args, allocator);
    return;
  }
  const Workspace workspace = workspace_of(args, allocator);
  const RealProduct real(args, workspace);
  if (args.out.dtype == LIBDL_DTYPE_COMPLEX64)
    return carve_float_product<float>(real.args, allocator);
  carve_float_product<double>(real.args, allocator);
}

void complex_product(Context& context, const MatmulArgs& args, BumpAllocator allocator) {
  if (args.out.dtype == LIBDL_DTYPE_COMPLEX64) return multiply<float>(context, args, allocator);
  multiply<double>(context, args, allocator);
}

}  // namespace libdl::kernels::cpu
