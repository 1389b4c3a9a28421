// SPDX-License-Identifier: Apache-2.0

// Complex matrices as real ones: a complex row of a is a row of twice as many numbers already, and
// so is one of out. b becomes twice as high and twice as wide: each of its rows, and i times it.
// The real product of these has as many multiplications as the complex one.

#include <algorithm>
#include <complex>

#include "kernels/cpu/matmul_parts.h"

namespace libdl::kernels::cpu {
namespace {

// A contiguous copy of the matrices of v, or v itself.
struct Operand {
  View view;
  int64_t strides[3];
  bool copied;
};

struct Room {
  Operand a, out;
  void *b, *bias;
};

Operand by_rows(const View& v, int64_t batch, Carver& carver) {
  Operand x{v, {v.strides[0], v.strides[1], v.strides[2]}, false};
  if (v.strides[2] != 1 && v.sizes[2] != 1) {
    const int64_t rows = v.sizes[1], cols = v.sizes[2];
    x.copied = true;
    x.view.data = carver.take(product(batch, rows, cols), dtype_bytes(v.dtype));
    x.strides[0] = product(rows, cols);
    x.strides[1] = cols;
  }
  x.strides[2] = 1;
  return x;
}

int64_t matrices_of(const View& v) { return v.strides[0] == 0 ? (v.sizes[0] > 0) : v.sizes[0]; }

Room room_of(const MatmulArgs& args, Carver& carver) {
  const Shape s = shape_of(args);
  const int64_t bytes = dtype_bytes(args.out.dtype);
  Room room{};
  room.a = by_rows(args.a, s.batch, carver);
  room.out = by_rows(args.out, s.batch, carver);
  room.b = carver.take(product(matrices_of(args.b), s.k, s.n), 2 * bytes);
  if (args.bias.data != nullptr) room.bias = carver.take(s.n, bytes);
  return room;
}

// The product of real numbers, over sizes and strides that live here.
struct RealProduct {
  int64_t a_sizes[3], b_sizes[3], out_sizes[3], bias_size, one = 1;
  int64_t a_strides[3], b_strides[3], out_strides[3];
  MatmulArgs args;

  RealProduct(const MatmulArgs& complex, const Room& room) : args(complex) {
    const Shape s = shape_of(complex);
    const int32_t dtype =
        complex.out.dtype == LIBDL_DTYPE_COMPLEX64 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64;
    const int64_t k = product(2, s.k), n = product(2, s.n);
    args.a = real(room.a, s.m, k, a_sizes, a_strides, dtype);
    args.out = real(room.out, s.m, n, out_sizes, out_strides, dtype);
    b_sizes[0] = s.batch, b_sizes[1] = k, b_sizes[2] = n;
    b_strides[0] = complex.b.strides[0] == 0 ? 0 : product(k, n);
    b_strides[1] = n, b_strides[2] = 1;
    args.b = {room.b, b_sizes, b_strides, 3, dtype};
    bias_size = n;
    if (complex.bias.data != nullptr) args.bias = {room.bias, &bias_size, &one, 1, dtype};
    args.packed_b = nullptr;
  }
  // Of the two columns that a single complex one has become, one. Where there are no rows of b there
  // is no room for them either.
  template <class T>
  void keep_column(const Room& room, int c) {
    b_sizes[2] = out_sizes[2] = bias_size = 1;
    if (b_sizes[1] > 0) args.b.data = static_cast<T*>(room.b) + c;
    args.out.data = static_cast<T*>(room.out.view.data) + c;
    if (args.bias.data != nullptr) args.bias.data = static_cast<T*>(room.bias) + c;
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

// out[b, i, j] = in[b, i, j], blocks of rows and columns at a time: one side may lie by columns.
template <class E>
void copy(Context& context, const View& v, E* out, const int64_t* out_strides, const E* in,
          const int64_t* in_strides) {
  constexpr int64_t kSide = 32;
  const int64_t rows = v.sizes[1], cols = v.sizes[2], blocks = (rows + kSide - 1) / kSide;
  for_chunks(context, v.sizes[0] * blocks, [&](int64_t chunk) {
    const int64_t b = chunk / blocks, i0 = chunk % blocks * kSide;
    for (int64_t j0 = 0; j0 < cols; j0 += kSide) {
      for (int64_t i = i0; i < std::min(i0 + kSide, rows); ++i) {
        for (int64_t j = j0; j < std::min(j0 + kSide, cols); ++j) {
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

template <class T>
void multiply(Context& context, const MatmulArgs& args, Carver carver) {
  using E = std::complex<T>;
  if (numel(args.out) == 0) return;
  const Room room = room_of(args, carver);
  const auto at = [](const void* data) { return static_cast<E*>(const_cast<void*>(data)); };
  const View &a = args.a, &out = args.out;
  if (room.a.copied) {
    copy(context, a, at(room.a.view.data), room.a.strides, at(a.data), a.strides);
  }
  if (room.out.copied && args.beta != 0) {
    copy(context, out, at(room.out.view.data), room.out.strides, at(out.data), out.strides);
  }
  widen(context, args.b, at(room.b));
  for (int64_t j = 0; args.bias.data != nullptr && j < args.out.sizes[2]; ++j) {
    at(room.bias)[j] = at(args.bias.data)[j * args.bias.strides[0]];
  }
  RealProduct real(args, room);
  if (out.sizes[2] == 1) {
    for (int c : {0, 1}) {
      real.keep_column<T>(room, c);
      vector_product(context, real.args);
    }
  } else if (out.sizes[1] == 1) {
    vector_product(context, real.args);
  } else {
    float_product<T>(context, real.args, carver);
  }
  if (room.out.copied) {
    copy(context, out, at(out.data), out.strides, at(room.out.view.data), room.out.strides);
  }
}

}  // namespace

void carve_complex_product(const MatmulArgs& args, Carver& carver) {
  const Room room = room_of(args, carver);
  const RealProduct real(args, room);
  if (args.out.dtype == LIBDL_DTYPE_COMPLEX64) return carve_float_product<float>(real.args, carver);
  carve_float_product<double>(real.args, carver);
}

void complex_product(Context& context, const MatmulArgs& args, Carver carver) {
  if (args.out.dtype == LIBDL_DTYPE_COMPLEX64) return multiply<float>(context, args, carver);
  multiply<double>(context, args, carver);
}

}  // namespace libdl::kernels::cpu
