// SPDX-License-Identifier: Apache-2.0

#include "tensor/generator.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "base/error.h"
#include "device/state.h"
#include "kernels/philox.h"

namespace libdl {

// -- forks ----------------------------------------------------------------------------------------

namespace {

constexpr uint64_t kRoot = 0;  // the lineage of a process that was not forked while we were loaded

std::atomic<uint64_t> process_lineage{kRoot};
std::atomic<uint64_t> forks{0};  // that this process has begun

// One more draw from Philox, far from those of any generator (their attempt words are small).
uint64_t mix(uint64_t key, uint64_t value) {
  const kernels::PhiloxBlock block = kernels::philox(key, value, ~uint64_t{0});
  return block.word[0] | uint64_t{block.word[1]} << 32;
}

void before_fork() { forks.fetch_add(1, std::memory_order_relaxed); }

void after_fork_in_child() {
  const uint64_t ordinal = forks.exchange(0, std::memory_order_relaxed);
  process_lineage.store(mix(process_lineage.load(std::memory_order_relaxed), ordinal),
                        std::memory_order_relaxed);
}

void register_fork_handler() {
  static const int registered = pthread_atfork(before_fork, nullptr, after_fork_in_child);
  (void)registered;
}

}  // namespace

// -- generators -----------------------------------------------------------------------------------

}  // namespace libdl

libdl_generator::libdl_generator(uint64_t first)
    : Handle(libdl::Tag::kGenerator), seed(first), offset(0), lineage(0) {
  libdl::set_seed(*this, first);
}

namespace libdl {

void destroy(Generator* generator) { delete generator; }

// From the system, in 53 bits: a double, and so every language's number, holds it exactly.
static uint64_t drawn_seed() {
  uint64_t seed = 0;
  if (getentropy(&seed, sizeof seed)) {  // a kernel or a sandbox without it
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    seed = mix(static_cast<uint64_t>(now), static_cast<uint64_t>(getpid()));
  }
  return seed >> 11;
}

Generator& default_generator() {
  if (Generator* const own = state().generator) return *own;
  // Never destroyed: threads may draw while the process exits.
  static Generator* const process = new Generator(drawn_seed());
  return *process;
}

void set_seed(Generator& generator, uint64_t seed) {
  register_fork_handler();
  generator.seed.store(seed, std::memory_order_relaxed);
  generator.offset.store(0, std::memory_order_relaxed);
  generator.lineage.store(process_lineage.load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
}

uint64_t key_of(const Generator& generator) {
  const uint64_t seed = generator.seed.load(std::memory_order_relaxed);
  const uint64_t here = process_lineage.load(std::memory_order_relaxed);
  return generator.lineage.load(std::memory_order_relaxed) == here ? seed : mix(seed, here);
}

uint64_t advance(Generator& generator, uint64_t blocks) {
  return generator.offset.fetch_add(blocks, std::memory_order_relaxed);
}

// -- state as bytes: a name with a version, the key, the offset; little-endian --------------------

static constexpr char kName[8] = {'p', 'h', 'i', 'l', 'o', 'x', '4', '1'};

GeneratorState get_state(const Generator& generator) {
  GeneratorState bytes;
  const uint64_t key = key_of(generator), offset = generator.offset.load(std::memory_order_relaxed);
  std::memcpy(bytes.data(), kName, 8);
  std::memcpy(bytes.data() + 8, &key, 8);
  std::memcpy(bytes.data() + 16, &offset, 8);
  return bytes;
}

void set_state(Generator& generator, const std::byte* bytes, size_t count) {
  if (count != kGeneratorStateBytes || std::memcmp(bytes, kName, 8) != 0)
    fail_argument(LIBDL_ERROR_VALUE, "generator_set_state", "data", "is no state of a generator",
                  "the bytes that get_state gave");
  uint64_t key, offset;
  std::memcpy(&key, bytes + 8, 8);
  std::memcpy(&offset, bytes + 16, 8);
  set_seed(generator, key);
  generator.offset.store(offset, std::memory_order_relaxed);
}

}  // namespace libdl
