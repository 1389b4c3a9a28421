// SPDX-License-Identifier: Apache-2.0

// Elements become unsigned keys in the same order (NaN the largest, -0 equal to 0), which carry
// their positions: all pairs are different, so any sort of them is stable. Rows that fit in shared
// memory are sorted there, by a bitonic network; longer ones by radix sort. The first few of a long
// row are found among the first few of each of its tiles.

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/radix.h"

namespace libdl::kernels::cuda {

namespace {

constexpr int kCapacity = 32 << 10;  // bytes of shared memory

struct SortRows {
  const void* in;
  void* values;
  int64_t* indices;
  int64_t rows, length, step, kept;  // kept: of each row, in values and indices
  void* pairs;                       // [rows, pairs_length], or NULL: the elements themselves
  int64_t pairs_length;
  void* kept_pairs;  // [rows, tiles, kept], or NULL: values and indices
  int64_t tiles;
  int32_t tile, group;  // pairs of a tile, a power of two; tiles of a block
  int32_t dtype, bytes, descending, unused;
  Geometry<1> geometry;  // of the rows' starts
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class Bits>
LIBDL_DEVICE Bits float_key(Bits bits, Bits infinity) {
  const Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const Bits magnitude = static_cast<Bits>(bits & ~sign);
  if (magnitude > infinity) return static_cast<Bits>(~Bits{0});
  if (magnitude == 0) return sign;
  return static_cast<Bits>((bits & sign) != 0 ? ~bits : bits | sign);
}

template <class T>
LIBDL_DEVICE auto ascending_key(T x) {
  if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<uint8_t>(x.value != 0);
  } else if constexpr (std::is_same_v<T, Half>) {
    return float_key<uint16_t>(x.bits, 0x7c00);
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return float_key<uint16_t>(x.bits, 0x7f80);
  } else if constexpr (std::is_same_v<T, float>) {
    return float_key<uint32_t>(std::bit_cast<uint32_t>(x), 0x7f800000);
  } else if constexpr (std::is_same_v<T, double>) {
    return float_key<uint64_t>(std::bit_cast<uint64_t>(x), 0x7ff0000000000000);
  } else if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    const auto sign =
        static_cast<Bits>(std::is_signed_v<T> ? Bits{1} << (8 * sizeof(Bits) - 1) : 0);
    return static_cast<Bits>(static_cast<Bits>(x) ^ sign);
  } else {
    return uint8_t{0};  // complex numbers have no order and have been refused already
  }
}

LIBDL_DEVICE int64_t row_start(const SortRows& p, int64_t row) {
  int64_t offset[1];
  offsets_of(p.geometry, row, offset);
  return offset[0];
}

template <class Pair>
LIBDL_DEVICE Pair pair_at(const SortRows& p, int64_t start, int64_t j) {
  uint64_t key = 0;
  with_type(p.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto own = ascending_key(static_cast<const T*>(p.in)[start + j * p.step]);
    if (p.descending) own = static_cast<decltype(own)>(~own);
    key = own;
  });
  return Pair::of(key, j);
}

// The element itself, not its key: -0 and a NaN's bits are preserved.
LIBDL_DEVICE void store_element(const SortRows& p, int64_t start, int64_t to, int64_t from) {
  const int64_t at = start + from * p.step;
  p.indices[to] = from;
  switch (p.bytes) {
    case 1: static_cast<uint8_t*>(p.values)[to] = static_cast<const uint8_t*>(p.in)[at]; break;
    case 2: static_cast<uint16_t*>(p.values)[to] = static_cast<const uint16_t*>(p.in)[at]; break;
    case 4: static_cast<uint32_t*>(p.values)[to] = static_cast<const uint32_t*>(p.in)[at]; break;
    case 8: static_cast<uint64_t*>(p.values)[to] = static_cast<const uint64_t*>(p.in)[at]; break;
  }
}

// -- long rows ----------------------------------------------------------------------------------

template <class Pair>
LIBDL_DEVICE void make_pairs(const SortRows& p) {
  const int64_t total = p.rows * p.length;
  for (int64_t i = first_element(); i < total; i += all_threads()) {
    const int64_t row = quotient_of(i, p.length, total);
    static_cast<Pair*>(p.pairs)[i] = pair_at<Pair>(p, row_start(p, row), i - row * p.length);
  }
}
LIBDL_KERNEL(sort_pairs_short, SortRows) { make_pairs<ShortPair>(p); }
LIBDL_KERNEL(sort_pairs_long, SortRows) { make_pairs<LongPair>(p); }

template <class Pair>
LIBDL_DEVICE void store_pairs(const SortRows& p) {
  const int64_t total = p.rows * p.kept;
  for (int64_t i = first_element(); i < total; i += all_threads()) {
    const int64_t row = quotient_of(i, p.kept, total);
    const Pair pair = static_cast<const Pair*>(p.pairs)[row * p.length + i - row * p.kept];
    store_element(p, row_start(p, row), i, pair.at());
  }
}
LIBDL_KERNEL(sort_store_short, SortRows) { store_pairs<ShortPair>(p); }
LIBDL_KERNEL(sort_store_long, SortRows) { store_pairs<LongPair>(p); }

// -- tiles --------------------------------------------------------------------------------------

// Sorts every n of `all` pairs.
template <class Pair>
LIBDL_DEVICE void sort_shared(Pair* pairs, int n, int all) {
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int run = 2; run <= n; run *= 2) {
    for (int apart = run / 2; apart > 0; apart /= 2) {
      for (int i = t; i < all / 2; i += threads) {
        const int low = 2 * i - (i & (apart - 1)), high = low + apart;
        const Pair x = pairs[low], y = pairs[high];
        if ((y < x) == ((low & (n - 1) & run) == 0)) {
          pairs[low] = y;
          pairs[high] = x;
        }
      }
      __syncthreads();
    }
  }
}

template <class Pair>
LIBDL_DEVICE void sort_tiles(const SortRows& p) {
  __shared__ Pair pairs[kCapacity / sizeof(Pair)];
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int64_t length = p.pairs ? p.pairs_length : p.length, tiles = p.rows * p.tiles;
  for (int64_t w = int64_t{blockIdx.x} * p.group; w < tiles; w += int64_t{gridDim.x} * p.group) {
    const int here = tiles - w < p.group ? static_cast<int>(tiles - w) : p.group;
    for (int i = t; i < here * p.tile; i += threads) {
      const int64_t tile = w + i / p.tile, row = tile / p.tiles;
      const int64_t j = tile % p.tiles * p.tile + i % p.tile;
      pairs[i] = j >= length ? Pair::last()
                 : p.pairs   ? static_cast<const Pair*>(p.pairs)[row * length + j]
                             : pair_at<Pair>(p, row_start(p, row), j);
    }
    __syncthreads();
    sort_shared(pairs, p.tile, here * p.tile);
    const int kept = static_cast<int>(p.kept);
    for (int i = t; i < here * kept; i += threads) {
      const int64_t tile = w + i / kept;
      const Pair pair = pairs[i / kept * p.tile + i % kept];
      if (p.kept_pairs) {
        static_cast<Pair*>(p.kept_pairs)[tile * kept + i % kept] = pair;
      } else {
        store_element(p, row_start(p, tile), tile * kept + i % kept, pair.at());
      }
    }
    __syncthreads();
  }
}
LIBDL_BLOCK_KERNEL(sort_tiles_short, SortRows) { sort_tiles<ShortPair>(p); }
LIBDL_BLOCK_KERNEL(sort_tiles_long, SortRows) { sort_tiles<LongPair>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

// Sorts tiles of rows of this length, each row in one tile if it fits; short ones share a block.
void launch_tiles(Context& context, SortRows& p, bool is_short, int64_t length, int64_t most) {
  constexpr int kPairs = 512;  // worth a block of their own
  p.tile = static_cast<int32_t>(std::bit_ceil(static_cast<uint64_t>(std::min(length, most))));
  p.tiles = (length + p.tile - 1) / p.tile;
  p.group = std::max(kPairs / p.tile, 1);
  const int64_t blocks = (p.rows * p.tiles + p.group - 1) / p.group;
  launch(context, is_short ? "sort_tiles_short" : "sort_tiles_long",
         {std::min<int64_t>(blocks, INT32_MAX), std::min(p.tile * p.group / 2, 512), 1}, p);
}

// The first few: rounds that keep the first few of every tile, until one tile holds the rest.
void select(Context& context, SortRows p, bool is_short, int64_t most) {
  const auto kept_of = [&](int64_t length) { return (length + most - 1) / most * p.kept; };
  const int64_t bytes = pair_bytes(is_short), first = kept_of(p.length);
  const Scratch scratch(context, p.rows * (first + kept_of(first)) * bytes);
  if (!scratch.data()) return;
  void* to = scratch.data();
  void* next = static_cast<char*>(to) + p.rows * first * bytes;
  int64_t length = p.length;
  while (length > most) {
    p.kept_pairs = to;
    launch_tiles(context, p, is_short, length, most);
    p.pairs = to;
    p.pairs_length = length = kept_of(length);
    std::swap(to, next);
  }
  p.kept_pairs = nullptr;
  launch_tiles(context, p, is_short, length, most);
}

void sort_long(Context& context, SortRows p, bool is_short) {
  const int64_t bytes = p.rows * p.length * pair_bytes(is_short);
  const Scratch scratch(context, 2 * bytes);
  if (!scratch.data()) return;
  // Make the pairs.
  p.pairs = scratch.data();
  launch(context, is_short ? "sort_pairs_short" : "sort_pairs_long",
         grid_for(context, p.rows * p.length), p);
  // Sort them.
  p.pairs = radix_sort(context, is_short, p.pairs, static_cast<char*>(p.pairs) + bytes, p.rows,
                       p.length, 8 * p.bytes);
  // Write values and indices.
  launch(context, is_short ? "sort_store_short" : "sort_store_long",
         grid_for(context, p.rows * p.kept), p);
}

}  // namespace

void sort(Context& context, const SortArgs& a) {
  const int last = a.in.ndim - 1;
  SortRows p{};
  p.length = a.in.sizes[last];
  p.kept = a.k < 0 ? p.length : a.k;
  if (numel(a.in) == 0 || p.kept == 0) return;
  p.rows = numel(a.in) / p.length;

  View rows = a.in;
  rows.ndim = last;
  const View* const views[] = {&rows};
  int64_t sizes[kMaxDims], strides[1][kMaxDims];
  const bool fits = merge_dimensions<1>(views, 1, sizes, strides) <= kLaunchDims;
  const WithoutGaps in(context, a.in, !fits);
  if (context.error) return;
  rows = in.view();
  p.step = rows.strides[last];
  rows.ndim = last;
  each_part(views, 1, p.geometry, [&](void* const* data) { p.in = data[0]; });
  p.values = a.values.data;
  p.indices = static_cast<int64_t*>(a.indices.data);
  p.dtype = a.in.dtype;
  p.bytes = static_cast<int32_t>(dtype_bytes(a.in.dtype));
  p.descending = a.descending;

  // Short rows in shared memory; else the first few, or whole long rows.
  const bool is_short = p.bytes <= 4 && p.length <= UINT32_MAX;
  const int64_t most = kCapacity / pair_bytes(is_short);
  if (p.length <= most) return launch_tiles(context, p, is_short, p.length, most);
  if (p.kept <= most / 4) return select(context, p, is_short, most);
  sort_long(context, p, is_short);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
