// SPDX-License-Identifier: Apache-2.0

// What the builds for tests alone do (cmake/variant.cmake, cmake/packed.cmake). Code asks these
// constants with `if constexpr`; in other builds they are false, and nothing of it is left. What
// tests tell the CUDA plugin stands in backends/cuda/test_hooks.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace libdl {

// Whether a kernel that runs while there are interceptors has to run in a call they were shown.
#ifdef LIBDL_VARIANT
inline constexpr bool kLaunchesAreChecked = true;
#else
inline constexpr bool kLaunchesAreChecked = false;
#endif

// Every result of three or more dimensions starts as a packed form only, and bytes that must not be
// read any more are overwritten.
#ifdef LIBDL_BORN_PACKED
inline constexpr bool kResultsAreBornPacked = true;
#else
inline constexpr bool kResultsAreBornPacked = false;
#endif

// Forms appear and go at random, at every access to a storage.
#ifdef LIBDL_RANDOM_FORMS
inline constexpr bool kFormsAreRandom = true;
// True once in `times` on average, drawn with the seed in LIBDL_FORMS_SEED (tests/forms/chance.cc).
bool by_chance(uint32_t times);
#else
inline constexpr bool kFormsAreRandom = false;
constexpr bool by_chance(uint32_t) { return false; }
#endif

// Overwrites bytes that must not be read any more.
inline void spoil(void* bytes, size_t n) {
  if constexpr (kResultsAreBornPacked) std::memset(bytes, 0xA5, n);
}

}  // namespace libdl
