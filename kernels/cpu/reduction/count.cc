// SPDX-License-Identifier: Apache-2.0

// How many elements are not 0, where all of them lie together. A NaN counts, and -0 does not.

#include <libdl/dtype.h>

#include <atomic>

#include "kernels/cpu/reduction/reduce.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduction/count.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Of n elements of the bits U, those of which the bits in `mask` are not all 0.
template <class U>
int64_t count(const U* x, int64_t n, U mask) {
  const hn::ScalableTag<U> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto bits = hn::Set(d, mask), zero = hn::Zero(d);
  int64_t i = 0;
  size_t zeros = 0;
  for (; i + lanes <= n; i += lanes)
    zeros += hn::CountTrue(d, hn::Eq(hn::And(hn::LoadU(d, x + i), bits), zero));
  int64_t others = i - static_cast<int64_t>(zeros);
  for (; i < n; ++i) others += (x[i] & mask) != 0;
  return others;
}

template <class U>
void count_all(Context& context, const void* data, int64_t n, U mask, int64_t* result) {
  constexpr int64_t kPiece = 1 << 16;
  const auto* const x = static_cast<const U*>(data);
  std::atomic<int64_t> all{0};
  in_chunks(context, n, kPiece, [&](int64_t first, int64_t last) {
    all.fetch_add(count(x + first, last - first, mask), std::memory_order_relaxed);
  });
  *result = all.load(std::memory_order_relaxed);
}

void count_all_on(Context& context, const ReduceArgs& args, int64_t n) {
  auto* const to = static_cast<int64_t*>(args.out.data);
  const void* const x = args.in.data;
  switch (args.in.dtype) {
    case LIBDL_DTYPE_FLOAT64: return count_all<uint64_t>(context, x, n, ~uint64_t{0} >> 1, to);
    case LIBDL_DTYPE_FLOAT32: return count_all<uint32_t>(context, x, n, ~uint32_t{0} >> 1, to);
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16: return count_all<uint16_t>(context, x, n, 0x7FFF, to);
    default: break;
  }
  switch (dtype_bytes(args.in.dtype)) {
    case 1: return count_all<uint8_t>(context, x, n, 0xFF, to);
    case 2: return count_all<uint16_t>(context, x, n, 0xFFFF, to);
    case 4: return count_all<uint32_t>(context, x, n, ~uint32_t{0}, to);
    default: return count_all<uint64_t>(context, x, n, ~uint64_t{0}, to);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void count_together(Context& context, const ReduceArgs& args, int64_t n) {
  LIBDL_ON_ISA(count_all_on, context, args, n);
}

}  // namespace libdl::kernels::cpu
#endif
