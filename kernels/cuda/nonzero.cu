// SPDX-License-Identifier: Apache-2.0

// First every tile counts its nonzero elements; then the counts are summed over the tiles before;
// then each tile writes its rows from there on. A warp takes consecutive elements, so the rows are
// in order.

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

constexpr int kWarps = kThreads / 32;
constexpr int kRounds = 8;  // elements per thread
constexpr int kTile = kThreads * kRounds;

struct Nonzero {
  const void* in;
  int64_t* counts;  // [tiles + 1]: of the tile; then in those before it, and of all
  int64_t tiles;
  int64_t* out;
  int64_t rows, row_step, step;  // of out
  int32_t dtype, ndim;
  int64_t sizes[kMaxDims];
  Geometry<1> geometry;
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class T>
LIBDL_DEVICE bool is_nonzero(T x) {
  if constexpr (std::is_same_v<T, Bool>) {
    return x.value != 0;
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>) {
    return (x.bits & 0x7fff) != 0;
  } else if constexpr (std::is_same_v<T, Complex> || std::is_same_v<T, Complex64>) {
    return x.re != 0 || x.im != 0;
  } else {
    return x != 0;
  }
}

// Bit r: whether the warp's element r * 32 + lane counts.
LIBDL_DEVICE unsigned own_bits(const Nonzero& p, int64_t first) {
  unsigned bits = 0;
  with_type(p.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    LIBDL_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      const int64_t i = first + r * 32 + threadIdx.x % 32;
      if (i >= p.geometry.numel) continue;
      int64_t offset[1];
      offsets_of(p.geometry, i, offset);
      bits |= static_cast<unsigned>(is_nonzero(static_cast<const T*>(p.in)[offset[0]])) << r;
    }
  });
  return bits;
}

LIBDL_BLOCK_KERNEL(nonzero_count, Nonzero) {
  __shared__ int of_warps[kWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int64_t tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const int own = __popc(own_bits(p, tile * kTile + warp * 32 * kRounds));
    const int before = sum_before(own, of_warps);
    if (threadIdx.x == kThreads - 1) p.counts[tile] = before + own;
  }
}

// One block.
LIBDL_BLOCK_KERNEL(nonzero_sum, Nonzero) {
  constexpr int kEach = 8;
  __shared__ int64_t of_warps[kWarps];
  __shared__ int64_t all;
  int64_t before = 0;
  for (int64_t first = 0; first < p.tiles; first += kThreads * kEach) {
    const int64_t at = first + threadIdx.x * kEach;
    int64_t own[kEach], sum = 0;
    LIBDL_UNROLL
    for (int k = 0; k < kEach; ++k) sum += own[k] = at + k < p.tiles ? p.counts[at + k] : 0;
    int64_t here = before + sum_before(sum, of_warps);
    if (threadIdx.x == kThreads - 1) all = here + sum;
    for (int k = 0; k < kEach && at + k < p.tiles; ++k) {
      p.counts[at + k] = here;
      here += own[k];
    }
    __syncthreads();
    before = all;
    __syncthreads();
  }
  if (threadIdx.x == 0) p.counts[p.tiles] = before;
}

// Never past the rows that were allocated, even if `in` is written meanwhile.
LIBDL_DEVICE void write_coordinates(const Nonzero& p, int64_t row, int64_t at) {
  if (row >= p.rows) return;
  int64_t* const out = p.out + row * p.row_step;
  for (int d = p.ndim - 1; d > 0; --d) {
    const int64_t left = quotient_of(at, p.sizes[d], p.geometry.numel);
    out[d * p.step] = at - left * p.sizes[d];
    at = left;
  }
  if (p.ndim > 0) out[0] = at;
}

LIBDL_BLOCK_KERNEL(nonzero_write, Nonzero) {
  __shared__ int of_warps[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int64_t tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const int64_t first = tile * kTile + warp * 32 * kRounds;
    const unsigned bits = own_bits(p, first);
    unsigned round[kRounds];
    int count = 0;
    LIBDL_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      round[r] = __ballot_sync(~0u, (bits >> r & 1) != 0);
      count += __popc(round[r]);
    }
    if (lane == 0) of_warps[warp] = count;
    __syncthreads();
    int64_t row = p.counts[tile];
    for (int w = 0; w < warp; ++w) row += of_warps[w];
    LIBDL_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      if (bits >> r & 1)
        write_coordinates(p, row + __popc(round[r] & ((1u << lane) - 1)), first + r * 32 + lane);
      row += __popc(round[r]);
    }
    __syncthreads();
  }
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void nonzero(Context& context, const NonzeroArgs& a) {
  const int64_t total = numel(a.in);
  if (!a.out.data) *a.count = 0;
  if (total == 0) return;
  Nonzero p{};
  p.tiles = (total + kTile - 1) / kTile;
  const View* views[] = {&a.in};
  int64_t sizes[kMaxDims], strides[1][kMaxDims];
  const bool fits = merge_dimensions<1>(views, 1, sizes, strides) <= kLaunchDims;
  const WithoutGaps in(context, a.in, !fits);
  const Scratch counts(context, 8 * (p.tiles + 1));
  if (context.error) return;
  p.counts = static_cast<int64_t*>(counts.data());
  p.dtype = a.in.dtype;
  views[0] = &in.view();
  each_part(views, 1, p.geometry, [&](void* const* data) { p.in = data[0]; });

  // Count in each tile, and sum the counts.
  const Grid tiles = grid_for(context, p.tiles * kThreads);
  launch(context, "nonzero_count", tiles, p);
  launch(context, "nonzero_sum", {1, kThreads, 1}, p);
  if (!a.out.data) {
    read_back(context, a.count, p.counts + p.tiles, sizeof *a.count);
    return;
  }
  // Write the coordinates.
  p.out = static_cast<int64_t*>(a.out.data);
  p.rows = a.out.sizes[0];
  p.row_step = a.out.strides[0];
  p.step = a.out.strides[1];
  p.ndim = a.in.ndim;
  std::memcpy(p.sizes, a.in.sizes, sizeof(int64_t) * static_cast<size_t>(a.in.ndim));
  launch(context, "nonzero_write", tiles, p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
