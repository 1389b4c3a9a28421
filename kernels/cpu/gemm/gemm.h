// SPDX-License-Identifier: Apache-2.0

// Matrix products of float32 and float64, in vectors. Every element is summed over k in blocks of
// kKBlock, in sequence with fma, and the blocks are added in order: its bits depend only on its row
// of a, its column of b and k, wherever b is read from.
#pragma once

#include "kernels/cpu/gemm/gemm_tile.h"

namespace libdl::kernels::cpu {

// Whether the kernel can read b in place: its rows are contiguous T.
bool gemm_reads_in_place(const GemmOperand& b);

// Packs panels [first, last) of b [k, n] to packed + panel * k * kPanel: kPanel columns for every
// value of k; columns beyond n are zero.
template <class T>
void gemm_pack(T* packed, const GemmOperand& b, int64_t k, int64_t n, int64_t first, int64_t last);

template <class T>
void gemm_tile(const GemmTile<T>& tile);

}  // namespace libdl::kernels::cpu
