// SPDX-License-Identifier: Apache-2.0

// Patches times weights on the matrix unit.
#include "kernels/cpu/conv/matrix_unit/tile_patches.h"

#include <algorithm>

#include "kernels/cpu/conv/matrix_unit/tile_rows.h"
#include "kernels/cpu/conv/patches/pixels.h"
#include "kernels/cpu/gemm/matmul.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/tiles_amx.h"
#include "kernels/cpu/traverse/load_store.h"

namespace libdl::kernels::cpu {
namespace {

using amx::kSide, amx::kStep, amx::kStepBytes, amx::steps;

// How the result is cut: the part of the weights that a chunk multiplies with at a time, and its
// sums, stay in the L2 cache. By sizes alone, into enough chunks for all threads.
struct Cut {
  int64_t down, across;  // blocks of a chunk
  int64_t chunks_down, chunks_across;

  Cut(int64_t blocks_down, int64_t blocks_across)
      : down(std::min<int64_t>(8, blocks_down)), across(std::min<int64_t>(8, blocks_across)) {
    constexpr int64_t kEnough = 8;
    for (count(blocks_down, blocks_across); chunks_down * chunks_across < kEnough;
         count(blocks_down, blocks_across)) {
      int64_t& longer = down >= across ? down : across;
      if (longer == 1) break;
      longer = ceil_div(longer, 2);
    }
  }

 private:
  void count(int64_t blocks_down, int64_t blocks_across) {
    chunks_down = ceil_div(blocks_down, down), chunks_across = ceil_div(blocks_across, across);
  }
};

template <class Rows>
class Chunk {
 public:
  Chunk(const PatchesTimesMatrix<Bfloat>& p, const char* packed, float* sums)
      : p_(p), packed_(packed), sums_(sums), rows_(p) {}

  // Blocks [n0, n1) and columns [j0, j1).
  void run(int64_t n0, int64_t n1, int64_t j0, int64_t j1) {
    amx::begin();
    for (int64_t part = 0; part < rows_.parts(); ++part)
      for (int64_t n = n0; n < n1; ++n) row_of_blocks(n, part, j0, j1);
    amx::end();
  }

 private:
  void row_of_blocks(int64_t n, int64_t part, int64_t j0, int64_t j1) {
    amx::Block block{};
    rows_.fetch(block, n, part);
    const int64_t k0 = rows_.begin_of(part), panel = steps(p_.a.columns()) * kStepBytes;
    block.add = k0 > 0;
    const bool last = part + 1 == rows_.parts();
    if (last) rows_.place(placed_, n);
    alignas(64) float c[kSide * kSide];
    const float* before = nullptr;
    for (int64_t j = j0; j < j1; j += kSide) {  // one block is finished while the next is computed
      block.b = packed_ + j / kSide * panel + k0 / kStep * kStepBytes;
      block.cols = std::min(kSide, j1 - j);
      block.c = sums_ == nullptr ? c : sums_of(n, j);
      amx::multiply(block);
      if (last && j > j0) finish(before, j - kSide);
      amx::store(block);
      before = block.c;
    }
    if (last) finish(before, (j1 - 1) / kSide * kSide);
  }

  float* sums_of(int64_t n, int64_t j) const {
    return sums_ + (n * ceil_div(p_.j1, kSide) + j / kSide) * kSide * kSide;
  }

  void finish(const float* sums, int64_t j) const {
    alignas(64) float bias[kSide] = {};
    const int64_t columns = std::min(kSide, p_.j1 - j);
    if (p_.bias != nullptr) load_tile(bias, p_.bias + j, kStoredDtype<Bfloat>, 1, columns);
    for (int tile = 0; tile < 2; ++tile) {
      Bfloat* to[kTileRows];
      for (int64_t r = 0; r < placed_.count[tile]; ++r) to[r] = placed_.at[tile][r] + j;
      finish_block(sums + tile * kTileRows * kSide, to, placed_.count[tile], columns,
                   p_.bias != nullptr ? bias : nullptr);
    }
  }

  const PatchesTimesMatrix<Bfloat>& p_;
  const char* packed_;
  float* sums_;  // blocks of 32 by 32, or NULL
  PlacedRows placed_;
  Rows rows_;
};

template <class Rows>
void multiply_rows(Context& context, const PatchesTimesMatrix<Bfloat>& p,
                   const Taps<Bfloat>& taps) {
  int64_t blocks, parts;
  {
    const Rows rows(p);
    blocks = rows.blocks(), parts = rows.parts();
  }
  const int64_t across = ceil_div(p.j1, kSide);
  const Scratch weights(context, product(across, steps(taps.all_rows()), kStepBytes));
  const Scratch room(context,
                     parts > 1 ? product(blocks, across, kSide * kSide * sizeof(float)) : 0);
  if (weights.failed() || room.failed()) return;
  char* const packed = static_cast<char*>(weights.data());
  pack_taps_in_tiles(context, packed, taps);
  const Cut cut(blocks, across);
  for_chunks(context, cut.chunks_down * cut.chunks_across, [&](int64_t chunk) {
    const int64_t n = chunk / cut.chunks_across * cut.down;
    const int64_t j = chunk % cut.chunks_across * cut.across * kSide;
    Chunk<Rows>(p, packed, static_cast<float*>(room.data()))
        .run(n, std::min(n + cut.down, blocks), j, std::min(j + cut.across * kSide, p.j1));
  });
}

}  // namespace

bool patches_fill_tiles(int64_t rows, int64_t columns, int64_t k) {
  return columns >= 8 && k >= 16 && fills_tiles(rows, columns, k);
}

void multiply_patches_in_tiles(Context& context, const PatchesTimesMatrix<Bfloat>& p,
                               const Taps<Bfloat>& taps) {
  if (is_matrix(p)) return multiply_pixels(context, p, taps);
  if (SpannedRows::serves(p)) return multiply_rows<SpannedRows>(context, p, taps);
  multiply_rows<GatheredRows>(context, p, taps);
}

}  // namespace libdl::kernels::cpu
