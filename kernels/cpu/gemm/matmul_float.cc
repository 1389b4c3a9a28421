// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/matmul.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/rooms.h"

namespace libdl::kernels::cpu {
namespace {

// How the output is cut into even tiles, by sizes alone. There are enough tiles for all threads,
// and an even number of them, because two threads are the most frequent ones. They are wide,
// because every tile copies its rows of a; less so if each tile reads b's columns from beyond the
// L2 cache; and each is large enough to pay for what it reads.
struct Tiles {
  static constexpr int64_t kMostCols = 1024;
  int64_t rows, cols, down, across, count;  // rows: of the highest tile

  Tiles(const Shape& s, int64_t unit) : all_rows_(s.m) {
    const int64_t m = std::max<int64_t>(s.m, 1), n = std::max<int64_t>(s.n, 1);
    const double work = static_cast<double>(s.m) * static_cast<double>(s.n) *
                        static_cast<double>(std::max<int64_t>(s.k, 1));
    cut(s, std::min(kMostRows, m), std::min(kMostCols, n), unit);
    const int64_t ratio = stays_cached(s.k, s.n, sizeof(float)) ? 12 : 4;
    while (s.batch * count < 8 && work / static_cast<double>(count) > 131072) {
      if (rows >= 2 * kLeastRows && ratio * rows > cols) {
        cut(s, (rows + 1) / 2, cols, unit);
      } else if (cols > unit) {
        cut(s, rows, (cols + 1) / 2, unit);
      } else {
        break;
      }
    }
  }
  // The first row of a tile, counted downwards.
  int64_t row(int64_t tile) const { return all_rows_ * tile / down; }

 private:
  static constexpr int64_t kMostRows = 192, kLeastRows = 16;
  int64_t all_rows_;

  void cut(const Shape& s, int64_t height, int64_t width, int64_t unit) {
    down = (s.m + height - 1) / height;
    across = (s.n + width - 1) / width;
    cols = across == 0 ? width : ((s.n + across - 1) / across + unit - 1) / unit * unit;
    across = (s.n + cols - 1) / cols;
    if (down > 1 && down * across % 2 != 0) ++down;
    rows = down == 0 ? height : (s.m + down - 1) / down;
    count = down * across;
  }
};

// Bytes of a packed [k, n] of T, or -1.
template <class T>
int64_t panels_size(int64_t n, int64_t k) {
  if (n > INT64_MAX - kPanel<T>) return -1;
  const int64_t bytes = product((n + kPanel<T> - 1) / kPanel<T> * kPanel<T>, k, sizeof(T));
  return bytes == INT64_MAX ? -1 : bytes;
}

// How much is summed aside at once. Of few values of k the sums are made in no more time than it
// takes to read them again, so they stay in the first cache.
template <class T>
struct Aside {
  int64_t rows, cols;
  Aside(const Shape& s, const Tiles& tiles) : rows(tiles.rows), cols(tiles.cols) {
    if (s.k <= 64) rows = std::min(rows, kStripe<T> / 4), cols = std::min(cols, 16 * kPanel<T>);
  }
};

template <class T>
struct FloatRoom {
  T* packed;
  T* out;  // tiles, unless the result's memory holds the sums
};
// Packing pays off if a panel is read by more than one stripe of rows; a small row-major b is read
// from cache in place, unless its rows, multiples of 2 kB apart, share a few sets of the first
// cache.
template <class T>
bool packs_first(const MatmulArgs& a) {
  const Shape s = shape_of(a);
  const GemmOperand b{nullptr, a.b.strides[1], a.b.strides[2], a.b.dtype};
  const int64_t row = s.n * dtype_bytes(a.b.dtype);
  const bool apart = a.b.strides[1] * dtype_bytes(a.b.dtype) % 2048 != 0;
  const bool small = row <= 2048 && apart && stays_cached(s.k, row, 1) && gemm_reads_in_place(b);
  return a.packed_b == nullptr && s.m > kStripe<T> && !small;
}

template <class T>
FloatRoom<T> float_room(const MatmulArgs& a, Carver& carver) {
  const Shape s = shape_of(a);
  FloatRoom<T> room{};
  if (packs_first<T>(a)) {
    const int64_t matrices = a.b.strides[0] == 0 ? std::min<int64_t>(1, s.batch) : s.batch;
    room.packed = static_cast<T*>(carver.take(matrices, panels_size<T>(s.n, s.k)));
  }
  if (!writes_directly(a.out)) {
    const Tiles tiles(s, kPanel<T>);
    const Aside<T> aside(s, tiles);
    const int64_t at_once = std::min<int64_t>(s.batch * tiles.count, Rooms<T>::kMost);
    room.out = static_cast<T*>(carver.take(product(at_once, aside.rows, aside.cols), sizeof(T)));
  }
  return room;
}

template <class T>
void pack_panels(Context& context, T* packed, const View& b) {
  const int64_t k = b.sizes[1], n = b.sizes[2];
  const int64_t matrices = b.strides[0] == 0 ? std::min<int64_t>(1, b.sizes[0]) : b.sizes[0];
  const int64_t panels = (n + kPanel<T> - 1) / kPanel<T>;
  // About 2^15 values per chunk, and at least 8 panels, so that runs of each row are long.
  const int64_t each = std::clamp<int64_t>((1 << 15) / std::max<int64_t>(1, k * kPanel<T>), 8, 64);
  const int64_t groups = (panels + each - 1) / each;
  for_chunks(context, matrices * groups, [&](int64_t chunk) {
    const int64_t m = chunk / groups, first = chunk % groups * each;
    T* to = packed + m * panels * kPanel<T> * k;
    gemm_pack(to, operand(b, m), k, n, first, std::min(first + each, panels));
  });
}

// y += beta * out for a run of a row that is not T in memory. Done last, however k was cut.
template <class T>
void add_old(T* y, const MatmulArgs& args, const char* out, int64_t count) {
  constexpr int64_t kPiece = 256;
  T old[kPiece];
  const int64_t step = args.out.strides[2];
  for (int64_t j = 0; j < count; j += kPiece) {
    const int64_t n = std::min(kPiece, count - j);
    load_tile(old, out + j * step * dtype_bytes(args.out.dtype), args.out.dtype, step, n);
    for (int64_t c = 0; c < n; ++c) y[j + c] += static_cast<T>(args.beta) * old[c];
  }
}

// A part of the result, and of matrix b's.
struct Piece {
  int64_t b, i0, i1, j0, j1;
};
Piece piece_of(const Shape& s, const Tiles& tiles, int64_t chunk) {
  const int64_t t = chunk % tiles.count;
  const int64_t i = t / tiles.across, j = t % tiles.across * tiles.cols;
  return {chunk / tiles.count, tiles.row(i), tiles.row(i + 1), j, std::min(j + tiles.cols, s.n)};
}

// Bytes of a result that nobody finds in a cache afterwards, such as a large layer's gradient.
constexpr int64_t kLarge = 16 << 20;

// aside: room for the sums in rows of `width`, or NULL.
template <class T>
void float_tile(const MatmulArgs& args, const T* packed, const Piece& piece, T* aside,
                int64_t width_aside) {
  const Shape s = shape_of(args);
  const int64_t b = piece.b;
  GemmTile<T> tile{};
  tile.a = operand(args.a, b);
  tile.b = operand(args.b, b);
  if (packed != nullptr) {
    tile.packed = packed + (args.b.strides[0] == 0
                                ? 0
                                : b * (panels_size<T>(s.n, s.k) / static_cast<int64_t>(sizeof(T))));
  }
  tile.k = s.k;
  tile.i0 = piece.i0, tile.i1 = piece.i1, tile.j0 = piece.j0, tile.j1 = piece.j1;
  tile.alpha = static_cast<T>(args.alpha);
  const int64_t bytes = dtype_bytes(args.out.dtype);
  char* out = const_cast<char*>(matrix(args.out, b));
  const bool direct = aside == nullptr;
  // From the result's first row and column on, as the tile's are counted.
  tile.out = direct ? reinterpret_cast<T*>(out) : aside - (tile.i0 * width_aside + tile.j0);
  tile.out_stride = direct ? args.out.strides[1] : width_aside;
  tile.beta = direct ? static_cast<T>(args.beta) : 0;
  tile.large = direct && product(s.m, s.n, sizeof(T)) >= kLarge;
  const int64_t width = tile.j1 - tile.j0;
  const bool plain_bias = args.bias.data == nullptr || args.bias.dtype == kDtypeOf<T>;
  if (args.bias.data != nullptr && plain_bias) {
    tile.bias = static_cast<const T*>(args.bias.data);
    tile.bias_stride = args.bias.strides[0];
  }
  gemm_tile(tile);
  // Add a bias of another dtype.
  if (!plain_bias) {
    T shift[Tiles::kMostCols];
    load_tile(shift,
              static_cast<const char*>(args.bias.data) +
                  tile.j0 * args.bias.strides[0] * dtype_bytes(args.bias.dtype),
              args.bias.dtype, args.bias.strides[0], width);
    for (int64_t i = tile.i0; i < tile.i1; ++i) {
      T* const y = tile.out + i * tile.out_stride + tile.j0;
      for (int64_t j = 0; j < width; ++j) y[j] += shift[j];
    }
  }
  // Convert the tile to out's dtype.
  for (int64_t i = tile.i0; !direct && i < tile.i1; ++i) {
    char* to = out + (i * args.out.strides[1] + tile.j0 * args.out.strides[2]) * bytes;
    T* const from = tile.out + i * tile.out_stride + tile.j0;
    if (args.beta != 0) add_old(from, args, to, width);
    store_tile(to, args.out.dtype, args.out.strides[2], from, width);
  }
}

}  // namespace

template <class T>
void carve_float_product(const MatmulArgs& args, Carver& carver) {
  if (is_long_product<T>(args)) return carve_long_product<T>(args, carver);
  if (few_rows_serve<T>(args)) return carve_few_rows<T>(args, carver);
  float_room<T>(args, carver);
}

template <class T>
void float_product(Context& context, const MatmulArgs& args, Carver carver) {
  if (is_long_product<T>(args)) return long_product<T>(context, args, carver);
  if (few_rows_serve<T>(args)) return few_rows_product<T>(context, args, carver);
  const Shape s = shape_of(args);
  const FloatRoom<T> room = float_room<T>(args, carver);
  const T* packed = static_cast<const T*>(args.packed_b);
  if (packs_first<T>(args)) {
    pack_panels(context, room.packed, args.b);
    packed = room.packed;
  }
  const Tiles tiles(s, kPanel<T>);
  const int64_t chunks = s.batch * tiles.count;
  if (room.out == nullptr) {
    for_chunks(context, chunks, [&](int64_t chunk) {
      float_tile<T>(args, packed, piece_of(s, tiles, chunk), nullptr, 0);
    });
    return;
  }
  const Aside<T> aside(s, tiles);
  Rooms<T> rooms(room.out, aside.rows * aside.cols, std::min<int64_t>(chunks, Rooms<T>::kMost));
  for_chunks(context, chunks, [&](int64_t chunk) {
    const Piece all = piece_of(s, tiles, chunk);
    rooms.with_one([&](T* mine) {
      Piece part = all;
      for (part.i0 = all.i0; part.i0 < all.i1; part.i0 = part.i1) {
        part.i1 = std::min(part.i0 + aside.rows, all.i1);
        for (part.j0 = all.j0; part.j0 < all.j1; part.j0 = part.j1) {
          part.j1 = std::min(part.j0 + aside.cols, all.j1);
          float_tile(args, packed, part, mine, aside.cols);
        }
      }
    });
  });
}

template void carve_float_product<float>(const MatmulArgs&, Carver&);
template void carve_float_product<double>(const MatmulArgs&, Carver&);
template void float_product<float>(Context&, const MatmulArgs&, Carver);
template void float_product<double>(Context&, const MatmulArgs&, Carver);

int64_t float_panels_size(int32_t dtype, int64_t n, int64_t k) {
  return dtype == LIBDL_DTYPE_FLOAT64 ? panels_size<double>(n, k) : panels_size<float>(n, k);
}

void pack_float_panels(Context& context, void* packed, const View& b) {
  if (b.dtype == LIBDL_DTYPE_FLOAT64) return pack_panels(context, static_cast<double*>(packed), b);
  pack_panels(context, static_cast<float*>(packed), b);
}

}  // namespace libdl::kernels::cpu
