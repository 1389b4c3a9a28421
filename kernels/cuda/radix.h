// SPDX-License-Identifier: Apache-2.0

// Sorting keys that carry their positions: rows of pairs in device memory, least significant byte
// of the key first. It is stable and gives the same result every time.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"

namespace libdl::kernels::cuda {

// Key and position in one word, for keys of at most 32 bits in rows of at most 2^32 elements.
struct ShortPair {
  uint64_t word;

  static LIBDL_DEVICE ShortPair of(uint64_t key, int64_t position) {
    return {key << 32 | static_cast<uint64_t>(position)};
  }
  static LIBDL_DEVICE ShortPair last() { return {~uint64_t{0}}; }
  LIBDL_DEVICE uint64_t key() const { return word >> 32; }
  LIBDL_DEVICE int64_t at() const { return static_cast<int64_t>(word & 0xffffffffu); }
  friend LIBDL_DEVICE bool operator<(ShortPair x, ShortPair y) { return x.word < y.word; }
};

struct alignas(16) LongPair {
  uint64_t first;
  int64_t position;

  static LIBDL_DEVICE LongPair of(uint64_t key, int64_t position) { return {key, position}; }
  static LIBDL_DEVICE LongPair last() { return {~uint64_t{0}, INT64_MAX}; }
  LIBDL_DEVICE uint64_t key() const { return first; }
  LIBDL_DEVICE int64_t at() const { return position; }
  friend LIBDL_DEVICE bool operator<(LongPair x, LongPair y) {
    return x.first != y.first ? x.first < y.first : x.position < y.position;
  }
};

inline int64_t pair_bytes(bool is_short) { return is_short ? sizeof(ShortPair) : sizeof(LongPair); }

// Sorts rows of `length` pairs by the key's lowest `bits` bits, moving them between `pairs` and
// `spare`, which has the same size. Returns which of the two holds the result; NULL on failure.
void* radix_sort(Context& context, bool is_short, void* pairs, void* spare, int64_t rows,
                 int64_t length, int bits);

}  // namespace libdl::kernels::cuda
