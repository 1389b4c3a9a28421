// SPDX-License-Identifier: Apache-2.0

// A random order out of random words, where they lie: the shuffle of Fisher and Yates in the form
// that grows (Knuth, TAOCP 2, 3.4.2). Element i goes to a place j of the first i + 1, and what was
// there to the end; j is uniform, without bias, by the rules of philox.h: every order is equally
// likely.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/philox.h"

namespace libdl::kernels {

// The words first to last - 1, drawn with this key and offset, become the numbers of the order of
// `last` elements, of which the first `first` are there. Word is uint32_t for at most 2^32 elements
// and else uint64_t: the low word first, as every element that takes two.
template <class Word>
void shuffle(Word* words, int64_t first, int64_t last, uint64_t key, uint64_t offset) {
  static_assert(std::is_same_v<Word, uint32_t> || std::is_same_v<Word, uint64_t>);
  constexpr bool kWide = sizeof(Word) == 8;
  constexpr int64_t kAhead = 16;  // elements: what a miss of the last cache takes
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
