// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "kernels/cpu/simd/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/indexing/check_index.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class Index>
HWY_INLINE bool inside(const Index* index, int64_t count, uint64_t size) {
  const hn::CappedTag<int64_t, 8> d;
  const hn::RebindToUnsigned<decltype(d)> words;
  const hn::Rebind<Index, decltype(d)> stored;
  const auto low = hn::Set(words, size), high = hn::Set(words, size - 1);
  auto signs = hn::Zero(words);
  for (int64_t j = 0; j < count; j += static_cast<int64_t>(hn::Lanes(d))) {
    auto value = hn::Zero(words);
    if constexpr (sizeof(Index) == 8)
      value = hn::BitCast(words, hn::LoadU(d, index + j));
    else
      value = hn::BitCast(words, hn::PromoteTo(d, hn::LoadU(stored, index + j)));
    signs = hn::Or(signs, hn::Or(hn::Add(value, low), hn::Sub(high, value)));
  }
  return hn::AllFalse(d, hn::Lt(hn::BitCast(d, signs), hn::Zero(d)));
}

}  // namespace

// Whether `count` values, a multiple of 8, all lie in [-size, size).
bool inside_int64(const int64_t* index, int64_t count, uint64_t size) {
  return inside(index, count, size);
}
bool inside_int32(const int32_t* index, int64_t count, uint64_t size) {
  return inside(index, count, size);
}

}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <atomic>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

constexpr decltype(&HWY_STATIC_DISPATCH(inside_int64)) kInside64[] =
    LIBDL_FOR_EACH_ISA(inside_int64);
constexpr decltype(&HWY_STATIC_DISPATCH(inside_int32)) kInside32[] =
    LIBDL_FOR_EACH_ISA(inside_int32);

bool all_inside(const int64_t* index, int64_t count, uint64_t size) {
  return kInside64[static_cast<int>(isa())](index, count, size);
}
bool all_inside(const int32_t* index, int64_t count, uint64_t size) {
  return kInside32[static_cast<int>(isa())](index, count, size);
}

constexpr int64_t kGrain = 1 << 14;

// Negative if index lies outside [-size, size): sums wrap only for what does.
template <class Index>
int64_t verdict(Index index, uint64_t size) {
  const uint64_t value = static_cast<uint64_t>(int64_t{index});
  return static_cast<int64_t>((value + size) | (size - 1 - value));
}

// The first of `count` values outside [-size, size), or count. Runs are tested as a whole first,
// because there is almost never an error.
template <class Index>
int64_t first_bad(const Index* index, int64_t stride, int64_t count, uint64_t size) {
  constexpr int64_t kWhole = 8, kStretch = 4096;
  int64_t j = 0;
  while (stride == 1 && j + kWhole <= count) {
    const int64_t stretch = std::min(kStretch, (count - j) / kWhole * kWhole);
    if (!all_inside(index + j, stretch, size)) break;
    j += stretch;
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

#endif
