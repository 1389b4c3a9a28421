// SPDX-License-Identifier: Apache-2.0

// Patches of 16-bit numbers as they are, for the matrix unit, and so for AVX-512 alone.
#include "kernels/cpu/simd/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/matrix_unit/gather_bits.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/conv/matrix_unit/tile_steps.h"
#include "kernels/cpu/conv/patches/patches-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {

void gather_rows(uint16_t* to, const Patches<uint16_t>& p, int64_t r0, int64_t rows, int64_t c0,
                 int64_t c1) {
  gather<kPatchRowStride>(to, p, r0, rows, c0, c1);
}
void gather_columns(uint16_t* to, const Patches<uint16_t>& p, int64_t r0, int64_t rows, int64_t c0,
                    int64_t c1) {
  gather<kPatchColumnStride>(to, p, r0, rows, c0, c1);
}

}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#include <cstdlib>

namespace libdl::kernels::cpu {

#if defined(__x86_64__) && !defined(LIBDL_ONE_ISA)
void gather_rows(uint16_t* to, const Patches<uint16_t>& p, int64_t r0, int64_t rows, int64_t c0,
                 int64_t c1) {
  N_AVX3::gather_rows(to, p, r0, rows, c0, c1);
}
void gather_columns(uint16_t* to, const Patches<uint16_t>& p, int64_t r0, int64_t rows, int64_t c0,
                    int64_t c1) {
  N_AVX3::gather_columns(to, p, r0, rows, c0, c1);
}
#else  // bfloat_unit() is kNone
void gather_rows(uint16_t*, const Patches<uint16_t>&, int64_t, int64_t, int64_t, int64_t) {
  std::abort();
}
void gather_columns(uint16_t*, const Patches<uint16_t>&, int64_t, int64_t, int64_t, int64_t) {
  std::abort();
}
#endif

}  // namespace libdl::kernels::cpu
#endif
