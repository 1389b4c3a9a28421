// SPDX-License-Identifier: Apache-2.0

// CRC-32 as in zlib, zip and Ethernet (polynomial 0xEDB88320, reflected): it finds every change of
// up to 32 bits in a row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libdl {

// The checksum of bytes that follow others; `before` is theirs, 0 for none.
uint32_t crc32(uint32_t before, const void* data, size_t bytes);

}  // namespace libdl
