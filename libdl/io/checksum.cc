// SPDX-License-Identifier: Apache-2.0

#include "io/checksum.h"

#include <array>
#include <cstring>
#include <utility>

namespace libdl {

// Sixteen bytes a step: table[k] advances a byte over the k that follow it.
// Source: M. E. Kounavis, F. L. Berry, "Novel Table Lookup-Based Algorithms for High-Performance
// CRC Generation", 2008.
constexpr size_t kStep = 16;
using Tables = std::array<std::array<uint32_t, 256>, kStep>;

static constexpr Tables tables() {
  Tables built{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
    built[0][byte] = crc;
  }
  for (size_t k = 1; k < kStep; ++k)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = built[k - 1][byte];
      built[k][byte] = (before >> 8) ^ built[0][before & 255];
    }
  return built;
}
static constexpr Tables kTables = tables();

// The table's entries of sixteen bytes, unrolled.
template <size_t... I>
static uint32_t advanced(const uint32_t (&words)[kStep / 4], std::index_sequence<I...>) {
  return (kTables[kStep - 1 - I][words[I / 4] >> (8 * (I % 4)) & 255] ^ ...);
}

uint32_t crc32(uint32_t before, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  uint32_t crc = ~before;
  for (; bytes >= kStep; at += kStep, bytes -= kStep) {
    uint32_t words[kStep / 4];
    std::memcpy(words, at, kStep);
    words[0] ^= crc;
    crc = advanced(words, std::make_index_sequence<kStep>());
  }
  for (; bytes > 0; ++at, --bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 255];
  return ~crc;
}

}  // namespace libdl
