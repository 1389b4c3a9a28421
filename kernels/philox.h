// SPDX-License-Identifier: Apache-2.0

// Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011), and the rules by which all devices use it:
//
//   Row-major logical element i takes word i mod w of block i div w; w = 4, and 2 where an element
//   takes two words (low word first). The block's counter is offset + i div w in words 0 and 1;
//   words 2 and 3 number the attempts of a rejection, so a call always spends ceil(n / w) blocks.
#pragma once

#include <cstdint>

#include "kernels/half.h"

namespace libdl::kernels {

struct PhiloxBlock {
  uint32_t word[4];
};

constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53, kPhiloxMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9, kPhiloxWeyl1 = 0xBB67AE85;
constexpr int kPhiloxRounds = 10;

LIBDL_EVERYWHERE PhiloxBlock philox(uint64_t key, uint64_t counter, uint64_t attempt) {
  uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32);
  uint32_t c2 = static_cast<uint32_t>(attempt), c3 = static_cast<uint32_t>(attempt >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t p0 = uint64_t{kPhiloxMultiplier0} * c0;
    const uint64_t p1 = uint64_t{kPhiloxMultiplier1} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c0 = n0;
    c1 = static_cast<uint32_t>(p1);
    c2 = n2;
    c3 = static_cast<uint32_t>(p0);
    k0 += kPhiloxWeyl0;
    k1 += kPhiloxWeyl1;
  }
  return {{c0, c1, c2, c3}};
}

// [0, 1) in steps of 2^-24 and 2^-53: every step is a float, and a double.
LIBDL_EVERYWHERE float unit_float(uint32_t word) {
  return static_cast<float>(word >> 8) * 5.9604644775390625e-8f;
}
LIBDL_EVERYWHERE double unit_double(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 1.1102230246251565404e-16;
}

// A uniform integer below `range` by Lemire's multiplication ("Fast random integer generation in an
// interval", 2019): the few products that would cause a bias are rejected and drawn again from the
// same word of the next attempt. range 0 means 2^32 (or 2^64).
LIBDL_EVERYWHERE uint32_t below32(uint32_t word, uint32_t range, uint64_t key, uint64_t counter,
                                  int lane) {
  if (range == 0) return word;
  uint64_t product = uint64_t{word} * range;
  if (static_cast<uint32_t>(product) < range) {
    const uint32_t biased = (0u - range) % range;
    for (uint64_t attempt = 1; static_cast<uint32_t>(product) < biased; ++attempt)
      product = uint64_t{philox(key, counter, attempt).word[lane]} * range;
  }
  return static_cast<uint32_t>(product >> 32);
}

struct Product128 {
  uint64_t high, low;
};
LIBDL_EVERYWHERE Product128 multiply128(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const uint64_t other = a0 * b1 + (middle & 0xffffffffu);
  return {a1 * b1 + (middle >> 32) + (other >> 32), a * b};
}

LIBDL_EVERYWHERE uint64_t below64(uint64_t bits, uint64_t range, uint64_t key, uint64_t counter,
                                  int lane) {
  if (range == 0) return bits;
  Product128 product = multiply128(bits, range);
  if (product.low < range) {
    const uint64_t biased = (uint64_t{0} - range) % range;
    for (uint64_t attempt = 1; product.low < biased; ++attempt) {
      const PhiloxBlock block = philox(key, counter, attempt);
      const uint64_t again = uint64_t{block.word[2 * lane]} | uint64_t{block.word[2 * lane + 1]}
                                                                  << 32;
      product = multiply128(again, range);
    }
  }
  return product.high;
}

}  // namespace libdl::kernels
