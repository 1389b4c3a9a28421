// SPDX-License-Identifier: Apache-2.0

// The steps of products of patches in tiles: what is gathered at once, packed, and finished.
#pragma once

#include "kernels/context.h"
#include "kernels/cpu/conv/patches/patches.h"

namespace libdl::kernels::cpu {

// Values of k in what is gathered at once: 32 rows of them fit the L1 cache.
constexpr int64_t kPatchRowBlock = 640;
// Columns gathered at once: four panels.
constexpr int64_t kPatchColumnBlock = 128;
// Rows lie a cache line further apart: at powers of two they would share a few of the cache's sets.
constexpr int64_t kPatchRowStride = kPatchRowBlock + 32;
constexpr int64_t kPatchColumnStride = kPatchColumnBlock;

Patches<uint16_t> bits_of(const Patches<Bfloat>& p);

// Weights as panels of 32 columns, of whole steps of k.
void pack_taps_in_tiles(Context& context, char* packed, const Taps<Bfloat>& taps);

// Sums of up to 32 rows and columns, with the bias if there is one, rounded into rows that lie
// anywhere.
void finish_block(const float* sums, Bfloat* const* rows, int64_t count, int64_t columns,
                  const float* bias);

// to[r][c - c0] = the patches' [r0 + r, c], in rows of those strides.
void gather_rows(uint16_t* to, const Patches<uint16_t>& p, int64_t r0, int64_t rows, int64_t c0,
                 int64_t c1);
void gather_columns(uint16_t* to, const Patches<uint16_t>& p, int64_t r0, int64_t rows, int64_t c0,
                    int64_t c1);

}  // namespace libdl::kernels::cpu
