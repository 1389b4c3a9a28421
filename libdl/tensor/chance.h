// SPDX-License-Identifier: Apache-2.0

// The two test builds with packed forms (cmake/packed.cmake); other builds do nothing here. They
// overwrite bytes and forms that must not be read any more:
//
//   LIBDL_BORN_PACKED   every result of three or more dimensions starts as a packed form only
//   LIBDL_RANDOM_FORMS  forms appear and go at random, at every access to a storage
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace libdl {

// True once in `times` on average, drawn with the seed in LIBDL_FORMS_SEED.
#ifdef LIBDL_RANDOM_FORMS
bool by_chance(uint32_t times);
#else
constexpr bool by_chance(uint32_t) { return false; }
#endif

#ifdef LIBDL_BORN_PACKED
inline void poison(void* bytes, size_t n) { std::memset(bytes, 0xA5, n); }
#else
inline void poison(void*, size_t) {}
#endif

}  // namespace libdl
