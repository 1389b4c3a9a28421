// SPDX-License-Identifier: Apache-2.0

// A random permutation from random words, in place: the Fisher-Yates shuffle in its growing form
// (Knuth, TAOCP 2, 3.4.2). Element i goes to place j among the first i + 1, and the element there
// moves to the end; j is uniform without bias by the rules of philox.h, so every order is equally
// likely.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/philox.h"

namespace libdl::kernels {

// Extends a permutation of `first` elements to one of `last` elements: the random words first to
// last - 1, drawn with this key and offset, are replaced by its entries. Word is uint32_t for at
// most 2^32 elements and else uint64_t, low word first, as for every element that takes two words.
template <class Word>
void shuffle(Word* words, int64_t first, int64_t last, uint64_t key, uint64_t offset) {
  static_assert(std::is_same_v<Word, uint32_t> || std::is_same_v<Word, uint64_t>);
  constexpr bool kWide = sizeof(Word) == 8;
  constexpr int64_t kAhead = 16;  // elements to prefetch ahead: hides a last-level cache miss
  constexpr int kWidth = kWide ? 2 : 4;
  for (int64_t i = first; i < last; ++i) {
    const auto range = static_cast<uint64_t>(i + 1);
    if (i + kAhead < last) {
      const Word later = words[i + kAhead];
      const uint64_t most = range + kAhead;
      __builtin_prefetch(words + (kWide ? multiply128(later, most).high : later * most >> 32), 1);
    }
    const uint64_t counter = offset + static_cast<uint64_t>(i / kWidth);
    const int lane = static_cast<int>(i % kWidth);
    Word j;
    if constexpr (kWide) {
      j = below64(words[i], range, key, counter, lane);
    } else {
      j = below32(words[i], static_cast<uint32_t>(range), key, counter, lane);
    }
    words[i] = words[j];
    words[j] = static_cast<Word>(i);
  }
}

}  // namespace libdl::kernels
