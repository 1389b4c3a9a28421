// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/simd/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdlib>
#include <cstring>

namespace libdl::kernels::cpu {
namespace {

// Detection has one answer, so threads that race here store the same value.
Isa detect() {
  Isa best = best_isa();
  const char* limit = std::getenv("LIBDL_CPU");
  if (limit == nullptr) return best;
  for (int i = 0; i < kIsas; ++i) {
    Isa requested = static_cast<Isa>(i);
    if (std::strcmp(limit, isa_name(requested)) == 0 && requested < best) return requested;
  }
  return best;
}

#if defined(__x86_64__)
// clang 14 does not know "f16c" in __builtin_cpu_supports; leaf 1, ecx bit 29.
bool has_f16c() {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> 29 & 1) != 0;
}
#endif

}  // namespace

Isa best_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2") && has_f16c();
  bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd");
  if (avx2 && avx512) return Isa::kAvx512;
  if (avx2) return Isa::kAvx2;
#endif
  return Isa::kBaseline;
}

std::atomic<int32_t> chosen_isa{-1};

Isa choose_isa() {
  const Isa isa = detect();
  chosen_isa.store(static_cast<int32_t>(isa), std::memory_order_relaxed);
  return isa;
}

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kBaseline: return "baseline";
    case Isa::kAvx2: return "avx2";
    case Isa::kAvx512: return "avx512";
  }
  return "?";
}

bool set_isa(Isa isa) {
  if (isa > best_isa()) return false;
  chosen_isa.store(static_cast<int32_t>(isa), std::memory_order_relaxed);
  return true;
}

}  // namespace libdl::kernels::cpu
