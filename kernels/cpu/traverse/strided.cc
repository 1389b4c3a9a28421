// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/traverse/strided.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/traverse/strided.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

struct Sixteen {
  uint64_t word[2];
};

template <class T>
void one_by_one(const char* from, int64_t step, int64_t first, int64_t n, char* to) {
  constexpr int64_t bytes = sizeof(T);
  for (int64_t i = first; i < n; ++i) std::memcpy(to + i * bytes, from + i * step, bytes);
}

#if HWY_TARGET != HWY_SCALAR
// Returns how many were taken. The vectors end before the last element, which nothing may follow.
template <class T>
int64_t every_other(const T* from, int64_t n, T* to) {
  const hn::ScalableTag<T> d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step < n; i += step) {
    const auto low = hn::LoadU(d, from + 2 * i), high = hn::LoadU(d, from + 2 * i + step);
    hn::StoreU(hn::ConcatEven(d, high, low), d, to + i);
  }
  return i;
}

template <class T>
int64_t reversed(const T* from, int64_t n, T* to) {
  const hn::ScalableTag<T> d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  if (n < step) return 0;
  for (int64_t i = 0; i < n; i += step) {
    i = std::min(i, n - step);  // the last over the one before
    const auto x = hn::LoadU(d, from - i - (step - 1));
    if constexpr (sizeof(T) == 1) {  // pairs of bytes, turned within and among each other
      const hn::RepartitionToWide<decltype(d)> pairs;
      const auto pair = hn::BitCast(pairs, x);
      const auto turned = hn::Or(hn::ShiftLeft<8>(pair), hn::ShiftRight<8>(pair));
      hn::StoreU(hn::BitCast(d, hn::Reverse(pairs, turned)), d, to + i);
    } else {
      hn::StoreU(hn::Reverse(d, x), d, to + i);
    }
  }
  return n;
}
#endif

template <class T>
void gather(const char* from, int64_t step, int64_t n, char* to) {
  [[maybe_unused]] constexpr int64_t bytes = sizeof(T);
  int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto* source = reinterpret_cast<const T*>(from);
  auto* target = reinterpret_cast<T*>(to);
  if constexpr (bytes > 1) {
    if (step == 2 * bytes) done = every_other(source, n, target);
  }
  if (step == -bytes) done = reversed(source, n, target);
#endif
  one_by_one<T>(from, step, done, n, to);
}

template <class T>
void repeat(const char* value, int64_t n, char* to) {
  int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  T one;
  std::memcpy(&one, value, sizeof(T));
  const auto all = hn::Set(d, one);
  auto* target = reinterpret_cast<T*>(to);
  if (n >= step) {
    for (; done + step <= n; done += step) hn::StoreU(all, d, target + done);
    hn::StoreU(all, d, target + n - step);  // the last over the one before
    done = n;
  }
#endif
  one_by_one<T>(value, 0, done, n, to);
}

void repeat_on(const char* value, int64_t bytes, int64_t n, char* to) {
  switch (bytes) {
    case 1: return repeat<uint8_t>(value, n, to);
    case 2: return repeat<uint16_t>(value, n, to);
    case 4: return repeat<uint32_t>(value, n, to);
    case 8: return repeat<uint64_t>(value, n, to);
    default: return one_by_one<Sixteen>(value, 0, 0, n, to);
  }
}

void gather_on(const char* from, int64_t step, int64_t bytes, int64_t n, char* to) {
  switch (bytes) {
    case 1: return gather<uint8_t>(from, step, n, to);
    case 2: return gather<uint16_t>(from, step, n, to);
    case 4: return gather<uint32_t>(from, step, n, to);
    case 8: return gather<uint64_t>(from, step, n, to);
    default: return one_by_one<Sixteen>(from, step, 0, n, to);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void gather_strided(const char* from, int64_t step, int64_t bytes, int64_t n, char* to) {
  LIBDL_ON_ISA(gather_on, from, step, bytes, n, to);
}

void repeat_value(const char* value, int64_t bytes, int64_t n, char* to) {
  LIBDL_ON_ISA(repeat_on, value, bytes, n, to);
}

}  // namespace libdl::kernels::cpu
#endif
