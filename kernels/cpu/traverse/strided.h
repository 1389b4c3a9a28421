// SPDX-License-Identifier: Apache-2.0

// Gathering evenly strided elements into contiguous memory.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

// to[i] = the element of `bytes` (1, 2, 4, 8 or 16) at from + i * step; step is in bytes. Every
// second element and reverse order are vectorised.
void gather_strided(const char* from, int64_t step, int64_t bytes, int64_t n, char* to);

// to[i] = the element of `bytes` at `value`.
void repeat_value(const char* value, int64_t bytes, int64_t n, char* to);

}  // namespace libdl::kernels::cpu
