// SPDX-License-Identifier: Apache-2.0

// Float32 and float64 of which b is larger than the caches and a has few rows: a fully connected
// layer of a small batch, forward and backward. Reading b takes much of the time, so it is read
// once, strip by strip: packed as a whole (matmul_float.cc), it would be written to memory and read
// again. A strip of a row-major b has runs of up to 1 kB, where a panel has 128 bytes.

#include <algorithm>
#include <utility>

#include "kernels/cpu/gemm/few_rows.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/traverse/workspaces.h"

namespace libdl::kernels::cpu {
namespace {

// One way for each shape:
enum class Few {
  kDirect,   // up to kFewRows: few_rows.h
  kSwapped,  // up to kStripe, b's columns are contiguous: they are the rows of the left factor, and
             // out is turned
  kStrips,   // packed by strips, which with a block of k fit an L2 cache
};
template <class T>
Few way_of(const MatmulArgs& args) {
  const int64_t rows = args.out.sizes[1];
  if (rows <= kFewRows) return Few::kDirect;
  return rows <= kStripe<T> && args.b.strides[1] == 1 ? Few::kSwapped : Few::kStrips;
}

// With more, packing b is a small part of the time wherever it goes, and strips, each of which
// copies a, gain nothing.
template <class T>
constexpr int64_t kMostRows = 8 * kStripe<T>;

template <class T>
constexpr int64_t kPackedColumns = 8 * kPanel<T>;
template <class T>
constexpr int64_t kSwappedColumns = 4 * kStripe<T>;

// Even strips of b's columns, enough of them for all threads, and the memory that each wants.
template <class T>
struct Strips {
  int64_t wide, count, workspace_size;

  explicit Strips(const MatmulArgs& args) {
    const Shape s = shape_of(args);
    const Few way = way_of<T>(args);
    const int64_t unit = way == Few::kSwapped ? kStripe<T> : kPanel<T>;
    const int64_t most = way == Few::kDirect    ? kFewColumns<T>
                         : way == Few::kSwapped ? kSwappedColumns<T>
                                                : kPackedColumns<T>;
    wide = std::clamp((s.n / 16 + unit - 1) / unit * unit, unit, most);
    count = (s.n + wide - 1) / wide;
    workspace_size = way == Few::kDirect    ? 0
                     : way == Few::kSwapped ? wide * 2 * kPanel<T>
                                            : wide * kKBlock<T>;
  }
};

// What all threads read: of kSwapped a's rows, as panels.
template <class T>
int64_t shared_size(const MatmulArgs& args) {
  const Shape s = shape_of(args);
  if (way_of<T>(args) != Few::kSwapped) return 0;
  return product(s.batch, (s.m + kPanel<T> - 1) / kPanel<T> * kPanel<T>, s.k);
}

template <class T>
struct Memory {
  T *shared, *workspaces;
  int64_t count;
};
template <class T>
Memory<T> carve(const MatmulArgs& args, BumpAllocator& allocator) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  const Strips<T> strips(args);
  Memory<T> memory{};
  memory.count =
      std::min<int64_t>(product(shape_of(args).batch, strips.count), Workspaces<T>::kMost);
  memory.shared = static_cast<T*>(allocator.take(shared_size<T>(args), kBytes));
  memory.workspaces =
      static_cast<T*>(allocator.take(product(memory.count, strips.workspace_size), kBytes));
  return memory;
}

// The strip's columns are the rows of the left factor, a's rows as panels the right one.
template <class T>
void swapped_strip(const GemmTile<T>& strip, const T* panels, T* workspace) {
  const int64_t rows = strip.j1 - strip.j0, columns = strip.i1;
  constexpr int64_t kWide = 2 * kPanel<T>;
  GemmTile<T> swapped = strip;
  swapped.a = transposed(strip.b);
  swapped.packed = panels;
  swapped.bias = nullptr;
  swapped.out = workspace - strip.j0 * kWide;
  swapped.out_stride = kWide;
  swapped.i0 = strip.j0, swapped.i1 = strip.j1;
  swapped.j0 = 0, swapped.j1 = columns;
  gemm_tile(swapped);
  for (int64_t i = 0; i < columns; ++i) {
    T* const to = strip.out + i * strip.out_stride + strip.j0;
    for (int64_t j = 0; j < rows; ++j) to[j] = workspace[j * kWide + i];
    if (strip.bias == nullptr) continue;
    const T* const bias = strip.bias + strip.j0 * strip.bias_stride;
    for (int64_t j = 0; j < rows; ++j) to[j] += bias[j * strip.bias_stride];
  }
}

// A block of k of the strip after another is packed and multiplied.
template <class T>
void packed_strip(const GemmTile<T>& strip, T* workspace) {
  GemmTile<T> block = strip;
  block.packed = workspace;
  block.out += strip.j0;
  block.j0 = 0, block.j1 = strip.j1 - strip.j0;
  const T* const bias = strip.bias ? strip.bias + strip.j0 * strip.bias_stride : nullptr;
  for (int64_t k0 = 0; k0 < strip.k; k0 += kKBlock<T>) {
    block.k = std::min(kKBlock<T>, strip.k - k0);
    block.a.data = static_cast<const T*>(strip.a.data) + k0 * strip.a.col_stride;
    block.b.data = static_cast<const T*>(strip.b.data) + k0 * strip.b.row_stride +
                   strip.j0 * strip.b.col_stride;
    gemm_pack(workspace, block.b, block.k, block.j1, 0, (block.j1 + kPanel<T> - 1) / kPanel<T>);
    block.bias = k0 + block.k == strip.k ? bias : nullptr;
    gemm_tile(block);
    block.beta = 1;
  }
}

}  // namespace

template <class T>
bool few_rows_serve(const MatmulArgs& a) {
  const Shape s = shape_of(a);
  const auto is = [](const View& v) { return v.dtype == kDtypeOf<T>; };
  return s.m > 1 && s.m <= kMostRows<T> && s.n > 1 && s.k > 0 && a.packed_b == nullptr &&
         !stays_cached(s.k, s.n, sizeof(T)) && is(a.a) && is(a.b) && is(a.out) &&
         a.out.strides[2] == 1 && (a.b.strides[1] == 1 || a.b.strides[2] == 1) && a.alpha == 1 &&
         a.beta == 0 && (a.bias.data == nullptr || is(a.bias));
}

template <class T>
void carve_few_rows(const MatmulArgs& args, BumpAllocator& allocator) {
  carve<T>(args, allocator);
}

template <class T>
void few_rows_product(Context& context, const MatmulArgs& args, BumpAllocator allocator) {
  const Shape s = shape_of(args);
  const Few way = way_of<T>(args);
  const Strips<T> strips(args);
  const Memory<T> memory = carve<T>(args, allocator);
  const int64_t panels = (s.m + kPanel<T> - 1) / kPanel<T>, each = panels * kPanel<T> * s.k;
  if (way == Few::kSwapped) {
    for_chunks(context, s.batch * panels, [&](int64_t chunk) {
      const int64_t b = chunk / panels, panel = chunk % panels;
      gemm_pack(memory.shared + b * each, transposed(operand(args.a, b)), s.k, s.m, panel,
                panel + 1);
    });
  }
  Workspaces<T> workspaces(memory.workspaces, strips.workspace_size, memory.count);
  for_chunks(context, s.batch * strips.count, [&](int64_t chunk) {
    const int64_t b = chunk / strips.count, j = chunk % strips.count * strips.wide;
    GemmTile<T> tile{};
    tile.a = operand(args.a, b);
    tile.b = operand(args.b, b);
    tile.out = reinterpret_cast<T*>(const_cast<char*>(matrix(args.out, b)));
    tile.out_stride = args.out.strides[1];
    if (args.bias.data != nullptr) {
      tile.bias = static_cast<const T*>(args.bias.data);
      tile.bias_stride = args.bias.strides[0];
    }
    tile.k = s.k, tile.alpha = 1;
    tile.i1 = s.m, tile.j0 = j, tile.j1 = std::min(j + strips.wide, s.n);
    if (way == Few::kDirect) return few_rows_tile(tile);
    workspaces.with_one([&](T* mine) {
      if (way == Few::kStrips) return packed_strip(tile, mine);
      swapped_strip(tile, memory.shared + b * each, mine);
    });
  });
}

#define LIBDL_FEW(T)                                                  \
  template bool few_rows_serve<T>(const MatmulArgs&);                 \
  template void carve_few_rows<T>(const MatmulArgs&, BumpAllocator&); \
  template void few_rows_product<T>(Context&, const MatmulArgs&, BumpAllocator);
LIBDL_FEW(float)
LIBDL_FEW(double)
#undef LIBDL_FEW

}  // namespace libdl::kernels::cpu
