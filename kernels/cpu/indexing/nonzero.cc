// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/indexing/nonzero.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE auto widened(D words, const uint64_t* at) {
  return hn::LoadU(words, at);
}
template <class D>
HWY_INLINE auto widened(D words, const uint32_t* at) {
  return hn::PromoteTo(words, hn::LoadU(hn::Rebind<uint32_t, D>(), at));
}
template <class D, class Bits>
HWY_INLINE auto widened(D words, const Bits* at) {
  const hn::Rebind<uint32_t, D> between;
  return hn::PromoteTo(words, hn::PromoteTo(between, hn::LoadU(hn::Rebind<Bits, D>(), at)));
}

// The lanes of x that have a bit of `bits` hand their numbers to the front; sets how many.
// Highway's Compress would copy a table to the stack each time.
#if HWY_TARGET == HWY_AVX3
template <class V, class W>
HWY_INLINE V those(V number, W x, W bits, int64_t* many) {
  const __mmask8 which = _mm512_test_epi64_mask(x.raw, bits.raw);
  *many = std::popcount(static_cast<uint8_t>(which));
  return V{_mm512_maskz_compress_epi64(which, number.raw)};
}
#elif HWY_TARGET == HWY_AVX2
constexpr auto kFront = [] {  // by mask, the halves of the words that are picked
  std::array<std::array<int32_t, 8>, 16> all{};
  for (int mask = 0; mask < 16; ++mask)
    for (int lane = 0, to = 0; lane < 4; ++lane) {
      if (!(mask >> lane & 1)) continue;
      for (int half = 0; half < 2; ++half) all[mask][to++] = 2 * lane + half;
    }
  return all;
}();
template <class V, class W>
HWY_INLINE V those(V number, W x, W bits, int64_t* many) {
  const __m256i both = _mm256_and_si256(x.raw, bits.raw);
  const __m256i none = _mm256_cmpeq_epi64(both, _mm256_setzero_si256());
  const int which = ~_mm256_movemask_pd(_mm256_castsi256_pd(none)) & 15;
  *many = std::popcount(static_cast<uint32_t>(which));
  const void* const front = kFront[static_cast<size_t>(which)].data();
  return V{_mm256_permutevar8x32_epi32(number.raw,
                                       _mm256_loadu_si256(static_cast<const __m256i*>(front)))};
}
#endif

// The numbers from `first` on of those of `count` elements in a row that have a bit of `mask`, at
// most `room` of them; returns how many.
template <class Bits>
int64_t numbers_of(const Bits* at, int64_t count, Bits mask, int64_t first, int64_t* out,
                   int64_t room) {
  int64_t made = 0, j = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::ScalableTag<int64_t> wide;
  const hn::RebindToUnsigned<decltype(wide)> words;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  const auto bits = hn::Set(words, mask);
  auto number = hn::Iota(wide, first);
  const auto step = hn::Set(wide, lanes);
  for (; j + lanes <= count && made < room; j += lanes) {
    int64_t here;
    const auto front = those(number, widened(words, at + j), bits, &here);
    if (made + lanes <= room) {
      hn::StoreU(front, wide, out + made);
      made += here;
    } else {
      int64_t last[HWY_MAX_BYTES / 8];
      hn::StoreU(front, wide, last);
      for (int64_t k = 0; k < here && made < room; ++k) out[made++] = last[k];
    }
    number = hn::Add(number, step);
  }
#endif
  // Every number is written, and the next one over it unless it counted: random values cost no
  // mispredicted branches.
  for (; j < count && made < room; ++j) {
    out[made] = first + j;
    made += (at[j] & mask) != 0;
  }
  return made;
}
#define LIBDL_NUMBERS(name, Bits)                                                               \
  int64_t name(const void* at, int64_t count, uint64_t mask, int64_t first, int64_t* out,       \
               int64_t room) {                                                                  \
    return numbers_of(static_cast<const Bits*>(at), count, static_cast<Bits>(mask), first, out, \
                      room);                                                                    \
  }
LIBDL_NUMBERS(numbers8, uint8_t)
LIBDL_NUMBERS(numbers16, uint16_t)
LIBDL_NUMBERS(numbers32, uint32_t)
LIBDL_NUMBERS(numbers64, uint64_t)
#undef LIBDL_NUMBERS

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

constexpr int64_t kMostChunks = 64;  // their counts are on the stack

// Nonzero by bits: -0.0 is zero, NaN is not.
template <class Element>
bool is_nonzero(const Element& element, uint64_t signs) {
  if constexpr (sizeof(Element) == 16) {
    return (((element.bits.low | element.bits.high) & signs)) != 0;
  } else {
    return (element.bits & signs) != 0;
  }
}

// All bits of an element but the signs of its numbers.
uint64_t without_signs(int32_t dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16: return 0x7fff;
    case LIBDL_DTYPE_FLOAT32: return 0x7fffffff;
    case LIBDL_DTYPE_COMPLEX64: return 0x7fffffff7fffffff;
    case LIBDL_DTYPE_FLOAT64:
    case LIBDL_DTYPE_COMPLEX128: return 0x7fffffffffffffff;
    default: return ~uint64_t{0};
  }
}

// The coordinates of increasing linear positions, found by steps rather than divisions.
class Coordinates {
 public:
  Coordinates(const View& in, int64_t position) : in_(in) {
    int64_t rest = position;
    for (int32_t d = in.ndim - 1; d >= 0; --d) {
      at_[d] = rest % in.sizes[d];
      rest /= in.sizes[d];
    }
    width_ = in.ndim > 0 ? in.sizes[in.ndim - 1] : 1;
    start_ = position - (in.ndim > 0 ? at_[in.ndim - 1] : 0);
  }
  int64_t width() const { return width_; }
  // Goes to the row of a position, and returns its column.
  int64_t column(int64_t position) {
    while (position - start_ >= width_) {
      start_ += width_;
      for (int32_t d = in_.ndim - 2; d >= 0 && ++at_[d] == in_.sizes[d]; --d) at_[d] = 0;
    }
    return position - start_;
  }
  // Of this row's columns; from one to the next `next`, within one `step`.
  void write_columns(const int64_t* columns, int64_t count, int64_t* out, int64_t next,
                     int64_t step) const {
    if (in_.ndim == 2 && next == 2 && step == 1) {
      for (int64_t k = 0; k < count; ++k) {
        out[2 * k] = at_[0];
        out[2 * k + 1] = columns[k];
      }
      return;
    }
    for (int32_t d = 0; d + 1 < in_.ndim; ++d)
      for (int64_t k = 0; k < count; ++k) out[k * next + d * step] = at_[d];
    for (int64_t k = 0; k < count; ++k) out[k * next + (in_.ndim - 1) * step] = columns[k];
  }
  void write(int64_t position, int64_t* out, int64_t step) {
    column(position);
    for (int32_t d = 0; d + 1 < in_.ndim; ++d) out[d * step] = at_[d];
    if (in_.ndim > 0) out[(in_.ndim - 1) * step] = position - start_;
  }

 private:
  const View& in_;
  int64_t width_, start_;  // of the row, its first position
  int64_t at_[kMaxDims];
};

// How many of `count` elements are nonzero. Blocks count in the element's own width, which is what
// a vector of comparisons yields; 128 fit into a byte.
template <class Element>
int64_t count_nonzero(const Element* at, int64_t step, int64_t count, uint64_t signs) {
  int64_t sum = 0, j = 0;
  if constexpr (sizeof(Element) < 16) {
    using Bits = decltype(Element::bits);
    constexpr int64_t kBlock = 128;
    for (; step == 1 && j + kBlock <= count; j += kBlock) {
      Bits part = 0;
      for (int64_t k = 0; k < kBlock; ++k)
        part = static_cast<Bits>(part + ((at[j + k].bits & static_cast<Bits>(signs)) != 0));
      sum += static_cast<int64_t>(part);
    }
  }
  for (; j < count; ++j) sum += is_nonzero(at[j * step], signs);
  return sum;
}

using Numbers = decltype(&HWY_STATIC_DISPATCH(numbers8));
constexpr Numbers kNumbers[][kIsas] = {LIBDL_FOR_EACH_ISA(numbers8), LIBDL_FOR_EACH_ISA(numbers16),
                                       LIBDL_FOR_EACH_ISA(numbers32),
                                       LIBDL_FOR_EACH_ISA(numbers64)};

// The positions of a line's nonzero elements, the first of which is at `position`; never more than
// end - row of them. Returns the row after the last.
template <class Element>
int64_t write_line(int64_t* out, int64_t out_step, const Element* at, int64_t step, int64_t count,
                   uint64_t signs, int64_t position, int64_t row, int64_t end) {
  if constexpr (sizeof(Element) < 16) {
    if (step == 1 && out_step == 1) {
      const Numbers numbers = kNumbers[std::countr_zero(sizeof(Element))][static_cast<int>(isa())];
      return row + numbers(at, count, signs, position, out + row, end - row);
    }
  }
  for (int64_t j = 0; j < count && row < end; ++j) {
    out[row * out_step] = position + j;
    row += is_nonzero(at[j * step], signs);
  }
  return row;
}

constexpr int64_t kShortRow = 16;  // elements: where rows are shorter, their ends cost more

// Several dimensions: columns, a piece of a row at a time, beside the row's coordinates. Of short
// rows positions, and the coordinates of each.
template <class Element>
int64_t write_rows(const NonzeroArgs& args, Coordinates& coordinates, const Element* at,
                   int64_t step, int64_t count, uint64_t signs, int64_t position, int64_t row,
                   int64_t end) {
  constexpr int64_t kPiece = 512, kLanes = 8;
  int64_t found[kPiece + kLanes];
  int64_t* out = static_cast<int64_t*>(args.out.data);
  const int64_t next = args.out.strides[0], step_out = args.out.strides[1];
  const bool by_rows = coordinates.width() >= kShortRow;
  for (int64_t j = 0, here; j < count; j += here) {
    here = std::min(kPiece, count - j);
    int64_t first = position + j;
    if (by_rows) {
      first = coordinates.column(first);
      here = std::min(here, coordinates.width() - first);
    }
    const int64_t rows = std::min(
        end - row, write_line(found, 1, at + j * step, step, here, signs, first, 0, here + kLanes));
    if (by_rows) {
      coordinates.write_columns(found, rows, out + row * next, next, step_out);
    } else {
      for (int64_t k = 0; k < rows; ++k)
        coordinates.write(found[k], out + (row + k) * next, step_out);
    }
    row += rows;
  }
  return row;
}

}  // namespace

void nonzero(Context& context, const NonzeroArgs& args) {
  const View& in = args.in;
  Walk<1> walk;
  for (int32_t d = 0; d < in.ndim; ++d) walk.push(in.sizes[d], {in.strides[d]});
  const uint64_t signs = without_signs(in.dtype);
  const int64_t total = element_count(in);
  const int64_t grain = std::max<int64_t>(1 << 14, (total + kMostChunks - 1) / kMostChunks);

  with_cell(in.dtype, [&]<class Element>(Element) {
    const Element* data = static_cast<const Element*>(in.data);
    // First pass: count in each chunk.
    int64_t found[kMostChunks] = {};
    const bool counted = in_chunks(context, total, grain, [&](int64_t first, int64_t last) {
      int64_t here = 0;
      walk.run(first, last, [&](const auto& offset, int64_t count) {
        here += count_nonzero(data + offset[0], walk.inner(0), count, signs);
      });
      found[first / grain] = here;
    });
    // The rows before each chunk.
    int64_t before[kMostChunks], sum = 0;
    for (int64_t c = 0; c < kMostChunks; ++c) {
      before[c] = sum;
      sum += found[c];
    }
    *args.count = sum;
    if (args.out.data == nullptr || !counted) return;

    // Second pass: write each chunk's coordinates after those of the chunks before.
    in_chunks(context, total, grain, [&](int64_t first, int64_t last) {
      int64_t row = before[first / grain], position = first;
      Coordinates coordinates(in, first);
      // Never past the rows that were allocated, even if another thread writes `in` meanwhile.
      const int64_t end = std::min(row + found[first / grain], args.out.sizes[0]);
      walk.run(first, last, [&](const auto& offset, int64_t count) {
        const Element* at = data + offset[0];
        const int64_t step = walk.inner(0);
        if (in.ndim == 1) {
          row = write_line(static_cast<int64_t*>(args.out.data), args.out.strides[0], at, step,
                           count, signs, position, row, end);
        } else {
          row = write_rows(args, coordinates, at, step, count, signs, position, row, end);
        }
        position += count;
      });
    });
  });
}

}  // namespace libdl::kernels::cpu

#endif
