// SPDX-License-Identifier: Apache-2.0

// Tells AddressSanitizer which bytes must not be touched. These do nothing in other builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define LIBDL_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIBDL_POISONS 1
#endif
#endif

#ifdef LIBDL_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace libdl {

#ifdef LIBDL_POISONS
constexpr bool kPoisons = true;
inline void poison(void* data, size_t bytes) { __asan_poison_memory_region(data, bytes); }
inline void unpoison(void* data, size_t bytes) { __asan_unpoison_memory_region(data, bytes); }
#else
constexpr bool kPoisons = false;
inline void poison(void*, size_t) {}
inline void unpoison(void*, size_t) {}
#endif

}  // namespace libdl
