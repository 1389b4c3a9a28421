// SPDX-License-Identifier: Apache-2.0

// Whether products of bfloat16, and of float32 in parts (split_amx.h), use the processor's matrix
// unit (AMX, tiles_amx.h). It is beyond the instruction sets of isa.h and has no name there:
// setting LIBDL_CPU, to any of them, leaves it unused.
#pragma once

#include "kernels/cpu/simd/isa.h"

namespace libdl::kernels::cpu {

extern std::atomic<int32_t> matrix_unit_state;  // for the functions below only; -1: not yet known
bool find_matrix_unit();

// True if the processor has AMX and AVX512_BF16, the system grants this process the tiles (it is
// asked at the first such product), and AVX-512 is in use.
inline bool matrix_unit() {
  const int32_t known = matrix_unit_state.load(std::memory_order_relaxed);
  const bool found = __builtin_expect(known >= 0, 1) ? known != 0 : find_matrix_unit();
  return found && isa() == Isa::kAvx512;
}

// Whether products of float32 use it, too, unless LIBDL_DISABLE names split_products.
bool splits_products();

// For tests. False, and nothing changes, if `used` is true and the machine lacks it.
bool set_matrix_unit(bool used);

}  // namespace libdl::kernels::cpu
