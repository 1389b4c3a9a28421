// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm/matrix_unit.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(LIBDL_ONE_ISA)
#define LIBDL_MATRIX_UNIT 1
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdlib>
#include <cstring>
#include <string>

namespace libdl::kernels::cpu {
namespace {

#ifdef LIBDL_MATRIX_UNIT
bool has_avx512_bf16() {
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || eax < 1) return false;
  __cpuid_count(7, 1, eax, ebx, ecx, edx);
  return (eax >> 5 & 1) != 0;
}

// Whether the processor has the tiles (eight, of sixteen rows of 64 bytes), the system saves them,
// and it lets this process use them. From then on signal frames of threads that used them are 8 kB
// larger, and sigaltstack() refuses stacks that are too small for that; if such a small stack is
// already in use the system denies the request.
bool granted_tiles() {
  unsigned eax, ebx, ecx, edx;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kSaved = 3u << 17;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & (kBf16 | kTile)) != (kBf16 | kTile) || !has_avx512_bf16()) return false;
  if (__get_cpuid_count(0x1d, 1, &eax, &ebx, &ecx, &edx) == 0) return false;
  const bool shape = (ebx & 0xffff) >= 64 && ebx >> 16 >= 8 && (ecx & 0xffff) >= 16;
  __cpuid(1, eax, ebx, ecx, edx);
  if (!shape || (ecx >> 27 & 1) == 0) return false;  // the last: XGETBV
  asm volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  if ((eax & kSaved) != kSaved) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#else
bool has_avx512_bf16() { return false; }
bool granted_tiles() { return false; }
#endif

// Whether this machine has what `unit` needs.
bool has(BfloatUnit unit) {
  if (unit == BfloatUnit::kNone) return true;
  if (best_isa() != Isa::kAvx512) return false;
  return unit == BfloatUnit::kDots ? has_avx512_bf16() : granted_tiles();
}

}  // namespace

std::atomic<int32_t> bfloat_unit_state{-1};

// Threads may race here: the system gives both the same answer.
BfloatUnit find_bfloat_unit() {
  const char* limit = std::getenv("LIBDL_CPU");
  bool allowed = isa() == Isa::kAvx512;
  for (int i = 0; limit != nullptr && i < kIsas; ++i) {
    if (std::strcmp(limit, isa_name(static_cast<Isa>(i))) == 0) allowed = false;
  }
  BfloatUnit best = BfloatUnit::kNone;
  for (const BfloatUnit unit : {BfloatUnit::kDots, BfloatUnit::kTiles}) {
    if (allowed && has(unit)) best = unit;
  }
  bfloat_unit_state.store(static_cast<int32_t>(best), std::memory_order_relaxed);
  return best;
}

bool splits_products() {
  // Kernels include nothing of the core, whose runtime/mechanism.h reads the other names.
  static const bool enabled = [] {
    const char* const names = std::getenv("LIBDL_DISABLE");
    const std::string listed = std::string(",") + (names != nullptr ? names : "") + ",";
    return listed.find(",split_products,") == std::string::npos;
  }();
  return enabled && matrix_unit();
}

bool set_bfloat_unit(BfloatUnit unit) {
  if (!has(unit)) return false;
  bfloat_unit_state.store(static_cast<int32_t>(unit), std::memory_order_relaxed);
  return true;
}

}  // namespace libdl::kernels::cpu
