// SPDX-License-Identifier: Apache-2.0

// What the two test builds with forms (cmake/packed.cmake) do to bytes and forms that nobody may
// look at any more, and when; nothing in others.
//
//   LIBDL_BORN_PACKED   every result of three or more dimensions is born in a form alone
//   LIBDL_RANDOM_FORMS  forms appear and go at random, at every look at a storage
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace libdl {

// True once in `times`, drawn from the seed in LIBDL_FORMS_SEED.
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
