// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/combine.h"
#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/indexing/scatter.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Steps along dim, and from one slice to the next.
struct Lines {
  int64_t size, out_step, out_next, src_step, src_next, index_step, index_next;
};

template <class Element, class Index, class Update>
void scatter_one(Element* out, const Element* src, const Index* index, Lines l, int64_t j,
                 int64_t k, const Update& update) {
  const int64_t to = wrap(index[j * l.index_step + k * l.index_next], l.size);
  update(out[k * l.out_next + to * l.out_step], src[j * l.src_step + k * l.src_next]);
}

// The elements that one index moves across slices: out and src never overlap.
template <class Element, class Update>
void update_row(Element* __restrict out, const Element* __restrict src, int64_t out_next,
                int64_t src_next, int64_t count, const Update& update) {
  if (out_next == 1 && src_next == 1) {
    constexpr int64_t kBlock = 16;  // of a fixed length, which compilers turn into vectors
    int64_t k = 0;
    for (; k + kBlock <= count; k += kBlock)
#pragma GCC unroll 16
      for (int64_t j = 0; j < kBlock; ++j) update(out[k + j], src[k + j]);
    for (; k < count; ++k) update(out[k], src[k]);
  } else if (out_next == 1 && src_next == 0) {
    const Element one = *src;
    for (int64_t k = 0; k < count; ++k) update(out[k], one);
  } else {
    for (int64_t k = 0; k < count; ++k) update(out[k * out_next], src[k * src_next]);
  }
}

// A slice whose elements follow one another.
template <class Element, class Index, class Update>
void scatter_line(Element* out, const Element* src, const Index* index, int64_t length,
                  int64_t size, const Update& update) {
  constexpr int64_t kCached = 1 << 18;  // bytes
  int64_t j = 0;
  if (size * static_cast<int64_t>(sizeof(Element)) > kCached) {
    constexpr int64_t kAhead = 32;  // hides a miss behind as many others
    for (; j + kAhead < length; ++j) {
      __builtin_prefetch(out + wrap(index[j + kAhead], size), 1);
      update(out[wrap(index[j], size)], src[j]);
    }
  }
  for (; j < length; ++j) update(out[wrap(index[j], size)], src[j]);
}

// A slice is what one coordinate outside dim selects. Two slices never write to the same place, and
// within a slice the index is followed in order, so the order of sums does not depend on the number
// of threads.
template <class Element, class Index, class Update>
void scatter_slices(Context& context, const ScatterArgs& args, const Update& update) {
  const int64_t size = args.out.sizes[args.dim], step = args.out.strides[args.dim];
  const int64_t length = args.index.sizes[args.dim];
  const int64_t src_step = args.src.strides[args.dim], index_step = args.index.strides[args.dim];

  Walk<3> slices;
  int64_t count_slices = 1;
  for (int32_t d = 0; d < args.index.ndim; ++d) {
    if (d == args.dim) continue;
    slices.push(args.index.sizes[d],
                {args.out.strides[d], args.src.strides[d], args.index.strides[d]});
    count_slices *= args.index.sizes[d];
  }
  if (length == 0) return;
  // Neighbouring slices that share cache lines are handled together.
  const bool across = !slices.is_point() && std::abs(slices.inner(2)) < std::abs(index_step);
  const int64_t grain = std::max<int64_t>(across ? 16 : 1, (1 << 14) / length);

  in_chunks(context, count_slices, grain, [&](int64_t first, int64_t last) {
    slices.run(first, last, [&](const auto& offset, int64_t count) {
      Element* out = static_cast<Element*>(args.out.data) + offset[0];
      const Element* src = static_cast<const Element*>(args.src.data) + offset[1];
      const Index* index = static_cast<const Index*>(args.index.data) + offset[2];
      const Lines lines{size,       step,           slices.inner(0), src_step, slices.inner(1),
                        index_step, slices.inner(2)};
      if (across && lines.index_next == 0) {
        for (int64_t j = 0; j < length; ++j)
          update_row(out + wrap(index[j * index_step], size) * step, src + j * src_step,
                     lines.out_next, lines.src_next, count, update);
      } else if (across) {
        for (int64_t j = 0; j < length; ++j)
          for (int64_t k = 0; k < count; ++k) scatter_one(out, src, index, lines, j, k, update);
      } else if (step == 1 && src_step == 1 && index_step == 1) {
        for (int64_t k = 0; k < count; ++k)
          scatter_line(out + k * lines.out_next, src + k * lines.src_next,
                       index + k * lines.index_next, length, size, update);
      } else {
        for (int64_t k = 0; k < count; ++k)
          for (int64_t j = 0; j < length; ++j) scatter_one(out, src, index, lines, j, k, update);
      }
    });
  });
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3  // F16C converts to the bits that Half does
struct FastHalf {
  uint16_t bits;
  HWY_INLINE float load() const { return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits))); }
  static HWY_INLINE FastHalf store(float x) {
    const __m128i y = _mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT);
    return {static_cast<uint16_t>(_mm_cvtsi128_si32(y))};
  }
};
#else
using FastHalf = Half;
#endif

struct AddHalf {
  HWY_INLINE void operator()(FastHalf& out, const FastHalf& src) const {
    out = FastHalf::store(out.load() + src.load());
  }
};

}  // namespace

void add_halves(Context& context, const ScatterArgs& args) {
  if (args.index.dtype == LIBDL_DTYPE_INT64) {
    scatter_slices<FastHalf, int64_t>(context, args, AddHalf());
  } else {
    scatter_slices<FastHalf, int32_t>(context, args, AddHalf());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

namespace {
constexpr decltype(&HWY_STATIC_DISPATCH(add_halves)) kAddHalves[] = LIBDL_FOR_EACH_ISA(add_halves);
}  // namespace

void scatter(Context& context, const ScatterArgs& args) {
  using HWY_NAMESPACE::scatter_slices;
  const auto op = static_cast<ScatterOp>(args.op);
  if (op == ScatterOp::kAdd && args.out.dtype == LIBDL_DTYPE_FLOAT16) {
    return kAddHalves[static_cast<int>(isa())](context, args);
  }
  with_index(args.index.dtype, [&]<class Index>(Index) {
    if (op == ScatterOp::kSet) {
      with_cell(args.out.dtype, [&]<class Element>(Element) {
        scatter_slices<Element, Index>(context, args,
                                       [](Element& out, const Element& src) { out = src; });
      });
      return;
    }
    with_element(args.out.dtype, [&]<class Element>(Element) {
      if (op == ScatterOp::kAdd) {
        scatter_slices<Element, Index>(
            context, args, [](Element& out, const Element& src) { out = sum(out, src); });
      } else {
        scatter_slices<Element, Index>(context, args, [op](Element& out, const Element& src) {
          out = op == ScatterOp::kMul   ? product(out, src)
                : op == ScatterOp::kMax ? larger(out, src)
                                        : smaller(out, src);
        });
      }
    });
  });
}

}  // namespace libdl::kernels::cpu

#endif
