// SPDX-License-Identifier: Apache-2.0

// When forms appear and go in the build where they do so at random (base/test_hooks.h): each
// thread's draws follow from the seed alone.

#include <atomic>
#include <cstdlib>

#include "base/test_hooks.h"

namespace libdl {

static uint64_t read_seed() {
  if (const char* const told = std::getenv("LIBDL_FORMS_SEED"))
    return std::strtoull(told, nullptr, 10);
  return 0;
}

bool by_chance(uint32_t times) {
  static const uint64_t seed = read_seed();
  static std::atomic<uint64_t> threads{0};
  thread_local uint64_t state = seed + (threads.fetch_add(1) << 48);
  uint64_t z = state += 0x9e3779b97f4a7c15;  // splitmix64
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (z ^ z >> 31) % times == 0;
}

}  // namespace libdl
