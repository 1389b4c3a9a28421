// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

// Values rather than captures: re-reading them from memory would leave less room for cache misses
// in flight.
template <class Element, class Index>
void gather_line(Element* out, int64_t out_step, const Index* index, int64_t index_step,
                 const Element* in, int64_t in_step, int64_t size, int64_t step, int64_t count) {
  if (out_step == 1 && index_step == 1 && in_step == 0 && step == 1) {
#pragma GCC unroll 4
    for (int64_t j = 0; j < count; ++j) out[j] = in[wrap(index[j], size)];
  } else if (out_step == 1 && index_step == 1 && in_step == 1) {
#pragma GCC unroll 4
    for (int64_t j = 0; j < count; ++j) out[j] = in[j + wrap(index[j], size) * step];
  } else {
    for (int64_t j = 0; j < count; ++j)
      out[j * out_step] = in[j * in_step + wrap(index[j * index_step], size) * step];
  }
}

// The rows of a walk over out, index and in.
template <class Element, class Index>
void gather_rows(const Walk<3>& walk, Element* out, const Index* index, const Element* in,
                 int64_t size, int64_t step, int64_t rows, int64_t count) {
  const int64_t out_step = walk.inner(0), index_step = walk.inner(1), in_step = walk.inner(2);
  const int64_t next_out = walk.outer(0), next_index = walk.outer(1), next_in = walk.outer(2);
  for (int64_t r = 0; r < rows; ++r) {
    gather_line(out, out_step, index, index_step, in, in_step, size, step, count);
    out += next_out, index += next_index, in += next_in;
  }
}

}  // namespace

void gather(Context& context, const GatherArgs& args) {
  constexpr int64_t kGrain = 1 << 13;
  const int64_t size = args.in.sizes[args.dim];
  const int64_t step = args.in.strides[args.dim];

  // Along dim the index says where to read, so the walk has stride 0 there.
  Walk<3> walk;
  for (int32_t d = 0; d < args.index.ndim; ++d)
    walk.push(args.index.sizes[d],
              {args.out.strides[d], args.index.strides[d], d == args.dim ? 0 : args.in.strides[d]});

  with_cell(args.out.dtype, [&]<class Element>(Element) {
    with_index(args.index.dtype, [&]<class Index>(Index) {
      in_chunks(context, element_count(args.index), kGrain, [&](int64_t first, int64_t last) {
        walk.run_rows(first, last, [&](const auto& offset, int64_t rows, int64_t count) {
          gather_rows(walk, static_cast<Element*>(args.out.data) + offset[0],
                      static_cast<const Index*>(args.index.data) + offset[1],
                      static_cast<const Element*>(args.in.data) + offset[2], size, step, rows,
                      count);
        });
      });
    });
  });
}

}  // namespace libdl::kernels::cpu
