// SPDX-License-Identifier: Apache-2.0

// Radix sort on order-preserving keys, least significant byte first: stable by nature, no
// comparison to mispredict, and one pass a byte of the key.

#include "kernels/cpu/indexing/sort_keys.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

constexpr int64_t kSmallRow = 256;      // below, comparing beats counting
constexpr int64_t kFew = 16;            // of a small row, kept in order as they are found
constexpr int64_t kLargeRow = 1 << 16;  // from here on threads share one row
constexpr int64_t kRowChunks = 32;      // of the rows, each with its own scratch
constexpr int64_t kManyBetter = 2048;   // elements of a row among which many are new candidates
constexpr int64_t kPieces = 64;         // of one large row, each with its own counts

// What one sorter at a time needs, in bytes; the counts come first.
struct Room {
  int64_t pair, pairs, pieces, sorters;
  int64_t counts_bytes() const { return pieces * 256 * static_cast<int64_t>(sizeof(int64_t)); }
  int64_t bytes() const { return counts_bytes() + pairs * pair; }
};

// Candidates that a selection of k gathers before it cuts back to k.
int64_t candidates(int64_t length, int64_t k) {
  return 2 * k + std::clamp<int64_t>(length / 8, 32, 1024);
}

bool selects(int64_t length, int64_t k) { return k >= 0 && candidates(length, k) < length; }

Room room_for(int32_t dtype, int64_t rows, int64_t length, int64_t k) {
  const bool is_short = element_size(dtype) <= 4 && length <= int64_t{1} << 32;
  Room room;
  room.pair = is_short ? sizeof(ShortPair) : sizeof(LongPair);
  room.pairs = selects(length, k) ? candidates(length, k) : 2 * length;
  const bool shared = length >= kLargeRow && !selects(length, k);
  room.pieces = shared ? kPieces : 1;
  room.sorters = shared ? 1 : std::min(rows, kRowChunks);
  return room;
}

// Runs everything on the calling thread, in the place of the pool.
struct Alone {
  template <class Body>
  bool operator()(int64_t count, int64_t, const Body& body) const {
    body(int64_t{0}, count);
    return true;
  }
};
struct Shared {
  Context& context;
  template <class Body>
  bool operator()(int64_t count, int64_t grain, const Body& body) const {
    return in_chunks(context, count, grain, body);
  }
};

// One pass over one byte of the keys. False if the host interrupted; *moved says whether the pairs
// are in `to` (if all bytes are equal they stay).
template <class Pair, class Run>
bool pass(const Run& run, int byte, const Pair* from, Pair* to, int64_t length, int64_t grain,
          int64_t* counts, bool* moved) {
  const int64_t pieces = (length - 1) / grain + 1;
  // Count the digits in every piece.
  std::fill_n(counts, pieces * 256, 0);
  if (!run(length, grain, [=](int64_t first, int64_t last) {
        int64_t* count = counts + first / grain * 256;
        for (int64_t j = first; j < last; ++j) ++count[from[j].digit(byte)];
      }))
    return false;

  // Turn the counts into each piece's first place for each digit.
  int64_t place = 0;
  for (int digit = 0; digit < 256; ++digit) {
    const int64_t before = place;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t count = counts[piece * 256 + digit];
      counts[piece * 256 + digit] = place;
      place += count;
    }
    if (place - before == length) {
      *moved = false;
      return true;
    }
  }
  *moved = true;
  // Move the pairs.
  return run(length, grain, [=](int64_t first, int64_t last) {
    int64_t* next = counts + first / grain * 256;
    for (int64_t j = first; j < last; ++j) to[next[from[j].digit(byte)]++] = from[j];
  });
}

struct Row {
  const void* in;
  int64_t stride, length, k;
  void* values;
  int64_t* indices;
  bool descending;
};

template <class KeyOf, class Pair>
struct Sorter {
  using Bits = typename KeyOf::Bits;
  using Element = Cell<Bits>;

  static Pair pair_at(const Row& row, int64_t j) {
    const Bits bits = static_cast<const Element*>(row.in)[j * row.stride].bits;
    const Bits key = KeyOf::key(bits);
    return Pair::make(row.descending ? static_cast<Bits>(~key) : key, j);
  }

  static void store(const Row& row, const Pair* pairs, int64_t first, int64_t last) {
    const Element* in = static_cast<const Element*>(row.in);
    Element* values = static_cast<Element*>(row.values);
    for (int64_t j = first; j < last; ++j) {
      const int64_t index = pairs[j].index();
      row.indices[j] = index;
      if constexpr (kTellsBits<KeyOf>) {  // avoids reading the input in random order
        const Bits key = static_cast<Bits>(pairs[j].key_bits());
        values[j].bits = KeyOf::bits(row.descending ? static_cast<Bits>(~key) : key);
      } else {
        values[j] = in[index * row.stride];
      }
    }
  }

  static void make_pairs(const Row& row, Pair* pairs, int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) pairs[j] = pair_at(row, j);
  }

  // The passes for bytes from `byte` on; afterwards the pairs are in `pairs`.
  template <class Run>
  static bool passes(const Run& run, int byte, Pair*& pairs, Pair*& other, int64_t n, int64_t grain,
                     int64_t* counts) {
    for (; byte < static_cast<int>(sizeof(Bits)); ++byte) {
      bool moved;
      if (!pass(run, byte, pairs, other, n, grain, counts, &moved)) return false;
      if (moved) std::swap(pairs, other);
    }
    return true;
  }

  // Completes the sort of pairs that are sorted by their bytes from `byte` on: sorts each run in
  // which these are equal. Returns false if a run is too long.
  static bool settle(Pair* pairs, int64_t n, int byte) {
    constexpr int64_t kTogether = 64;
    const auto head = [&](int64_t j) { return pairs[j].key_bits() >> (8 * byte); };
    int64_t start = 0;
    for (int64_t j = 1; j <= n; ++j) {
      if (j < n && head(j) == head(start)) continue;
      if (j - start > kTogether) return false;
      start = j;
    }
    for (int64_t j = start = 0; j < n; ++j) {
      if (head(j) != head(start)) start = j;
      const Pair pair = pairs[j];
      int64_t place = j;
      for (; place > start && pair < pairs[place - 1]; --place) pairs[place] = pairs[place - 1];
      pairs[place] = pair;
    }
    return true;
  }

  // 64-bit keys that are spread out, like random ones, differ in a few leading bytes: these are
  // sorted first, and then the few pairs whose order they leave open.
  static int first_byte(int64_t n) {
    constexpr int kBytes = static_cast<int>(sizeof(Bits));
    if constexpr (kBytes < 8) return 0;
    const int doubt = 4;  // bits beyond those that n keys need
    const int bits = 64 - __builtin_clzll(static_cast<uint64_t>(n)) + doubt;
    return std::max(0, kBytes - (bits + 7) / 8);
  }

  template <class Run>
  static void sort(const Run& run, const Row& row, Pair* pairs, int64_t* counts, int64_t pieces) {
    const int64_t n = row.length;
    const int64_t grain = (n + pieces - 1) / pieces;
    // Make the pairs.
    if (!run(n, grain, [&](int64_t first, int64_t last) { make_pairs(row, pairs, first, last); }))
      return;
    // Sort them: short rows by comparison, others by the leading bytes and then the rest.
    if (n < kSmallRow) {
      std::sort(pairs, pairs + n);
    } else {
      Pair* other = pairs + n;
      const int byte = first_byte(n);
      if (!passes(run, byte, pairs, other, n, grain, counts)) return;
      if (byte > 0 && !settle(pairs, n, byte)) {
        if (!run(n, grain,
                 [&](int64_t first, int64_t last) { make_pairs(row, pairs, first, last); }))
          return;
        if (!passes(run, 0, pairs, other, n, grain, counts)) return;
      }
    }
    // Write the first k.
    const int64_t k = row.k < 0 ? n : row.k;
    run(k, grain, [&](int64_t first, int64_t last) { store(row, pairs, first, last); });
  }

  // The first k of a small row, each inserted among those found so far.
  static void select_few(const Row& row, Pair* pairs) {
    int64_t have = 0;
    for (int64_t j = 0; j < row.length; ++j) {
      const Pair pair = pair_at(row, j);
      if (have == row.k && !(pair < pairs[have - 1])) continue;
      int64_t place = have < row.k ? have++ : have - 1;
      for (; place > 0 && pair < pairs[place - 1]; --place) pairs[place] = pairs[place - 1];
      pairs[place] = pair;
    }
    store(row, pairs, 0, row.k);
  }

  // The first k: collects pairs below the k-th best so far, and reduces them to k when the room is
  // full.
  static void select(const Row& row, Pair* pairs) {
    const int64_t k = row.k, room = candidates(row.length, k);
    if (k == 0) return;
    int64_t have = 0;
    for (; have < room; ++have) pairs[have] = pair_at(row, have);
    for (int64_t j = room;;) {
      std::nth_element(pairs, pairs + k - 1, pairs + have);
      // Of equal keys the first is the better one, so a later one must have a smaller key. Far into
      // a row few do, and a branch is foreseen; before that it costs less to write each.
      const uint64_t limit = pairs[k - 1].key_bits();
      have = k;
      for (; j < std::min(row.length, kManyBetter) && have < room; ++j) {
        const Pair pair = pair_at(row, j);
        pairs[have] = pair;
        have += pair.key_bits() < limit;
      }
      for (; j < row.length && have < room; ++j) {
        const Pair pair = pair_at(row, j);
        if (pair.key_bits() < limit) pairs[have++] = pair;
      }
      if (have < room) break;
    }
    std::nth_element(pairs, pairs + k - 1, pairs + have);
    std::sort(pairs, pairs + k);
    store(row, pairs, 0, k);
  }
};

template <class KeyOf, class Pair>
void sort_rows(Context& context, const SortArgs& args, int64_t rows, const Room& room) {
  using S = Sorter<KeyOf, Pair>;
  const View& in = args.in;
  const int32_t last_dim = in.ndim - 1;
  Walk<1> starts;
  for (int32_t d = 0; d < last_dim; ++d) starts.push(in.sizes[d], {in.strides[d]});
  const int64_t length = in.sizes[last_dim];
  const int64_t kept = args.k < 0 ? length : args.k;

  const auto each_row = [&](int64_t first, int64_t last, const auto& body) {
    int64_t row = first;
    starts.run(first, last, [&](const auto& offset, int64_t count) {
      for (int64_t j = 0; j < count; ++j, ++row) {
        const int64_t at = offset[0] + j * starts.inner(0);
        body(Row{static_cast<const typename S::Element*>(in.data) + at, in.strides[last_dim],
                 length, args.k, static_cast<typename S::Element*>(args.values.data) + row * kept,
                 static_cast<int64_t*>(args.indices.data) + row * kept, args.descending});
      }
    });
  };
  const Scratch memory(context, room.sorters * room.bytes());
  if (memory.failed()) return;
  char* const scratch = static_cast<char*>(memory.data());
  // A few long rows: each is sorted by all threads.
  if (room.pieces > 1) {
    each_row(0, rows, [&](const Row& row) {
      S::sort(Shared{context}, row, reinterpret_cast<Pair*>(scratch + room.counts_bytes()),
              reinterpret_cast<int64_t*>(scratch), room.pieces);
    });
    return;
  }
  // Many rows: each by one thread.
  const int64_t grain = (rows + room.sorters - 1) / room.sorters;
  in_chunks(context, rows, grain, [&](int64_t first, int64_t last) {
    char* own = scratch + first / grain * room.bytes();
    auto* counts = reinterpret_cast<int64_t*>(own);
    auto* pairs = reinterpret_cast<Pair*>(own + room.counts_bytes());
    const bool few = args.k > 0 && args.k <= kFew && length < kSmallRow;
    each_row(first, last, [&](const Row& row) {
      if (few)
        S::select_few(row, pairs);
      else if (selects(length, args.k))
        S::select(row, pairs);
      else
        S::sort(Alone{}, row, pairs, counts, 1);
    });
  });
}

}  // namespace

void sort(Context& context, const SortArgs& args) {
  const int64_t length = args.in.sizes[args.in.ndim - 1];
  const int64_t total = element_count(args.in);
  if (total == 0) return;
  const int64_t rows = total / length;
  const Room room = room_for(args.in.dtype, rows, length, args.k);
  with_key(args.in.dtype, [&]<class KeyOf>(KeyOf) {
    if constexpr (sizeof(typename KeyOf::Bits) <= 4) {
      if (room.pair == sizeof(ShortPair))
        return sort_rows<KeyOf, ShortPair>(context, args, rows, room);
    }
    sort_rows<KeyOf, LongPair>(context, args, rows, room);
  });
}

}  // namespace libdl::kernels::cpu
