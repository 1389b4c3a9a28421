// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/matmul.h"

#include <libdl/dtype.h>

#include <algorithm>
#include <climits>
#include <complex>

#include "kernels/cpu/blas.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/gemv.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/tile.h"
#include "kernels/cpu/walk.h"

namespace libdl::kernels::cpu {
namespace {

struct Shape {
  int64_t batch, m, n, k;
};
Shape shape_of(const MatmulArgs& a) {
  return {a.out.sizes[0], a.out.sizes[1], a.out.sizes[2], a.a.sizes[2]};
}

bool small_float(int32_t dtype) {
  return dtype == LIBDL_DTYPE_FLOAT32 || dtype == LIBDL_DTYPE_FLOAT16 ||
         dtype == LIBDL_DTYPE_BFLOAT16;
}
bool blas_type(int32_t dtype) {
  return dtype == LIBDL_DTYPE_COMPLEX64 || dtype == LIBDL_DTYPE_COMPLEX128;
}

template <class F>
void for_chunks(Context& context, int64_t chunks, const F& f) {
  in_chunks(context, chunks, 1, [&](int64_t first, int64_t) { f(first); });
}

// Pieces of scratch, each on its own cache lines; counted with data NULL.
struct Carver {
  char* data;
  int64_t used = 0;

  void* take(int64_t count, int64_t bytes) {
    int64_t size;
    if (used < 0 || bytes < 0 || __builtin_mul_overflow(count, bytes, &size) ||
        __builtin_add_overflow(size, used + 63, &size)) {
      used = -1;
      return nullptr;
    }
    void* piece = data == nullptr ? nullptr : data + used;
    used = size / 64 * 64;
    return piece;
  }
};

int64_t product(int64_t a, int64_t b, int64_t c = 1) {
  int64_t p;
  if (__builtin_mul_overflow(a, b, &p) || __builtin_mul_overflow(p, c, &p)) return INT64_MAX;
  return p;
}

// The cut of the output into even tiles, by sizes alone: enough of them to share, each large enough
// to repay what it reads.
struct Tiles {
  int64_t rows, cols, down, across, count;

  Tiles(const Shape& s, int64_t most_rows, int64_t most_cols, int64_t unit) {
    const int64_t m = std::max<int64_t>(s.m, 1), n = std::max<int64_t>(s.n, 1);
    const double work = static_cast<double>(s.m) * static_cast<double>(s.n) *
                        static_cast<double>(std::max<int64_t>(s.k, 1));
    cut(s, std::min(most_rows, m), std::min(most_cols, n), unit);
    while (s.batch * count < 8 && work / static_cast<double>(count) > 131072) {
      if (rows >= 2 * kLeastRows && 12 * rows > cols) {
        cut(s, (rows + 1) / 2, cols, unit);
      } else if (cols > unit) {
        cut(s, rows, (cols + 1) / 2, unit);
      } else {
        break;
      }
    }
  }

 private:
  static constexpr int64_t kLeastRows = 24;
  void cut(const Shape& s, int64_t height, int64_t width, int64_t unit) {
    down = (s.m + height - 1) / height;
    across = (s.n + width - 1) / width;
    rows = down == 0 ? height : (s.m + down - 1) / down;
    cols = across == 0 ? width : ((s.n + across - 1) / across + unit - 1) / unit * unit;
    across = (s.n + cols - 1) / cols;
    count = down * across;
  }
};

const char* matrix(const View& v, int64_t b) {
  return static_cast<const char*>(v.data) + b * v.strides[0] * dtype_bytes(v.dtype);
}

// ---- floating numbers: our own kernel over packed panels ----

// Bytes of a packed [k, n] of T, or -1.
template <class T>
int64_t panels_size(int64_t n, int64_t k) {
  if (n > INT64_MAX - kPanel<T>) return -1;
  const int64_t bytes = product((n + kPanel<T> - 1) / kPanel<T> * kPanel<T>, k, sizeof(T));
  return bytes == INT64_MAX ? -1 : bytes;
}

template <class T>
struct FloatRoom {
  T* packed;
  T* out;
};
bool writes_directly(const View& out) {
  return (out.dtype == LIBDL_DTYPE_FLOAT32 || out.dtype == LIBDL_DTYPE_FLOAT64) &&
         (out.strides[2] == 1 || out.sizes[2] == 1);
}
GemmOperand operand(const View& v, int64_t b) {
  return {matrix(v, b), v.strides[1], v.strides[2], v.dtype};
}

// Packing repays itself where a panel is read by more than one stripe of rows; a small b that lies
// by rows is read from cache as it is.
constexpr int64_t kMostRows = 192, kLeastToPack = 48;
bool packs_first(const MatmulArgs& a) {
  const Shape s = shape_of(a);
  const GemmOperand b{nullptr, a.b.strides[1], a.b.strides[2], a.b.dtype};
  const int64_t row = s.n * dtype_bytes(a.b.dtype);
  const bool small = row <= 2048 && s.k * row <= (1 << 20) && gemm_reads_in_place(b);
  return a.packed_b == nullptr && s.m > kLeastToPack && !small;
}

template <class T>
FloatRoom<T> float_room(const MatmulArgs& a, Carver& carver) {
  const Shape s = shape_of(a);
  FloatRoom<T> room{};
  if (packs_first(a)) {
    const int64_t matrices = a.b.strides[0] == 0 ? std::min<int64_t>(1, s.batch) : s.batch;
    room.packed = static_cast<T*>(carver.take(matrices, panels_size<T>(s.n, s.k)));
  }
  if (!writes_directly(a.out)) {
    room.out = static_cast<T*>(carver.take(product(s.batch, s.m, s.n), sizeof(T)));
  }
  return room;
}

template <class T>
void pack_panels(Context& context, T* packed, const View& b) {
  const int64_t k = b.sizes[1], n = b.sizes[2];
  const int64_t matrices = b.strides[0] == 0 ? std::min<int64_t>(1, b.sizes[0]) : b.sizes[0];
  const int64_t panels = (n + kPanel<T> - 1) / kPanel<T>;
  // About 2^15 values a chunk, of 8 panels where k is short: long runs of each row.
  const int64_t each = std::clamp<int64_t>((1 << 15) / std::max<int64_t>(1, k * kPanel<T>), 8, 64);
  const int64_t groups = (panels + each - 1) / each;
  for_chunks(context, matrices * groups, [&](int64_t chunk) {
    const int64_t m = chunk / groups, first = chunk % groups * each;
    T* to = packed + m * panels * kPanel<T> * k;
    gemm_pack(to, operand(b, m), k, n, first, std::min(first + each, panels));
  });
}

template <class T>
void float_tile(const MatmulArgs& args, const FloatRoom<T>& room, const T* packed,
                const Tiles& tiles, int64_t chunk) {
  const Shape s = shape_of(args);
  const int64_t b = chunk / tiles.count, t = chunk % tiles.count;
  GemmTile<T> tile{};
  tile.a = operand(args.a, b);
  tile.b = operand(args.b, b);
  if (packed != nullptr) {
    tile.packed = packed + (args.b.strides[0] == 0
                                ? 0
                                : b * (panels_size<T>(s.n, s.k) / static_cast<int64_t>(sizeof(T))));
  }
  tile.k = s.k;
  tile.i0 = t / tiles.across * tiles.rows;
  tile.i1 = std::min(tile.i0 + tiles.rows, s.m);
  tile.j0 = t % tiles.across * tiles.cols;
  tile.j1 = std::min(tile.j0 + tiles.cols, s.n);
  tile.alpha = static_cast<T>(args.alpha);
  tile.beta = static_cast<T>(args.beta);
  const int64_t bytes = dtype_bytes(args.out.dtype);
  char* out = const_cast<char*>(matrix(args.out, b));
  const bool direct = room.out == nullptr;
  tile.out = direct ? reinterpret_cast<T*>(out) : room.out + b * s.m * s.n;
  tile.out_stride = direct ? args.out.strides[1] : s.n;
  const int64_t width = tile.j1 - tile.j0;
  for (int64_t i = tile.i0; !direct && args.beta != 0 && i < tile.i1; ++i) {
    load_tile(tile.out + i * s.n + tile.j0,
              out + (i * args.out.strides[1] + tile.j0 * args.out.strides[2]) * bytes,
              args.out.dtype, args.out.strides[2], width);
  }
  const bool plain_bias =
      args.bias.data == nullptr ||
      args.bias.dtype == (sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64);
  if (args.bias.data != nullptr && plain_bias) {
    tile.bias = static_cast<const T*>(args.bias.data);
    tile.bias_stride = args.bias.strides[0];
  }
  gemm_tile(tile);
  for (int64_t j = tile.j0; !plain_bias && j < tile.j1; ++j) {
    T x;
    load_tile(&x,
              static_cast<const char*>(args.bias.data) +
                  j * args.bias.strides[0] * dtype_bytes(args.bias.dtype),
              args.bias.dtype, 1, 1);
    for (int64_t i = tile.i0; i < tile.i1; ++i) tile.out[i * tile.out_stride + j] += x;
  }
  for (int64_t i = tile.i0; !direct && i < tile.i1; ++i) {
    store_tile(out + (i * args.out.strides[1] + tile.j0 * args.out.strides[2]) * bytes,
               args.out.dtype, args.out.strides[2], tile.out + i * s.n + tile.j0, width);
  }
}

template <class T>
void float_product(Context& context, const MatmulArgs& args) {
  const Shape s = shape_of(args);
  Carver carver{static_cast<char*>(args.scratch)};
  const FloatRoom<T> room = float_room<T>(args, carver);
  const T* packed = static_cast<const T*>(args.packed_b);
  if (packs_first(args)) {
    pack_panels(context, room.packed, args.b);
    packed = room.packed;
  }
  // So many rows that those of out, often a power of two apart, keep their places in a cache.
  const Tiles tiles(s, kMostRows, 16 * kPanel<T>, kPanel<T>);
  for_chunks(context, s.batch * tiles.count,
             [&](int64_t chunk) { float_tile(args, room, packed, tiles, chunk); });
}

// ---- one row or one column: matrix times vector ----

bool is_gemv(const Shape& s) { return s.m == 1 || s.n == 1; }

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

template <class T>
void vector_product(Context& context, const MatmulArgs& args) {
  const Shape s = shape_of(args);
  const bool row = s.m == 1;  // out = a_row b, hence the transpose of b times a
  const View& w = row ? args.b : args.a;
  const View& x = row ? args.a : args.b;
  const int64_t rows = row ? s.n : s.m;
  const int64_t out_stride = args.out.strides[row ? 2 : 1];
  const int64_t bias_stride = args.bias.data == nullptr || !row ? 0 : args.bias.strides[0];
  // Where k is the slow dimension a wide strip of it reads memory in long runs.
  const bool wide = w.strides[row ? 2 : 1] == 1;
  const int64_t most =
      wide ? kGemvRows : std::max<int64_t>(4, (1 << 16) / std::max<int64_t>(1, s.k));
  const int64_t height = std::min({kGemvRows, most, std::max<int64_t>(rows, 1)});
  const int64_t parts = (rows + height - 1) / height;
  for_chunks(context, s.batch * parts, [&](int64_t chunk) {
    const int64_t b = chunk / parts, i0 = chunk % parts * height;
    const int64_t i1 = std::min(i0 + height, rows);
    T y[kGemvRows];
    const GemvOperand operand{matrix(w, b), w.strides[row ? 2 : 1], w.strides[row ? 1 : 2],
                              w.dtype};
    gemv(operand, matrix(x, b), x.strides[row ? 2 : 1], s.k, i0, i1, y);
    char* out =
        const_cast<char*>(matrix(args.out, b)) + i0 * out_stride * dtype_bytes(args.out.dtype);
    finish_vector(args, y, out, out_stride, i0, bias_stride, i1 - i0);
  });
}

// ---- integers, and whatever the library cannot take: plain loops over tiles ----

template <class T>
T element(const char* data, int32_t dtype) {
  T x;
  load_tile(&x, data, dtype, 1, 1);
  return x;
}

template <class T>
void plain_tile(const MatmulArgs& args, int64_t b, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
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
void plain_product(Context& context, const MatmulArgs& args) {
  const Shape s = shape_of(args);
  const int64_t down = (s.m + 7) / 8, across = (s.n + 63) / 64;
  for_chunks(context, s.batch * down * across, [&](int64_t chunk) {
    const int64_t b = chunk / (down * across), t = chunk % (down * across);
    const int64_t i = t / across * 8, j = t % across * 64;
    plain_tile<T>(args, b, i, std::min(i + 8, s.m), j, std::min(j + 64, s.n));
  });
}

// ---- complex numbers: BLAS on tiles of the output ----

// A matrix as BLAS takes it: rows (or columns, if transposed) `lead` elements apart.
struct BlasOperand {
  const void* data;  // of batch 0
  int64_t batch_stride, lead;
  bool transposed;
};
bool blas_takes(const View& v, BlasOperand* operand) {
  const int64_t rows = v.sizes[1], cols = v.sizes[2];
  const int64_t rs = v.strides[1], cs = v.strides[2];
  const bool by_rows = (cs == 1 || cols == 1) && (rows == 1 || rs >= cols);
  const bool by_cols = (rs == 1 || rows == 1) && (cols == 1 || cs >= rows);
  const int64_t lead = by_rows ? (rows == 1 ? cols : rs) : (cols == 1 ? rows : cs);
  *operand = {v.data, v.strides[0], lead, !by_rows};
  return (by_rows || by_cols) && lead <= INT_MAX;
}

struct BlasRoom {
  BlasOperand a, b, out;
  bool copy_a, copy_b, copy_out;
};
// NULL data stands for a view that BLAS takes as it is.
BlasRoom blas_room(const MatmulArgs& args, Carver& carver) {
  const Shape s = shape_of(args);
  const int64_t bytes = dtype_bytes(args.out.dtype);
  BlasRoom room{};
  const auto copy = [&](const View& v, BlasOperand& to) {
    const int64_t matrices = v.strides[0] == 0 ? std::min<int64_t>(1, s.batch) : s.batch;
    const int64_t size = product(v.sizes[1], v.sizes[2]);
    to = {carver.take(product(matrices, size), bytes), v.strides[0] == 0 ? 0 : size, v.sizes[2],
          false};
  };
  room.copy_a = !blas_takes(args.a, &room.a);
  room.copy_b = !blas_takes(args.b, &room.b);
  room.copy_out = !blas_takes(args.out, &room.out) || room.out.transposed;
  if (room.copy_a) copy(args.a, room.a);
  if (room.copy_b) copy(args.b, room.b);
  if (room.copy_out) copy(args.out, room.out);
  return room;
}

// Contiguous copies of the matrices of v, E in and E out.
template <class E>
void copy_matrices(Context& context, const View& v, const BlasOperand& to) {
  const int64_t rows = v.sizes[1], cols = v.sizes[2];
  const int64_t matrices = to.batch_stride == 0 ? 1 : v.sizes[0];
  constexpr int64_t kRows = 32;
  const int64_t blocks = (rows + kRows - 1) / kRows;
  for_chunks(context, matrices * blocks, [&](int64_t chunk) {
    const int64_t b = chunk / blocks, i0 = chunk % blocks * kRows;
    const E* from = static_cast<const E*>(v.data) + b * v.strides[0];
    E* out = const_cast<E*>(static_cast<const E*>(to.data)) + b * to.batch_stride;
    for (int64_t j0 = 0; j0 < cols; j0 += kRows) {
      for (int64_t i = i0; i < std::min(i0 + kRows, rows); ++i) {
        for (int64_t j = j0; j < std::min(j0 + kRows, cols); ++j) {
          out[i * cols + j] = from[i * v.strides[1] + j * v.strides[2]];
        }
      }
    }
  });
}

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
          const std::complex<float>* a, int lda, const std::complex<float>* b, int ldb, double beta,
          std::complex<float>* c, int ldc) {
  const std::complex<float> x(static_cast<float>(alpha)), y(static_cast<float>(beta));
  cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, &x, a, lda, b, ldb, &y, c, ldc);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
          const std::complex<double>* a, int lda, const std::complex<double>* b, int ldb,
          double beta, std::complex<double>* c, int ldc) {
  const std::complex<double> x(alpha), y(beta);
  cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, &x, a, lda, b, ldb, &y, c, ldc);
}

template <class E>
void blas_tile(const MatmulArgs& args, const BlasRoom& room, const Tiles& tiles, int64_t chunk) {
  const Shape s = shape_of(args);
  const int64_t b = chunk / tiles.count, t = chunk % tiles.count;
  const int64_t i0 = t / tiles.across * tiles.rows, i1 = std::min(i0 + tiles.rows, s.m);
  const int64_t j0 = t % tiles.across * tiles.cols, j1 = std::min(j0 + tiles.cols, s.n);
  const E* x = static_cast<const E*>(room.a.data) + b * room.a.batch_stride +
               i0 * (room.a.transposed ? 1 : room.a.lead);
  const E* y = static_cast<const E*>(room.b.data) + b * room.b.batch_stride +
               j0 * (room.b.transposed ? room.b.lead : 1);
  E* to = const_cast<E*>(static_cast<const E*>(room.out.data)) + b * room.out.batch_stride;
  E* out = static_cast<E*>(args.out.data) + b * args.out.strides[0];
  if (room.copy_out && args.beta != 0) {
    for (int64_t i = i0; i < i1; ++i) {
      for (int64_t j = j0; j < j1; ++j) {
        to[i * room.out.lead + j] = out[i * args.out.strides[1] + j * args.out.strides[2]];
      }
    }
  }
  {
    const BlasCall call;
    gemm(room.a.transposed ? CblasTrans : CblasNoTrans,
         room.b.transposed ? CblasTrans : CblasNoTrans, static_cast<int>(i1 - i0),
         static_cast<int>(j1 - j0), static_cast<int>(s.k), args.alpha, x,
         static_cast<int>(room.a.lead), y, static_cast<int>(room.b.lead), args.beta,
         to + i0 * room.out.lead + j0, static_cast<int>(room.out.lead));
  }
  const E* bias = static_cast<const E*>(args.bias.data);
  for (int64_t i = i0; i < i1; ++i) {
    E* row = to + i * room.out.lead;
    for (int64_t j = j0; bias != nullptr && j < j1; ++j) row[j] += bias[j * args.bias.strides[0]];
    for (int64_t j = j0; room.copy_out && j < j1; ++j) {
      out[i * args.out.strides[1] + j * args.out.strides[2]] = row[j];
    }
  }
}

template <class E>
void blas_product(Context& context, const MatmulArgs& args) {
  const Shape s = shape_of(args);
  Carver carver{static_cast<char*>(args.scratch)};
  const BlasRoom room = blas_room(args, carver);
  if (room.copy_a) copy_matrices<E>(context, args.a, room.a);
  if (room.copy_b) copy_matrices<E>(context, args.b, room.b);
  const Tiles tiles(s, 512, 512, 32);
  for_chunks(context, s.batch * tiles.count,
             [&](int64_t chunk) { blas_tile<E>(args, room, tiles, chunk); });
}

bool blas_fits(const MatmulArgs& args) {
  const Shape s = shape_of(args);
  const bool bias = args.bias.data == nullptr || args.bias.dtype == args.out.dtype;
  return bias && s.k > 0 && s.k <= INT_MAX && s.n <= INT_MAX && s.m <= INT_MAX;
}

}  // namespace

bool matmul_reads_packed(int32_t dtype, int64_t m, int64_t n, int64_t) {
  return small_float(dtype) && m > 1 && n > 1;
}

int64_t packed_size(int64_t n, int64_t k) { return panels_size<float>(n, k); }

void pack_b(Context& context, void* packed, const View& b) {
  pack_panels(context, static_cast<float*>(packed), b);
}

int64_t matmul_scratch(const MatmulArgs& args) {
  Carver carver{nullptr};
  const bool vector = is_gemv(shape_of(args));
  if (vector && (small_float(args.out.dtype) || args.out.dtype == LIBDL_DTYPE_FLOAT64)) return 0;
  if (small_float(args.out.dtype)) {
    float_room<float>(args, carver);
  } else if (args.out.dtype == LIBDL_DTYPE_FLOAT64) {
    float_room<double>(args, carver);
  } else if (blas_type(args.out.dtype) && blas_fits(args)) {
    blas_room(args, carver);
  }
  return carver.used;
}

void matmul(Context& context, const MatmulArgs& args) {
  const int32_t dtype = args.out.dtype;
  if (is_gemv(shape_of(args))) {
    if (small_float(dtype)) return vector_product<float>(context, args);
    if (dtype == LIBDL_DTYPE_FLOAT64) return vector_product<double>(context, args);
  }
  if (small_float(dtype)) return float_product<float>(context, args);
  if (dtype == LIBDL_DTYPE_FLOAT64) return float_product<double>(context, args);
  if (blas_type(dtype) && blas_fits(args)) {
    if (dtype == LIBDL_DTYPE_COMPLEX64) return blas_product<std::complex<float>>(context, args);
    return blas_product<std::complex<double>>(context, args);
  }
  if (blas_type(dtype)) return plain_product<std::complex<double>>(context, args);
  plain_product<uint64_t>(context, args);
}

}  // namespace libdl::kernels::cpu
