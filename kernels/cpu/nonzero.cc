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

// The coordinates of rising linear positions, found by steps rather than divisions.
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
  void write(int64_t position, int64_t* out, int64_t step) {
    while (position - start_ >= width_) {
      start_ += width_;
      for (int32_t d = in_.ndim - 2; d >= 0 && ++at_[d] == in_.sizes[d]; --d) at_[d] = 0;
    }
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

// Every position is written, and the next one over it unless it counted; so random values cost no
// mispredicted branches. Returns the row after the last.
template <class Element>
int64_t write_line(int64_t* out, int64_t out_step, const Element* at, int64_t step, int64_t count,
                   uint64_t signs, int64_t position, int64_t row, int64_t end) {
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

// Several dimensions: positions, a piece at a time, and their coordinates.
template <class Element>
int64_t write_rows(const NonzeroArgs& args, Coordinates& coordinates, const Element* at,
                   int64_t step, int64_t count, uint64_t signs, int64_t position, int64_t row,
                   int64_t end) {
  constexpr int64_t kPiece = 512;
  int64_t found[kPiece];
  int64_t* out = static_cast<int64_t*>(args.out.data);
  for (int64_t j = 0; j < count; j += kPiece) {
    const int64_t here = std::min(kPiece, count - j);
    const int64_t rows =
        write_line(found, 1, at + j * step, step, here, signs, position + j, 0, here);
    for (int64_t k = 0; k < rows && row < end; ++k, ++row) {
      coordinates.write(found[k], out + row * args.out.strides[0], args.out.strides[1]);
    }
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
