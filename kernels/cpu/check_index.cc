// SPDX-License-Identifier: Apache-2.0

#include <atomic>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/walk.h"

namespace libdl::kernels::cpu {

namespace {

constexpr int64_t kGrain = 1 << 16;

// Negative if index lies outside [-size, size): sums wrap only for what does.
template <class Index>
int64_t verdict(Index index, uint64_t size) {
  const uint64_t value = static_cast<uint64_t>(int64_t{index});
  return static_cast<int64_t>((value + size) | (size - 1 - value));
}

// The first of `count` values outside [-size, size), or count. Blocks are tested as a whole first,
// for nearly always nothing is wrong; by sums and signs, for SSE2 compares no 64-bit numbers.
template <class Index>
int64_t first_bad(const Index* index, int64_t stride, int64_t count, uint64_t size) {
  constexpr int64_t kBlock = 64;
  int64_t j = 0;
  for (; j + kBlock <= count; j += kBlock) {
    int64_t all = 0;
    if (stride == 1) {
      for (int64_t k = 0; k < kBlock; ++k) all |= verdict(index[j + k], size);
    } else {
      for (int64_t k = 0; k < kBlock; ++k) all |= verdict(index[(j + k) * stride], size);
    }
    if (all < 0) break;
  }
  while (j < count && verdict(index[j * stride], size) >= 0) ++j;
  return j;
}

}  // namespace

void check_index(Context& context, const CheckIndexArgs& args) {
  const View& index = args.index;
  Walk<1> walk;
  for (int32_t d = 0; d < index.ndim; ++d) walk.push(index.sizes[d], {index.strides[d]});

  constexpr int64_t kNone = INT64_MAX;
  std::atomic<int64_t> first{kNone};
  with_index(index.dtype, [&]<class Index>(Index) {
    const Index* data = static_cast<const Index*>(index.data);
    in_chunks(context, element_count(index), kGrain, [&](int64_t begin, int64_t end) {
      int64_t position = begin;
      walk.run(begin, end, [&](const auto& offset, int64_t count) {
        if (position < 0) return;
        const int64_t at =
            first_bad(data + offset[0], walk.inner(0), count, static_cast<uint64_t>(args.size));
        if (at == count) {
          position += count;
          return;
        }
        int64_t seen = first.load(std::memory_order_relaxed);
        while (position + at < seen && !first.compare_exchange_weak(seen, position + at)) {
        }
        position = -1;
      });
    });
  });
  const int64_t bad = first.load();
  *args.bad = bad == kNone ? -1 : bad;
}

}  // namespace libdl::kernels::cpu
