// SPDX-License-Identifier: Apache-2.0

// Small results of long sums, such as the gradient of a layer's weights in a large batch. Cut into
// tiles, each would read all of its rows of a and columns of b from memory, in short runs. Bits are
// those of matmul_float.cc: sums are made of whole blocks of k, added in order.
#include <algorithm>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/matmul_parts.h"

namespace libdl::kernels::cpu {
namespace {

template <class T>
int64_t panels_of(int64_t columns) {
  return (columns + kPanel<T> - 1) / kPanel<T>;
}

// -- by parts of k -------------------------------------------------------------------------------

// Where b's columns or the 16 bits of its elements want a copy, a part of k is read in sequence and
// packed, both operands of it, and all tiles take it from the cache before the next part is read.

// How much of k is done at once: both operands of it stay in a processor's cache.
template <class T>
int64_t part_of(const Shape& s) {
  constexpr int64_t kCached = 2 << 20;
  const int64_t width = (panels_of<T>(s.m) + panels_of<T>(s.n)) * kPanel<T>;
  const int64_t block = width * kKBlock<T> * static_cast<int64_t>(sizeof(T));
  return std::max<int64_t>(1, kCached / block) * kKBlock<T>;
}

// The values [k0, k0 + k) of k: rows of b, or of the transposed a.
GemmOperand rows_of(GemmOperand m, int64_t k0) {
  m.data = static_cast<const char*>(m.data) + k0 * m.row_stride * dtype_bytes(m.dtype);
  return m;
}

// Both operands' values [k0, k0 + k) of k, packed.
template <class T>
struct Part {
  T *a, *b;
  int64_t k0, k;
};

// Packing is cut into chunks of so many panels: runs of rows that memory reads well.
constexpr int64_t kAtOnce = 4;
template <class T>
int64_t chunks_of(int64_t columns) {
  return (panels_of<T>(columns) + kAtOnce - 1) / kAtOnce;
}
template <class T>
int64_t pack_chunks(const Shape& s) {
  return chunks_of<T>(s.m) + chunks_of<T>(s.n);
}

template <class T>
void pack_chunk(const MatmulArgs& args, const Part<T>& part, int64_t chunk) {
  const Shape s = shape_of(args);
  const int64_t of_a = chunks_of<T>(s.m);
  const bool is_a = chunk < of_a;
  const int64_t columns = is_a ? s.m : s.n, first = (is_a ? chunk : chunk - of_a) * kAtOnce;
  const GemmOperand m = is_a ? transposed(operand(args.a, 0)) : operand(args.b, 0);
  gemm_pack(is_a ? part.a : part.b, rows_of(m, part.k0), part.k, columns, first,
            std::min(first + kAtOnce, panels_of<T>(columns)));
}

// Rows of one panel of a times all of b, added to what earlier parts gave.
template <class T>
void multiply_panel(const MatmulArgs& args, const Part<T>& part, int64_t panel) {
  const Shape s = shape_of(args);
  GemmTile<T> tile{};
  tile.i0 = panel * kPanel<T>;
  tile.i1 = std::min(tile.i0 + kPanel<T>, s.m);
  tile.j1 = s.n;
  tile.k = part.k;
  // Rows are counted from the result's first one.
  tile.a = {part.a + panel * part.k * kPanel<T> - tile.i0, 1, kPanel<T>, kDtypeOf<T>};
  tile.packed = part.b;
  tile.out = static_cast<T*>(args.out.data);
  tile.out_stride = args.out.strides[1];
  tile.alpha = static_cast<T>(args.alpha);
  tile.beta = part.k0 > 0 ? 1 : static_cast<T>(args.beta);
  gemm_tile(tile);
}

// -- in place -------------------------------------------------------------------------------------

// Where b's rows are contiguous nothing is packed: each thread has a part of the result, and sweeps
// over k once, its own rows or columns and all of the other operand. The next block of k is on its
// way into the cache while one is multiplied.
template <class T>
void sweep(Context& context, const MatmulArgs& args, int64_t k0, int64_t k) {
  const Shape s = shape_of(args);
  const bool by_rows = s.m >= s.n;
  const int64_t all = by_rows ? s.m : s.n, unit = by_rows ? 1 : kPanel<T>;
  const int64_t least = kPanel<T>, units = (all + unit - 1) / unit;
  const int64_t parts =
      std::clamp<int64_t>(context.host->threads(), 1, std::max<int64_t>(1, all / least));
  for_chunks(context, parts, [&](int64_t part) {
    const int64_t first = units * part / parts * unit;
    const int64_t last = std::min(units * (part + 1) / parts * unit, all);
    GemmTile<T> tile{};
    tile.a = transposed(rows_of(transposed(operand(args.a, 0)), k0));
    tile.b = rows_of(operand(args.b, 0), k0);
    tile.out = static_cast<T*>(args.out.data);
    tile.out_stride = args.out.strides[1];
    tile.k = k;
    tile.i0 = by_rows ? first : 0, tile.i1 = by_rows ? last : s.m;
    tile.j0 = by_rows ? 0 : first, tile.j1 = by_rows ? s.n : last;
    tile.alpha = static_cast<T>(args.alpha);
    tile.beta = k0 > 0 ? 1 : static_cast<T>(args.beta);
    tile.long_sums = true;
    gemm_tile(tile);
  });
}

// Interruptions are looked for a few times a second.
template <class T>
void sweep(Context& context, const MatmulArgs& args) {
  constexpr int64_t kUninterrupted = int64_t{1} << 34;  // multiplications
  const Shape s = shape_of(args);
  const int64_t blocks = std::max<int64_t>(1, kUninterrupted / (s.m * s.n * kKBlock<T>));
  const int64_t most = blocks * kKBlock<T>;
  for (int64_t k0 = 0; k0 < s.k && !context.stopped; k0 += most)
    sweep<T>(context, args, k0, std::min(most, s.k - k0));
}

template <class T>
bool sweeps(const MatmulArgs& args) {
  return args.b.dtype == kDtypeOf<T> && args.b.strides[2] == 1;
}

// Rows of b that are multiples of 4 kB apart share a few sets of a cache, which do not hold those
// of a block of k: swept, they would be read from memory for every group of rows of a.
template <class T>
bool sweeps_badly(const MatmulArgs& args) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  return sweeps<T>(args) && args.b.strides[1] * kBytes % 4096 == 0;
}

}  // namespace

// -- both -----------------------------------------------------------------------------------------

template <class T>
bool has_long_sums(const Shape& s) {
  constexpr int64_t kLeast = 32, kMost = 1024;  // rows and columns
  const int64_t least = std::min(s.m, s.n), most = std::max(s.m, s.n);
  return s.batch == 1 && least >= kLeast && most <= kMost && s.k >= 16 * most &&
         s.k > 2 * part_of<T>(s);
}

template <class T>
bool is_long_product(const MatmulArgs& a) {
  // Where there are panels, as of a complex product's real one, b may be nothing else.
  return a.packed_b == nullptr && has_long_sums<T>(shape_of(a)) && a.bias.data == nullptr &&
         writes_directly(a.out) && !sweeps_badly<T>(a);
}

template <class T>
void carve_long_product(const MatmulArgs& args, BumpAllocator& allocator) {
  if (sweeps<T>(args)) return;
  const Shape s = shape_of(args);
  const int64_t width = (panels_of<T>(s.m) + panels_of<T>(s.n)) * kPanel<T>;
  allocator.take(2 * width * part_of<T>(s), static_cast<int64_t>(sizeof(T)));
}

template <class T>
void long_product(Context& context, const MatmulArgs& args, BumpAllocator allocator) {
  if (sweeps<T>(args)) return sweep<T>(context, args);
  const Shape s = shape_of(args);
  const int64_t most = part_of<T>(s), down = panels_of<T>(s.m), across = panels_of<T>(s.n);
  const int64_t size = (down + across) * kPanel<T> * most;
  T* const workspace = static_cast<T*>(allocator.take(2 * size, static_cast<int64_t>(sizeof(T))));
  // One part is multiplied while the next is packed.
  const auto part_at = [&](int64_t n) {
    T* const a = workspace + n % 2 * size;
    return Part<T>{a, a + down * kPanel<T> * most, n * most, std::min(most, s.k - n * most)};
  };
  const int64_t parts = (s.k + most - 1) / most, packs = pack_chunks<T>(s);
  for (int64_t n = -1; n < parts && !context.stopped; ++n) {
    const int64_t multiplied = n < 0 ? 0 : down, packed = n + 1 < parts ? packs : 0;
    for_chunks(context, multiplied + packed, [&](int64_t chunk) {
      if (chunk < packed) return pack_chunk(args, part_at(n + 1), chunk);
      multiply_panel(args, part_at(n), chunk - packed);
    });
  }
}

#define LIBDL_LONG(T)                                                     \
  template bool has_long_sums<T>(const Shape&);                           \
  template bool is_long_product<T>(const MatmulArgs&);                    \
  template void carve_long_product<T>(const MatmulArgs&, BumpAllocator&); \
  template void long_product<T>(Context&, const MatmulArgs&, BumpAllocator);
LIBDL_LONG(float)
LIBDL_LONG(double)
#undef LIBDL_LONG

}  // namespace libdl::kernels::cpu
