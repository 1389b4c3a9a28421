// SPDX-License-Identifier: Apache-2.0

// The source of random numbers: a key and how far its counter has come. What the numbers are is
// said in kernels/philox.h.
#pragma once

#include <libdl/abi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/counted.h"

struct libdl_generator : libdl::Counted {
  explicit libdl_generator(uint64_t seed);

  std::atomic<uint64_t> seed;     // as the user gave it; it is the key
  std::atomic<uint64_t> offset;   // blocks spent
  std::atomic<uint64_t> lineage;  // of the process in which the seed was set
};

namespace libdl {

using Generator = libdl_generator;

void destroy(Generator* generator);

constexpr uint64_t kFirstSeed = 67280421310721;  // for draws that shall be the same in every run

// The state's own generator, or the process's, whose first seed the system draws.
Generator& default_generator();
inline Generator& generator_or_default(Generator* generator) {
  return generator ? *generator : default_generator();
}

// Starts again from the seed.
void set_seed(Generator& generator, uint64_t seed);

// The key in this process: the seed, or, in a process forked since the seed was set, one derived
// from it and from the ordinals of the forks on the way. So parent and children never draw the same
// numbers, and a program that forks in the same order draws the same ones again.
uint64_t key_of(const Generator& generator);

// Claims blocks: what is drawn from the returned offset on is the caller's alone. Safe from any
// thread; whoever comes first draws first.
uint64_t advance(Generator& generator, uint64_t blocks);

// Key and offset as bytes that another process can continue from. set_state throws VALUE if the
// bytes are none of get_state's.
constexpr size_t kGeneratorStateBytes = 24;
using GeneratorState = std::array<std::byte, kGeneratorStateBytes>;
GeneratorState get_state(const Generator& generator);
void set_state(Generator& generator, const std::byte* bytes, size_t count);

}  // namespace libdl
