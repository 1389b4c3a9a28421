// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/kernels.h"

#include <libdl/dtype.h>

#include <algorithm>
#include <complex>
#include <type_traits>

#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

constexpr int64_t kChunk = 1 << 13;  // elements that are worth a chunk
constexpr int64_t kTile = 256;       // elements of a row that are converted at once

struct Half {};  // either 16-bit dtype, computed in float

// A matrix whose elements are read and written as T, in pieces of a row of up to kTile.
template <class E>
struct Matrix {
  using T = E;
  T* data;
  int64_t columns;
  Matrix(const void* data, int64_t columns, int32_t)
      : data(static_cast<T*>(const_cast<void*>(data))), columns(columns) {}
  const T* read(T*, int64_t row, int64_t column, int64_t) const {
    return data + row * columns + column;
  }
  void write(const T* tile, int64_t row, int64_t column, int64_t n) const {
    std::copy_n(tile, n, data + row * columns + column);
  }
  const void* address(int64_t row, int64_t column) const { return data + row * columns + column; }
};
template <>
struct Matrix<Half> {
  using T = float;
  uint16_t* data;
  int64_t columns;
  int32_t dtype;
  Matrix(const void* data, int64_t columns, int32_t dtype)
      : data(static_cast<uint16_t*>(const_cast<void*>(data))), columns(columns), dtype(dtype) {}
  const T* read(T* tile, int64_t row, int64_t column, int64_t n) const {
    load_tile(tile, data + row * columns + column, dtype, 1, n);
    return tile;
  }
  void write(const T* tile, int64_t row, int64_t column, int64_t n) const {
    store_tile(data + row * columns + column, dtype, 1, tile, n);
  }
  const void* address(int64_t row, int64_t column) const { return data + row * columns + column; }
};

// Rows lie anywhere in a large table: that of the reading `kAhead` later is fetched now.
// (Inlined by force: gcc takes a function of prefetches alone for one without effects.)
constexpr int64_t kAhead = 8;
template <class E>
[[gnu::always_inline]] inline void fetch(const Matrix<E>& in, const int64_t* order, int64_t p,
                                         int64_t end, int64_t c, int64_t n) {
  constexpr int64_t kLine = 64;
  if (p + kAhead >= end) return;
  const auto* const row = static_cast<const char*>(in.address(order[p + kAhead], c));
  const int64_t bytes = n * static_cast<int64_t>(sizeof *in.data);
  for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(row + i);
}

// Calls body(r, column, n) for the pieces of all rows of the result; `starts` tells their work.
template <class Body>
void each_piece(Context& context, int64_t rows, int64_t columns, const int64_t* starts,
                const Body& body) {
  if (rows == 0 || columns == 0) return;
  const int64_t each = columns * std::max<int64_t>(1, (starts[rows] - starts[0]) / rows);
  in_chunks(context, rows, std::max<int64_t>(1, kChunk / each), [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r)
      for (int64_t c = 0; c < columns; c += kTile) body(r, c, std::min(kTile, columns - c));
  });
}

template <class E>
struct SumRows {
  using T = typename Matrix<E>::T;
  const SumRowsArgs& a;
  const Matrix<E> out, in, factors;

  explicit SumRows(const SumRowsArgs& args)
      : a(args),
        out(a.out, a.columns, a.dtype),
        in(a.in, a.columns, a.dtype),
        factors(a.factors, 1, a.dtype) {}

  // The readings [first, last), one after the other.
  void add(int64_t first, int64_t last, int64_t c, int64_t n, T* sum) const {
    T tile[kTile], place[1];
    for (int64_t p = first; p < last; ++p) {
      fetch(in, a.order, p, a.starts[a.rows], c, n);
      const T* const from = in.read(tile, a.order[p], c, n);
      if (a.factors) {
        const T factor = *factors.read(place, p, 0, 1);
        for (int64_t i = 0; i < n; ++i) sum[i] += factor * from[i];
      } else if (p == first) {
        std::copy_n(from, n, sum);
      } else {
        for (int64_t i = 0; i < n; ++i) sum[i] += from[i];
      }
    }
  }
  // Of many readings: runs of them, whose sums are added in double precision.
  void add_runs(int64_t first, int64_t last, int64_t c, int64_t n, T* sum) const {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;
    Wide total[kTile] = {};
    for (int64_t p = first; p < last; p += kRun) {
      T part[kTile] = {};
      add(p, std::min(p + kRun, last), c, n, part);
      for (int64_t i = 0; i < n; ++i) total[i] += Wide(part[i]);
    }
    for (int64_t i = 0; i < n; ++i) sum[i] = T(total[i]);
  }
  void operator()(int64_t r, int64_t c, int64_t n) const {
    const int64_t first = a.starts[r], last = a.starts[r + 1], terms = last - first;
    T sum[kTile];
    if (terms == 1 && !a.factors) {
      fetch(in, a.order, first, a.starts[a.rows], c, n);
      return out.write(in.read(sum, a.order[first], c, n), r, c, n);
    }
    std::fill_n(sum, n, T(0));
    if (terms > kRun) {
      add_runs(first, last, c, n, sum);
    } else {
      add(first, last, c, n, sum);
    }
    if (a.mean && terms > 1)
      for (int64_t i = 0; i < n; ++i) sum[i] /= static_cast<T>(terms);
    out.write(sum, r, c, n);
  }

 private:
  static constexpr int64_t kRun = 64;
};

template <class E>
void sum(Context& context, const SumRowsArgs& a) {
  each_piece(context, a.rows, a.columns, a.starts, SumRows<E>(a));
}

template <class E>
void largest(Context& context, const MaxRowsArgs& a) {
  using T = typename Matrix<E>::T;
  const Matrix<E> out(a.out, a.columns, a.dtype), in(a.in, a.columns, a.dtype);
  each_piece(context, a.rows, a.columns, a.starts, [&](int64_t r, int64_t c, int64_t n) {
    T most[kTile] = {}, tile[kTile];
    int64_t* const place = a.from + r * a.columns + c;
    std::fill_n(place, n, int64_t{-1});
    for (int64_t p = a.starts[r]; p < a.starts[r + 1]; ++p) {
      fetch(in, a.order, p, a.starts[a.rows], c, n);
      const T* const from = in.read(tile, a.order[p], c, n);
      const bool first = p == a.starts[r];
      for (int64_t i = 0; i < n; ++i) {
        const bool larger = first || from[i] > most[i];
        most[i] = larger ? from[i] : most[i];
        place[i] = larger ? a.order[p] : place[i];
      }
    }
    out.write(most, r, c, n);
  });
}

template <class E>
void dot(Context& context, const DotRowsArgs& a) {
  using T = typename Matrix<E>::T;
  constexpr int64_t kLanes = 8;  // sums side by side, whatever the instruction set
  const Matrix<E> left(a.a, a.columns, a.dtype), right(a.b, a.columns, a.dtype);
  const Matrix<E> out(a.out, 1, a.dtype);
  const int64_t grain = std::max<int64_t>(1, kChunk / std::max<int64_t>(1, a.columns));
  in_chunks(context, a.count, grain, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      T lanes[kLanes] = {}, tiles[2][kTile];
      for (int64_t c = 0; c < a.columns; c += kTile) {
        const int64_t n = std::min(kTile, a.columns - c);
        const T* const x = left.read(tiles[0], a.a_order[p], c, n);
        const T* const y = right.read(tiles[1], a.b_order[p], c, n);
        int64_t i = 0;
        for (; i + kLanes <= n; i += kLanes)
          for (int64_t k = 0; k < kLanes; ++k) lanes[k] += x[i + k] * y[i + k];
        for (int64_t k = 0; i < n; ++i, ++k) lanes[k] += x[i] * y[i];
      }
      for (int64_t width = kLanes / 2; width > 0; width /= 2)
        for (int64_t k = 0; k < width; ++k) lanes[k] += lanes[k + width];
      out.write(lanes, p, 0, 1);
    }
  });
}

}  // namespace

void sum_rows(Context& context, const SumRowsArgs& a) {
  switch (a.dtype) {
    case LIBDL_DTYPE_FLOAT64: return sum<double>(context, a);
    case LIBDL_DTYPE_FLOAT32: return sum<float>(context, a);
    case LIBDL_DTYPE_COMPLEX64: return sum<std::complex<float>>(context, a);
    case LIBDL_DTYPE_COMPLEX128: return sum<std::complex<double>>(context, a);
    default: sum<Half>(context, a);
  }
}

void max_rows(Context& context, const MaxRowsArgs& a) {
  switch (a.dtype) {
    case LIBDL_DTYPE_FLOAT64: return largest<double>(context, a);
    case LIBDL_DTYPE_FLOAT32: return largest<float>(context, a);
    default: largest<Half>(context, a);
  }
}

void dot_rows(Context& context, const DotRowsArgs& a) {
  switch (a.dtype) {
    case LIBDL_DTYPE_FLOAT64: return dot<double>(context, a);
    case LIBDL_DTYPE_FLOAT32: return dot<float>(context, a);
    default: dot<Half>(context, a);
  }
}

}  // namespace libdl::kernels::cpu
