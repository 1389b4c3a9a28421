// SPDX-License-Identifier: Apache-2.0

// Which of Highway's targets are compiled: the baseline, AVX2 and AVX3 (AVX-512). Include it before
// any header of Highway. The low bits are the newer x86 targets, which 1.0.3 has no names for.
#pragma once

// Where Highway has no SSE2 target its baseline is one lane of plain C++ for every compiler: the
// emulation of 128 bits turns infinities into large numbers when it narrows.
#define HWY_BROKEN_EMU128 1
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | 0x7F)

// Only the compiler's own target, which then also replaces the others: for builds in which speed
// does not matter, or for one machine (-march=native).
#ifdef LIBDL_ONE_ISA
#ifndef HWY_COMPILE_ONLY_STATIC
#define HWY_COMPILE_ONLY_STATIC
#endif
#endif

// Whether hn::MulAdd rounds once in the target being compiled.
#define LIBDL_FUSED (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON)

// The {baseline, AVX2, AVX-512} versions of a name that every target's namespace defines; for a
// target that was not compiled (other processors) the baseline is used.
#if defined(__x86_64__) && !defined(LIBDL_ONE_ISA)
#define LIBDL_FOR_EACH_ISA(name) {HWY_STATIC_DISPATCH(name), N_AVX2::name, N_AVX3::name}
#else
#define LIBDL_FOR_EACH_ISA(name) \
  {HWY_STATIC_DISPATCH(name), HWY_STATIC_DISPATCH(name), HWY_STATIC_DISPATCH(name)}
#endif

// Calls the version of `name` for the instruction set in use (isa.h).
#define LIBDL_ON_ISA(name, ...)                                                             \
  do {                                                                                      \
    static constexpr decltype(&HWY_STATIC_DISPATCH(name)) kOn[] = LIBDL_FOR_EACH_ISA(name); \
    kOn[static_cast<int>(isa())](__VA_ARGS__);                                              \
  } while (0)
