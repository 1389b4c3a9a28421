// SPDX-License-Identifier: Apache-2.0

// What multiplies bfloat16 as it is: the processor's matrix unit (AMX, tiles_amx.h), which float32
// in parts (split_amx.h) uses, too, or vectors of AVX512_BF16 (tiles_dot.h). Both are beyond the
// instruction sets of isa.h and have no name there: setting LIBDL_CPU, to any of them, leaves them
// unused.
#pragma once

#include "kernels/cpu/simd/isa.h"

namespace libdl::kernels::cpu {

enum class BfloatUnit : int32_t { kNone, kDots, kTiles };

extern std::atomic<int32_t> bfloat_unit_state;  // for the functions below only; -1: not yet known
BfloatUnit find_bfloat_unit();

// kTiles if the processor has AMX and AVX512_BF16 and the system grants this process the tiles (it
// is asked at the first such product), kDots if it has AVX512_BF16; kNone unless AVX-512 is in use.
inline BfloatUnit bfloat_unit() {
  const int32_t known = bfloat_unit_state.load(std::memory_order_relaxed);
  const BfloatUnit unit =
      __builtin_expect(known >= 0, 1) ? static_cast<BfloatUnit>(known) : find_bfloat_unit();
  return isa() == Isa::kAvx512 ? unit : BfloatUnit::kNone;
}
inline bool multiplies_bfloat() { return bfloat_unit() != BfloatUnit::kNone; }
inline bool matrix_unit() { return bfloat_unit() == BfloatUnit::kTiles; }

// Whether products of float32 use it, too, unless LIBDL_DISABLE names split_products.
bool splits_products();

// For tests. False, and nothing changes, if the machine lacks it.
bool set_bfloat_unit(BfloatUnit unit);

}  // namespace libdl::kernels::cpu
