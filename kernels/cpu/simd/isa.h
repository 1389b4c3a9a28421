// SPDX-License-Identifier: Apache-2.0

// Which instruction set the vector kernels use. LIBDL_CPU=baseline|avx2|avx512 in the environment
// lowers the choice (it is read once); asking for more than the machine has changes nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace libdl::kernels::cpu {

enum class Isa : int32_t { kBaseline, kAvx2, kAvx512 };
constexpr int kIsas = 3;

extern std::atomic<int32_t> chosen_isa;  // for isa() and set_isa() only; -1: not yet chosen
Isa choose_isa();

// The set in use.
inline Isa isa() {
  const int32_t chosen = chosen_isa.load(std::memory_order_relaxed);
  return __builtin_expect(chosen >= 0, 1) ? static_cast<Isa>(chosen) : choose_isa();
}

// The best set of this machine, whatever LIBDL_CPU says.
Isa best_isa();

// "baseline", "avx2" or "avx512".
const char* isa_name(Isa isa);

// For tests: uses `isa` from now on. Returns false, and changes nothing, if the machine lacks it.
bool set_isa(Isa isa);

}  // namespace libdl::kernels::cpu
