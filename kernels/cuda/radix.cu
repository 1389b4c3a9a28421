// SPDX-License-Identifier: Apache-2.0

// One pass per byte of the key: every tile of a row counts its digits; the counts of each digit are
// summed over the tiles before; then each tile sorts its pairs in shared memory and writes them
// from there, so that neighbouring threads write to neighbouring places.

#include "kernels/cuda/radix.h"

#include <utility>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

constexpr int kDigits = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRounds = 8;  // pairs per thread
constexpr int kTile = kThreads * kRounds;
static_assert(kDigits == kThreads);

struct RadixPass {
  const void* from;
  void* to;
  int64_t* counts;  // [rows, digits, tiles]: of the digit in the tile; then in those before it
  int64_t* totals;  // [rows, digits]
  int64_t rows, length, tiles;
  int32_t shift, unused;
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class Pair>
LIBDL_DEVICE int digit_of(Pair pair, int shift) {
  return static_cast<int>(pair.key() >> shift & (kDigits - 1));
}

template <class Pair>
LIBDL_DEVICE void count_digits(const RadixPass& p) {
  __shared__ unsigned count[kDigits];
  const int t = static_cast<int>(threadIdx.x);
  for (int64_t w = blockIdx.x; w < p.rows * p.tiles; w += gridDim.x) {
    const int64_t row = w / p.tiles, tile = w % p.tiles;
    const Pair* const from = static_cast<const Pair*>(p.from) + row * p.length;
    count[t] = 0;
    __syncthreads();
    LIBDL_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      const int64_t i = tile * kTile + r * kThreads + t;
      if (i < p.length) atomicAdd(&count[digit_of(from[i], p.shift)], 1u);
    }
    __syncthreads();
    p.counts[(row * kDigits + t) * p.tiles + tile] = count[t];
    __syncthreads();
  }
}
LIBDL_BLOCK_KERNEL(radix_count_short, RadixPass) { count_digits<ShortPair>(p); }
LIBDL_BLOCK_KERNEL(radix_count_long, RadixPass) { count_digits<LongPair>(p); }

// One warp per digit of a row.
LIBDL_BLOCK_KERNEL(radix_sum, RadixPass) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t warps = int64_t{gridDim.x} * kWarps;
  for (int64_t d = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32; d < p.rows * kDigits;
       d += warps) {
    int64_t* const counts = p.counts + d * p.tiles;
    int64_t before = 0;
    for (int64_t first = 0; first < p.tiles; first += 32) {
      const int64_t own = first + lane < p.tiles ? counts[first + lane] : 0;
      const int64_t sum = sum_to_here(own);
      if (first + lane < p.tiles) counts[first + lane] = before + sum - own;
      before += __shfl_sync(~0u, sum, 31);
    }
    if (lane == 0) p.totals[d] = before;
  }
}

template <class Pair>
LIBDL_DEVICE void move_pairs(const RadixPass& p) {
  __shared__ Pair sorted[kTile];
  __shared__ unsigned count[kWarps][kDigits];  // in the warp's rounds so far; then in earlier warps
  __shared__ unsigned start[kDigits];          // of the digit in the sorted tile
  __shared__ int64_t target[kDigits];          // of the digit in the row, minus start
  __shared__ int64_t of_warps[kWarps];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  for (int64_t w = blockIdx.x; w < p.rows * p.tiles; w += gridDim.x) {
    const int64_t row = w / p.tiles, tile = w % p.tiles, first = tile * kTile;
    const int64_t left = p.length - first;
    const int here = left < kTile ? static_cast<int>(left) : kTile;
    const Pair* const from = static_cast<const Pair*>(p.from) + row * p.length + first;
    for (int d = lane; d < kDigits; d += 32) count[warp][d] = 0;
    __syncwarp();

    // Each warp ranks 32 * kRounds consecutive pairs: a pair's rank among those with the same digit
    // is the number in earlier rounds plus the number in lower lanes.
    Pair pair[kRounds];
    unsigned rank[kRounds];
    LIBDL_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      const int i = warp * 32 * kRounds + r * 32 + lane;
      pair[r] = i < here ? from[i] : Pair::last();
      const int digit = i < here ? digit_of(pair[r], p.shift) : kDigits;
      const unsigned peers = __match_any_sync(~0u, digit);
      const unsigned lower = peers & ((1u << lane) - 1);
      rank[r] = static_cast<unsigned>(__popc(lower));
      if (digit < kDigits) rank[r] += count[warp][digit];
      __syncwarp();
      if (digit < kDigits && lower == 0) count[warp][digit] += static_cast<unsigned>(__popc(peers));
      __syncwarp();
    }
    __syncthreads();

    // Where each digit begins in the sorted tile, and where it goes in the row.
    unsigned sum = 0;
    for (int k = 0; k < kWarps; ++k) {
      const unsigned own = count[k][t];
      count[k][t] = sum;
      sum += own;
    }
    const auto before = static_cast<unsigned>(sum_before<int64_t>(sum, of_warps));
    const int64_t smaller = sum_before<int64_t>(p.totals[row * kDigits + t], of_warps);
    start[t] = before;
    target[t] = smaller + p.counts[(row * kDigits + t) * p.tiles + tile] - before;
    __syncthreads();

    // Sort the tile in shared memory.
    LIBDL_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      const int i = warp * 32 * kRounds + r * 32 + lane;
      if (i >= here) continue;
      const int digit = digit_of(pair[r], p.shift);
      sorted[start[digit] + count[warp][digit] + rank[r]] = pair[r];
    }
    __syncthreads();
    // Write it out: pairs of one digit go to consecutive places.
    Pair* const to = static_cast<Pair*>(p.to) + row * p.length;
    for (int i = t; i < here; i += kThreads)
      to[target[digit_of(sorted[i], p.shift)] + i] = sorted[i];
    __syncthreads();
  }
}
LIBDL_BLOCK_KERNEL(radix_move_short, RadixPass) { move_pairs<ShortPair>(p); }
LIBDL_BLOCK_KERNEL(radix_move_long, RadixPass) { move_pairs<LongPair>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void* radix_sort(Context& context, bool is_short, void* pairs, void* spare, int64_t rows,
                 int64_t length, int bits) {
  RadixPass p{};
  p.rows = rows;
  p.length = length;
  p.tiles = (length + kTile - 1) / kTile;
  const int64_t digits = rows * kDigits;
  const Scratch counts(context, digits * (p.tiles + 1) * 8);
  if (!counts.data()) return nullptr;
  p.counts = static_cast<int64_t*>(counts.data());
  p.totals = p.counts + digits * p.tiles;
  const Grid tiles = grid_for(context, rows * p.tiles * kThreads);
  const Grid sums = grid_for(context, digits * 32);
  for (p.shift = 0; p.shift < bits; p.shift += 8) {
    p.from = pairs;
    p.to = spare;
    launch(context, is_short ? "radix_count_short" : "radix_count_long", tiles, p);
    launch(context, "radix_sum", sums, p);
    launch(context, is_short ? "radix_move_short" : "radix_move_long", tiles, p);
    std::swap(pairs, spare);
  }
  return context.error ? nullptr : pairs;
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
