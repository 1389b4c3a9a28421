// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/elements.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/walk.h"

namespace libdl::kernels::cpu {

namespace {

constexpr int64_t kMostChunks = 64;  // their counts lie on the stack

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
    case LIBDL_DTYPE_BFLOAT16:
      return 0x7fff;
    case LIBDL_DTYPE_FLOAT32:
      return 0x7fffffff;
    case LIBDL_DTYPE_COMPLEX64:
      return 0x7fffffff7fffffff;
    case LIBDL_DTYPE_FLOAT64:
    case LIBDL_DTYPE_COMPLEX128:
      return 0x7fffffffffffffff;
    default:
      return ~uint64_t{0};
  }
}

// Writes the coordinates of linear position `at` into one row of out.
void write_row(const NonzeroArgs& args, int64_t row, int64_t at) {
  int64_t* out = static_cast<int64_t*>(args.out.data) + row * args.out.strides[0];
  for (int32_t d = args.in.ndim - 1; d > 0; --d) {
    out[d * args.out.strides[1]] = at % args.in.sizes[d];
    at /= args.in.sizes[d];
  }
  if (args.in.ndim > 0) out[0] = at;
}

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

// One dimension: every position is written, and the next one over it unless it counted; so random
// values cost no mispredicted branches. Returns the row after the last.
template <class Element>
int64_t write_line(const NonzeroArgs& args, const Element* at, int64_t step, int64_t count,
                   uint64_t signs, int64_t position, int64_t row, int64_t end) {
  int64_t* out = static_cast<int64_t*>(args.out.data);
  const int64_t out_step = args.out.strides[0];
  int64_t j = 0;
  if (step == 1 && out_step == 1) {
    constexpr int64_t kBlock = 8;  // where so many rows are left, none of them needs a question
    for (; j + kBlock <= count && row + kBlock <= end; j += kBlock) {
      for (int64_t k = 0; k < kBlock; ++k) {
        out[row] = position + j + k;
        row += is_nonzero(at[j + k], signs);
      }
    }
  }
  for (; j < count && row < end; ++j) {
    out[row * out_step] = position + j;
    row += is_nonzero(at[j * step], signs);
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
    int64_t found[kMostChunks] = {};
    const bool counted = in_chunks(context, total, grain, [&](int64_t first, int64_t last) {
      int64_t here = 0;
      walk.run(first, last, [&](const auto& offset, int64_t count) {
        here += count_nonzero(data + offset[0], walk.inner(0), count, signs);
      });
      found[first / grain] = here;
    });
    int64_t before[kMostChunks], sum = 0;
    for (int64_t c = 0; c < kMostChunks; ++c) {
      before[c] = sum;
      sum += found[c];
    }
    *args.count = sum;
    if (args.out.data == nullptr || !counted) return;

    in_chunks(context, total, grain, [&](int64_t first, int64_t last) {
      int64_t row = before[first / grain], position = first;
      // Never past the rows that were allocated, even if another thread writes `in` meanwhile.
      const int64_t end = std::min(row + found[first / grain], args.out.sizes[0]);
      walk.run(first, last, [&](const auto& offset, int64_t count) {
        const Element* at = data + offset[0];
        const int64_t step = walk.inner(0);
        if (in.ndim == 1) {
          row = write_line(args, at, step, count, signs, position, row, end);
        } else {
          for (int64_t j = 0; j < count && row < end; ++j)
            if (is_nonzero(at[j * step], signs)) write_row(args, row++, position + j);
        }
        position += count;
      });
    });
  });
}

}  // namespace libdl::kernels::cpu
