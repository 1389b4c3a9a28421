// SPDX-License-Identifier: Apache-2.0

// Random number generators: a key and a counter. kernels/philox.h defines the numbers.
#pragma once

#include <libdl/abi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/handle.h"

struct libdl_generator : libdl::Handle<libdl_generator> {
  explicit libdl_generator(uint64_t seed);

  std::atomic<uint64_t> seed;     // as the user gave it; it is the key
  std::atomic<uint64_t> offset;   // blocks used so far
  std::atomic<uint64_t> lineage;  // of the process in which the seed was set
};

namespace libdl {

using Generator = libdl_generator;

void destroy(Generator* generator);

constexpr uint64_t kFirstSeed = 67280421310721;  // for draws that must be the same in every run

// The state's own generator, or the process's, whose initial seed comes from the system.
Generator& default_generator();
inline Generator& generator_or_default(Generator* generator) {
  return generator ? *generator : default_generator();
}

// Restarts the generator with this seed.
void set_seed(Generator& generator, uint64_t seed);

// The key in this process: the seed, or, in a process forked since the seed was set, a key derived
// from the seed and the ordinals of the forks in between. So parent and children never draw the
// same numbers, and a program that forks in the same order draws the same ones again.
uint64_t key_of(const Generator& generator);

// Claims blocks: those from the returned offset on belong to the caller alone. Safe from any
// thread; callers are served in the order of their calls.
uint64_t advance(Generator& generator, uint64_t blocks);

// Key and offset as bytes from which another process can continue. set_state throws VALUE unless
// the bytes come from get_state.
constexpr size_t kGeneratorStateBytes = 24;
using GeneratorState = std::array<std::byte, kGeneratorStateBytes>;
GeneratorState get_state(const Generator& generator);
void set_state(Generator& generator, const std::byte* bytes, size_t count);

}  // namespace libdl
